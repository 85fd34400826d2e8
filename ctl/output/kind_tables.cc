#include "ctl/output/kind_tables.h"

#include <fmt/format.h>

#include "ctl/output/output.h"
#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/port_status_text.h"

namespace kasane::ctl {
namespace {

using ResourceList = std::vector<const v1::ResourceWithStatus*>;

std::string NumberOrNone(uint64_t value) { return value == 0 ? "" : Number(value); }

// The name of a resource that is referred to; its id if it has none.
std::string NameOf(const Surroundings& around, model::Kind kind, const std::string& id) {
  const auto found = around.names.find({kind, id});
  return found == around.names.end() || found->second.empty() ? id : found->second;
}

template <typename List>
std::string Addresses(const List& fixed_ips) {
  std::vector<std::string> out;
  for (const auto& ip : fixed_ips) out.push_back(ip.ip_address());
  return Join(out);
}

v1::HostStatus StatusOf(const Surroundings& around, const std::string& host) {
  if (around.status == nullptr) return {};
  for (const v1::HostStatus& status : around.status->hosts()) {
    if (status.host_id() == host) return status;
  }
  return {};
}

std::string HostsTable(const ResourceList& resources, const Surroundings& around) {
  Table table({{"ID", 36},
               {"TUNNEL ADDRESSES", 40, true},
               {"PINNED"},
               {"CONNECTED"},
               {.title = "ACTIVE PORTS", .right = true},
               {.title = "REFUSED", .right = true},
               {.title = "APPLIED", .right = true},
               {"AGENT", 16}});
  for (const auto* resource : resources) {
    const v1::Host& host = resource->resource().host();
    const v1::HostStatus status = StatusOf(around, host.id());
    table.Add({host.id(), Join({host.tunnel_addresses().begin(), host.tunnel_addresses().end()}),
               YesNo(host.pinned()), YesNo(status.connected()),
               fmt::format("{} of {}", status.active_ports(), status.ports()), Number(status.rejected()),
               status.has_applied() ? Number(status.applied().counter()) : "", status.agent_version()});
  }
  return table.ToString();
}

std::string NetworksTable(const ResourceList& resources) {
  Table table({{"ID"},
               {"NAME", 24},
               {"TYPE"},
               {.title = "SEGMENT", .right = true},
               {.title = "MTU", .right = true},
               {"UP"},
               {"EXTERNAL"},
               {"PROJECT", 32}});
  for (const auto* resource : resources) {
    const v1::Network& network = resource->resource().network();
    table.Add({network.id(), network.name(),
               network.provider_network_type().empty() ? "vxlan" : network.provider_network_type(),
               NumberOrNone(network.provider_segmentation_id()), NumberOrNone(network.mtu()),
               YesNo(network.admin_state_up()), YesNo(network.router_external()), network.project_id()});
  }
  return table.ToString();
}

std::string SubnetsTable(const ResourceList& resources, const Surroundings& around) {
  Table table({{"ID"}, {"NAME", 24}, {"NETWORK", 24}, {"CIDR", 43}, {"GATEWAY", 39}, {"DHCP"}});
  for (const auto* resource : resources) {
    const v1::Subnet& subnet = resource->resource().subnet();
    table.Add({subnet.id(), subnet.name(), NameOf(around, model::Kind::kNetwork, subnet.network_id()),
               subnet.cidr(), subnet.gateway_ip(), YesNo(subnet.enable_dhcp())});
  }
  return table.ToString();
}

// Ports of the network itself mostly have no name: their owner says what they are.
std::string PortName(const v1::Port& port) {
  if (!port.name().empty() || port.device_owner().empty()) return port.name();
  const std::string prefix = "network:";
  const bool own = port.device_owner().starts_with(prefix);
  return fmt::format("({})", own ? port.device_owner().substr(prefix.size()) : port.device_owner());
}

std::string PortsTable(const ResourceList& resources, const Surroundings& around) {
  Table table(
      {{"ID"}, {"NAME", 18}, {"NETWORK", 13}, {"MAC"}, {"ADDRESSES", 20, true}, {"HOST", 10}, {"STATUS"}});
  for (const auto* resource : resources) {
    const v1::Port& port = resource->resource().port();
    table.Add({port.id(), PortName(port), NameOf(around, model::Kind::kNetwork, port.network_id()),
               port.mac_address(), Addresses(port.fixed_ips()), port.binding_host_id(),
               std::string(model::Label(resource->port_status()))});
  }
  return table.ToString();
}

std::string RoutersTable(const ResourceList& resources, const Surroundings& around) {
  Table table({{"ID"},
               {"NAME", 20},
               {"UP"},
               {"INTERFACES", 48, true},
               {"GATEWAY", 20},
               {.title = "EXTRA ROUTES", .right = true}});
  for (const auto* resource : resources) {
    const v1::Router& router = resource->resource().router();
    std::vector<std::string> interfaces;
    for (const auto& interface : router.interfaces()) {
      interfaces.push_back(fmt::format("{} {}", NameOf(around, model::Kind::kNetwork, interface.network_id()),
                                       Addresses(interface.fixed_ips())));
    }
    table.Add({router.id(), router.name(), YesNo(router.admin_state_up()), Join(interfaces),
               NameOf(around, model::Kind::kNetwork, router.external_gateway_info().network_id()),
               Number(router.routes_size())});
  }
  return table.ToString();
}

std::string FloatingIpsTable(const ResourceList& resources, const Surroundings& around) {
  Table table({{"ID"}, {"ADDRESS", 39}, {"NETWORK", 20}, {"PORT", 20}, {"FIXED ADDRESS", 39}});
  for (const auto* resource : resources) {
    const v1::FloatingIp& floating = resource->resource().floating_ip();
    table.Add({floating.id(), floating.floating_ip_address(),
               NameOf(around, model::Kind::kNetwork, floating.floating_network_id()),
               NameOf(around, model::Kind::kPort, floating.port_id()), floating.fixed_ip_address()});
  }
  return table.ToString();
}

std::string SecurityGroupsTable(const ResourceList& resources) {
  Table table({{"ID"}, {"NAME", 32}, {.title = "RULES", .right = true}, {"STATEFUL"}, {"PROJECT", 32}});
  for (const auto* resource : resources) {
    const v1::SecurityGroup& group = resource->resource().security_group();
    table.Add({group.id(), group.name(), Number(group.security_group_rules_size()), YesNo(group.stateful()),
               group.project_id()});
  }
  return table.ToString();
}

std::string AddressClaimsTable(const ResourceList& resources, const Surroundings& around) {
  Table table({{"NETWORK", 24}, {"ADDRESS", 39}, {"MAC"}, {"PORT", 36}, {.title = "SEQUENCE", .right = true}});
  for (const auto* resource : resources) {
    const v1::AddressClaim& claim = resource->resource().address_claim();
    table.Add({NameOf(around, model::Kind::kNetwork, claim.network_id()), claim.ip_address(),
               claim.mac_address(), NameOf(around, model::Kind::kPort, claim.port_id()),
               Number(claim.sequence())});
  }
  return table.ToString();
}

}  // namespace

std::vector<model::Kind> ReferredKinds(model::Kind kind) {
  switch (kind) {
    case model::Kind::kSubnet:
    case model::Kind::kPort:
    case model::Kind::kRouter:
      return {model::Kind::kNetwork};
    case model::Kind::kFloatingIp:
      return {model::Kind::kNetwork, model::Kind::kPort};
    case model::Kind::kAddressClaim:
      return {model::Kind::kNetwork, model::Kind::kPort};
    case model::Kind::kHost:
    case model::Kind::kNetwork:
    case model::Kind::kSecurityGroup:
      return {};
  }
  return {};
}

std::string KindTable(model::Kind kind, const ResourceList& resources, const Surroundings& around) {
  switch (kind) {
    case model::Kind::kHost:
      return HostsTable(resources, around);
    case model::Kind::kNetwork:
      return NetworksTable(resources);
    case model::Kind::kSubnet:
      return SubnetsTable(resources, around);
    case model::Kind::kPort:
      return PortsTable(resources, around);
    case model::Kind::kRouter:
      return RoutersTable(resources, around);
    case model::Kind::kFloatingIp:
      return FloatingIpsTable(resources, around);
    case model::Kind::kSecurityGroup:
      return SecurityGroupsTable(resources);
    case model::Kind::kAddressClaim:
      return AddressClaimsTable(resources, around);
  }
  return "";
}

std::string RejectionLines(const ResourceList& resources) {
  std::string out;
  for (const auto* resource : resources) {
    const auto key = model::DecodeKey(resource->resource());
    for (const auto& rejection : resource->rejections()) {
      const v1::Fault fault = rejection.faults().empty() ? v1::Fault() : rejection.faults(0);
      out += fmt::format(
          "{} is refused by host {}: {}: {}{}\n", key ? model::ToString(*key) : "?", rejection.host_id(),
          fault.path(), fault.message(),
          rejection.faults_size() > 1 ? fmt::format(" (and {} more)", rejection.faults_size() - 1) : "");
    }
  }
  return out;
}

}  // namespace kasane::ctl
