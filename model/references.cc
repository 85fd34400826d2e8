#include "model/references.h"

#include <fmt/format.h>

#include <variant>

namespace kasane::model {

std::string FieldPath(const Reference& reference) {
  std::string path(reference.field);
  if (reference.index >= 0) path += fmt::format("[{}]", reference.index);
  if (!reference.subfield.empty()) path += fmt::format(".{}", reference.subfield);
  return path;
}

void ForEachReference(const Host&, ReferenceVisitor) {}

void ForEachReference(const Network&, ReferenceVisitor) {}

void ForEachReference(const Subnet& subnet, ReferenceVisitor visit) {
  visit({Kind::kNetwork, subnet.network.str(), "network_id", -1, "", true});
}

void ForEachReference(const Port& port, ReferenceVisitor visit) {
  visit({Kind::kNetwork, port.network.str(), "network_id", -1, "", true});
  int index = 0;
  for (const FixedIp& ip : port.fixed_ips) {
    visit({Kind::kSubnet, ip.subnet.str(), "fixed_ips", index++, "subnet_id", true});
  }
  index = 0;
  for (const SecurityGroupId& group : port.security_groups) {
    visit({Kind::kSecurityGroup, group.str(), "security_groups", index++, "", true});
  }
  const bool of_router = port.role == PortRole::kRouterInterface || port.role == PortRole::kRouterGateway;
  if (of_router && !port.device_id.empty()) visit({Kind::kRouter, port.device_id, "device_id", -1, "", true});
  if (!port.host.empty()) visit({Kind::kHost, port.host.str(), "binding:host_id", -1, "", false});
}

void ForEachReference(const Router& router, ReferenceVisitor visit) {
  if (!router.gateway) return;
  visit({Kind::kNetwork, router.gateway->network.str(), "external_gateway_info.network_id", -1, "", true});
  int index = 0;
  for (const FixedIp& ip : router.gateway->external_fixed_ips) {
    visit({Kind::kSubnet, ip.subnet.str(), "external_gateway_info.external_fixed_ips", index++, "subnet_id",
           true});
  }
}

void ForEachReference(const FloatingIp& floating_ip, ReferenceVisitor visit) {
  visit({Kind::kNetwork, floating_ip.floating_network.str(), "floating_network_id", -1, "", true});
  if (!floating_ip.port.empty()) visit({Kind::kPort, floating_ip.port.str(), "port_id", -1, "", true});
  if (!floating_ip.router.empty()) visit({Kind::kRouter, floating_ip.router.str(), "router_id", -1, "", true});
}

void ForEachReference(const SecurityGroup& group, ReferenceVisitor visit) {
  int index = -1;
  for (const SecurityGroupRule& rule : group.rules) {
    ++index;
    if (rule.remote_group.empty()) continue;
    visit({Kind::kSecurityGroup, rule.remote_group.str(), "security_group_rules", index, "remote_group_id",
           true});
  }
}

void ForEachReference(const AddressClaim& claim, ReferenceVisitor visit) {
  visit({Kind::kNetwork, claim.network.str(), "network_id", -1, "", true});
  visit({Kind::kPort, claim.port.str(), "port_id", -1, "", true});
}

void ForEachReference(const AnyResource& resource, ReferenceVisitor visit) {
  std::visit([&](const auto& value) { ForEachReference(*value, visit); }, resource);
}

}  // namespace kasane::model
