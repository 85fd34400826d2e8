// Routers as a whole: two subnets that overlap, the same subnet attached twice, a nexthop that no interface
// reaches or that is the router itself.
#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "controller/validate/prefix_set.h"
#include "controller/validate/validate_context.h"

namespace kasane::controller::validation {
namespace {

// One subnet that a router is on: by a port, or by its gateway.
struct Attachment {
  const model::Port* port;  // Null: the gateway.
  const model::Subnet* subnet;
  IpAddress address;
  std::string field;  // Of the port or the router: "fixed_ips[0].subnet_id".
};

class RouterCheck {
 public:
  explicit RouterCheck(Context& context) : context_(context), state_(context.after()) {
    for (const auto& [id, port] : state_.ports) AddPort(*port);
    for (const auto& [id, router] : state_.routers) AddRouter(*router);
    for (const RequestItem& item : context.items()) NoteFormerInterface(item);
  }

  void Run() {
    for (const auto& [id, cause] : causes_) {
      const auto router = state_.routers.find(id);
      if (router == state_.routers.end()) continue;
      std::vector<Attachment>& attachments = attachments_[id];
      CheckOverlaps(*router->second, cause, attachments);
      CheckRoutes(*router->second, cause, attachments);
    }
  }

 private:
  // The router must be looked at, because of this item.
  void Cause(const RouterId& router, std::optional<size_t> item) {
    if (!item) return;
    size_t& cause = causes_.try_emplace(router, *item).first->second;
    cause = std::max(cause, *item);
  }

  void AddPort(const model::Port& port) {
    if (port.role != model::PortRole::kRouterInterface) return;
    const RouterId router(port.device_id);
    Cause(router, context_.Touching(model::Kind::kPort, port.id.str()));
    int index = 0;
    for (const model::FixedIp& ip : port.fixed_ips) {
      Attach(router, &port, ip, fmt::format("fixed_ips[{}].subnet_id", index++));
    }
  }

  void AddRouter(const model::Router& router) {
    Cause(router.id, context_.Touching(model::Kind::kRouter, router.id.str()));
    if (!router.gateway) return;
    int index = 0;
    for (const model::FixedIp& ip : router.gateway->external_fixed_ips) {
      Attach(router.id, nullptr, ip,
             fmt::format("external_gateway_info.external_fixed_ips[{}].subnet_id", index++));
    }
  }

  void Attach(const RouterId& router, const model::Port* port, const model::FixedIp& ip, std::string field) {
    Cause(router, context_.Touching(model::Kind::kSubnet, ip.subnet.str()));
    const auto subnet = state_.subnets.find(ip.subnet);
    if (subnet == state_.subnets.end()) return;  // Dangling, reported as such.
    attachments_[router].push_back({port, subnet->second.get(), ip.address, std::move(field)});
  }

  // An interface that the request deletes or moves away may have been a route's only way.
  void NoteFormerInterface(const RequestItem& item) {
    if (!item.key || item.key->kind != model::Kind::kPort) return;
    const auto port = context_.before().ports.find(PortId(item.key->id));
    if (port == context_.before().ports.end() || port->second->role != model::PortRole::kRouterInterface)
      return;
    Cause(RouterId(port->second->device_id), context_.Touching(model::Kind::kPort, item.key->id));
  }

  std::string Place(const model::Router& router, const Attachment& attachment) const {
    const model::Port* port = attachment.port;
    return port != nullptr
               ? context_.Describe(model::Kind::kPort, port->id.str(), port->name)
               : "the gateway of " + context_.Describe(model::Kind::kRouter, router.id.str(), router.name);
  }

  std::optional<size_t> ItemOf(const model::Router& router, const Attachment& attachment) const {
    const model::Port* port = attachment.port;
    return port != nullptr ? context_.Touching(model::Kind::kPort, port->id.str())
                           : context_.Touching(model::Kind::kRouter, router.id.str());
  }

