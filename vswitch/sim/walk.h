// One packet's way through one host: the stages of sim, in a class that holds what they hand on. Used by the
// files of sim alone: walk.cc has the entry, the ends and who holds an address, walk_l2.cc answers and
// bridging, walk_router.cc the routers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "vswitch/packet/packet.h"
#include "vswitch/sim/sim.h"

namespace kasane::sim {

inline Owner PortOwner(const PortId& id) { return {OwnerKind::kPort, id.str()}; }
inline Owner NetworkOwner(const NetworkId& id) { return {OwnerKind::kNetwork, id.str()}; }
inline Owner RouterOwner(const RouterId& id) { return {OwnerKind::kRouter, id.str()}; }

// Whether the network has a port with port security off among `ports` for which `also` holds.
template <typename Ports, typename Predicate>
bool HasUnsecured(const Ports& ports, const NetworkId& network, Predicate also) {
  for (const auto& [id, port] : ports) {
    if (port.network == network && !port.port_security_enabled && also(port)) return true;
  }
  return false;
}

// Who holds an address on a network.
struct Holder {
  Owner owner;
  MacAddress mac;
  std::optional<PortId> local;  // The VM port, when it is on this host.
  const RouterPort* router_port = nullptr;
};

class Walk {
 public:
  Walk(const HostView& view, const Frame& frame, const LearnedMacs& learned)
      : view_(view), learned_(learned), packet_(frame) {}

  Result FromPort(const PortId& id);
  Result FromTunnel(const IpAddress& outer_source, uint32_t vni);

 private:
  Result Finish() { return std::move(result_); }
  void Note(std::string_view stage, Owner owner, std::string text);
  void Drop(std::string_view stage, Owner owner, DropReason reason);
  bool Hygiene();
  bool PortSecurity(const LocalPort& port);
  void Learn(const NetworkId& network, const LearnedPlace& place);
  const LocalPort* FindLocal(const NetworkId& network, const MacAddress& mac) const;
  bool AnswerArp(const NetworkView& network, const PortId& from);
  bool AnswerNd(const NetworkView& network, const PortId& from);
  void Bridge(const NetworkView& network);
  void Replicate(const NetworkView& network);
  void BridgeUnknown(const NetworkView& network);
  void BridgeFromTunnel(const NetworkView& network);
  const LearnedPlace* FindLearned(const NetworkView& network) const;
  void FloodUnsecured(const NetworkView& network, std::string_view stage);
  void CopyToHost(const HostId& host, const NetworkView& network);
  void ReplicateLocal(const NetworkView& network);
  bool ToRouter(const NetworkView& network);
  void EnterRouter(const RouterView& router);
  bool ForRouterItself(const RouterView& router);
  std::optional<DropReason> WhyNotRouted() const;
  void RouteOut(const RouterView& router);
  void Resolve(const RouterPort& out_port, const IpAddress& next_hop);
  void DeliverLocal(const LocalPort& port);
  void SendToHost(const HostId& host, const NetworkView& network, const Owner& owner, std::string_view stage);
  std::optional<Holder> FindHolder(const NetworkId& network, const IpAddress& ip) const;

  const HostView& view_;
  const LearnedMacs& learned_;
  Packet packet_;
  Result result_;
  std::optional<PortId> entered_;  // The VM's port, until the packet is routed: not sent back there.
  int hops_ = 0;
};

}  // namespace kasane::sim
