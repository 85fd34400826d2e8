#include "controller/api/messages.h"

#include <utility>

#include "controller/store/messages.h"

namespace kasane::controller {

v1::PortStatus MakePortStatus(PortStatus status) {
  switch (status) {
    case PortStatus::kDown:
      return v1::PORT_STATUS_DOWN;
    case PortStatus::kBuild:
      return v1::PORT_STATUS_BUILD;
    case PortStatus::kActive:
      return v1::PORT_STATUS_ACTIVE;
    case PortStatus::kNotApplicable:
      return v1::PORT_STATUS_NOT_APPLICABLE;
  }
  return v1::PORT_STATUS_UNSPECIFIED;
}

Renderer::Renderer(std::shared_ptr<const Snapshot> snapshot, const HostRegistry& registry)
    : snapshot_(std::move(snapshot)), registry_(registry) {}

void Renderer::AddInterfaces(const std::string& router, v1::Router& out) const {
  if (!interfaces_) {
    interfaces_.emplace();
    for (const auto& [id, port] : snapshot_->state.ports) {
      if (port->role == model::PortRole::kRouterInterface) interfaces_->emplace(port->device_id, port.get());
    }
  }
  const auto [begin, end] = interfaces_->equal_range(router);
  for (auto it = begin; it != end; ++it) {
    v1::RouterInterface& interface = *out.add_interfaces();
    interface.set_port_id(it->second->id.str());
    interface.set_network_id(it->second->network.str());
    for (const model::FixedIp& ip : it->second->fixed_ips) {
      v1::FixedIp& fixed_ip = *interface.add_fixed_ips();
      fixed_ip.set_subnet_id(ip.subnet.str());
      fixed_ip.set_ip_address(ip.address.ToString());
    }
  }
}

v1::ResourceWithStatus Renderer::Render(const model::ResourceKey& key) const {
  v1::ResourceWithStatus out;
  *out.mutable_resource() = *snapshot_->resources.at(key);
  if (key.kind == model::Kind::kPort) {
    out.set_port_status(MakePortStatus(registry_.StatusOf(*snapshot_->state.ports.at(PortId(key.id)))));
  }
  if (key.kind == model::Kind::kRouter) AddInterfaces(key.id, *out.mutable_resource()->mutable_router());
  const model::Revision revision = model::DecodeRevision(out.resource().revision());
  for (const HostRefusal& refusal : registry_.RefusalsOf(key, revision)) {
    v1::HostRejection& rejection = *out.add_rejections();
    rejection.set_host_id(refusal.host.str());
    for (const model::Fault& fault : refusal.faults)
      *rejection.add_faults() = MakeFault(key, fault.path, fault.message);
  }
  AddNotEnforced(key, out);
  return out;
}

// Judged alone, beside the network that a router's gateway names.
void Renderer::AddNotEnforced(const model::ResourceKey& key, v1::ResourceWithStatus& out) const {
  const model::NetworkState& all = snapshot_->state;
  model::NetworkState alone;
  const auto copy = [](const auto& from, auto& to, const auto& id) {
    if (const auto it = from.find(id); it != from.end()) to.emplace(it->first, it->second);
  };
  switch (key.kind) {
    case model::Kind::kHost:
      return;
    case model::Kind::kSecurityGroup:
      return;
    case model::Kind::kAddressClaim:
      return;
    case model::Kind::kNetwork:
      copy(all.networks, alone.networks, NetworkId(key.id));
      break;
    case model::Kind::kSubnet:
      copy(all.subnets, alone.subnets, SubnetId(key.id));
      break;
    case model::Kind::kPort:
      copy(all.ports, alone.ports, PortId(key.id));
      break;
    case model::Kind::kFloatingIp:
      copy(all.floating_ips, alone.floating_ips, FloatingIpId(key.id));
      break;
    case model::Kind::kRouter: {
      copy(all.routers, alone.routers, RouterId(key.id));
      const auto& gateway = alone.routers.begin()->second->gateway;
      if (gateway) copy(all.networks, alone.networks, gateway->network);
      break;
    }
  }
  for (const model::NotEnforcedItem& item : model::NotEnforced(alone)) {
    if (item.key == key) *out.add_not_enforced() = MakeNotEnforced(item);
  }
}

}  // namespace kasane::controller