  void CheckOverlaps(const model::Router& router, size_t cause, std::vector<Attachment>& attachments) {
    std::stable_sort(attachments.begin(), attachments.end(),
                     [](const Attachment& a, const Attachment& b) { return a.subnet->cidr < b.subnet->cidr; });
    const Attachment* cover = nullptr;  // The last prefix that is not inside of an earlier one.
    for (const Attachment& attachment : attachments) {
      if (cover == nullptr || !cover->subnet->cidr.Overlaps(attachment.subnet->cidr)) {
        cover = &attachment;
      } else if (cover->port != attachment.port || cover->subnet != attachment.subnet) {
        ReportOverlap(router, cause, *cover, attachment);
      }
    }
  }

  void ReportOverlap(const model::Router& router, size_t cause, const Attachment& a, const Attachment& b) {
    const bool blame_a = ItemOf(router, a) > ItemOf(router, b);
    const Attachment& blamed = blame_a ? a : b;
    const Attachment& other = blame_a ? b : a;
    const std::string which = context_.Describe(model::Kind::kRouter, router.id.str(), router.name);
    const std::string message =
        a.subnet == b.subnet
            ? fmt::format("{} is on subnet {} already, by {}; remove one of the two", which, a.subnet->cidr,
                          Place(router, other))
            : fmt::format("subnet {} overlaps {}, which {} is on by {}; subnets of one router must be disjoint",
                          blamed.subnet->cidr, other.subnet->cidr, which, Place(router, other));
    if (blamed.port != nullptr) {
      context_.Fail({model::Kind::kPort, blamed.port->id.str()}, blamed.port->name, cause, blamed.field,
                    message);
    } else {
      context_.Fail({model::Kind::kRouter, router.id.str()}, router.name, cause, blamed.field, message);
    }
  }

  void CheckRoutes(const model::Router& router, size_t cause, const std::vector<Attachment>& attachments) {
    if (context_.HasUnreadable(model::Kind::kPort) || context_.HasUnreadable(model::Kind::kSubnet))
      return;  // May hold the way.
    if (router.routes.empty()) return;
    absl::flat_hash_map<IpAddress, const Attachment*> own;  // The router's addresses.
    PrefixSet connected;
    for (const Attachment& attachment : attachments) {
      own.try_emplace(attachment.address, &attachment);
      connected.Add(attachment.subnet->cidr);
    }
    int index = 0;
    for (const model::ExtraRoute& route : router.routes) {
      const std::string field = fmt::format("routes[{}].nexthop", index++);
      const auto self = own.find(route.nexthop);
      const model::ResourceKey key{model::Kind::kRouter, router.id.str()};
      if (self != own.end()) {
        context_.Fail(key, router.name, cause, field,
                      fmt::format("{} is the router's own address, by {}; use a neighbour's", route.nexthop,
                                  Place(router, *self->second)));
      } else if (!connected.Contains(route.nexthop) && !BeyondGateway(router, route.nexthop)) {
        context_.Fail(
            key, router.name, cause, field,
            fmt::format("{} is on no subnet that the router has an interface on; add the interface, or "
                        "remove the route to {}",
                        route.nexthop, route.destination));
      }
    }
  }

  // Neutron takes any subnet of the gateway's network, with an address there or not.
  bool BeyondGateway(const model::Router& router, const IpAddress& nexthop) {
    if (!router.gateway) return false;
    if (subnets_.empty()) {  // Few requests need them.
      for (const auto& [id, subnet] : state_.subnets) subnets_[subnet->network].Add(subnet->cidr);
    }
    const auto subnets = subnets_.find(router.gateway->network);
    return subnets != subnets_.end() && subnets->second.Contains(nexthop);
  }

  Context& context_;
  const model::NetworkState& state_;
  absl::flat_hash_map<RouterId, std::vector<Attachment>> attachments_;
  std::map<RouterId, size_t> causes_;
  absl::flat_hash_map<NetworkId, PrefixSet> subnets_;  // By network. Empty until needed.
};

}  // namespace

void CheckRouters(Context& context) { RouterCheck(context).Run(); }

}  // namespace kasane::controller::validation
