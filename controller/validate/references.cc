#include "controller/validate/references.h"

#include <fmt/format.h>

#include <variant>

namespace kasane::controller {

std::string FieldPath(const Reference& reference) {
  std::string path(reference.field);
  if (reference.index >= 0) path += fmt::format("[{}]", reference.index);
  if (!reference.subfield.empty()) path += fmt::format(".{}", reference.subfield);
  return path;
}

void ForEachReference(const model::Host&, ReferenceVisitor) {}

void ForEachReference(const model::Network&, ReferenceVisitor) {}

void ForEachReference(const model::Subnet& subnet, ReferenceVisitor visit) {
  visit({model::Kind::kNetwork, subnet.network.str(), "network_id", -1, "", true});
}

void ForEachReference(const model::Port& port, ReferenceVisitor visit) {
  visit({model::Kind::kNetwork, port.network.str(), "network_id", -1, "", true});
  int index = 0;
  for (const model::FixedIp& ip : port.fixed_ips) {
    visit({model::Kind::kSubnet, ip.subnet.str(), "fixed_ips", index++, "subnet_id", true});
  }
  index = 0;
  for (const SecurityGroupId& group : port.security_groups) {
    visit({model::Kind::kSecurityGroup, group.str(), "security_groups", index++, "", true});
  }
  const bool of_router =
      port.role == model::PortRole::kRouterInterface || port.role == model::PortRole::kRouterGateway;
  if (of_router && !port.device_id.empty())
    visit({model::Kind::kRouter, port.device_id, "device_id", -1, "", true});
  if (!port.host.empty()) visit({model::Kind::kHost, port.host.str(), "binding:host_id", -1, "", false});
}

void ForEachReference(const model::Router& router, ReferenceVisitor visit) {
  if (!router.gateway) return;
  visit(
      {model::Kind::kNetwork, router.gateway->network.str(), "external_gateway_info.network_id", -1, "", true});
  int index = 0;
  for (const model::FixedIp& ip : router.gateway->external_fixed_ips) {
    visit({model::Kind::kSubnet, ip.subnet.str(), "external_gateway_info.external_fixed_ips", index++,
           "subnet_id", true});
  }
}

void ForEachReference(const model::FloatingIp& floating_ip, ReferenceVisitor visit) {
  visit({model::Kind::kNetwork, floating_ip.floating_network.str(), "floating_network_id", -1, "", true});
  if (!floating_ip.port.empty()) visit({model::Kind::kPort, floating_ip.port.str(), "port_id", -1, "", true});
  if (!floating_ip.router.empty())
    visit({model::Kind::kRouter, floating_ip.router.str(), "router_id", -1, "", true});
}

void ForEachReference(const model::SecurityGroup& group, ReferenceVisitor visit) {
  int index = -1;
  for (const model::SecurityGroupRule& rule : group.rules) {
    ++index;
    if (rule.remote_group.empty()) continue;
    visit({model::Kind::kSecurityGroup, rule.remote_group.str(), "security_group_rules", index,
           "remote_group_id", true});
  }
}

void ForEachReference(const model::AddressClaim& claim, ReferenceVisitor visit) {
  visit({model::Kind::kNetwork, claim.network.str(), "network_id", -1, "", true});
  visit({model::Kind::kPort, claim.port.str(), "port_id", -1, "", true});
}

void ForEachReference(const model::AnyResource& resource, ReferenceVisitor visit) {
  std::visit([&](const auto& value) { ForEachReference(*value, visit); }, resource);
}

}  // namespace kasane::controller
