// One packet's way through one host: the stages of sim, in a class that holds what they hand on. Used by the
// files of sim alone: walk.cc has the entry, the ends and who holds an address, walk_l2.cc answers and
// bridging, walk_router.cc the routers, walk_slow_path.cc what needs the slow path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "vswitch/packet/packet.h"
#include "vswitch/sim/choices.h"
#include "vswitch/sim/sim.h"
#include "vswitch/slowpath/holder.h"
#include "vswitch/slowpath/slow_path.h"

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

class Walk {
 public:
  Walk(const HostView& view, const Frame& frame, const LearnedMacs& learned, Choices& choices)
      : view_(view), learned_(learned), packet_(frame), choices_(choices) {}

  Result FromPort(const PortId& id);
  Result FromTunnel(const IpAddress& outer_source, uint32_t vni);

 private:
  Result Finish() { return std::move(result_); }
  void Note(std::string_view stage, Owner owner, std::string text);
  void Drop(std::string_view stage, Owner owner, DropReason reason);
  bool Hygiene();
  bool TooBigFor(const NetworkView& network) const;
  bool FitsMtu(const NetworkView& network);
  bool PortSecurity(const LocalPort& port);
  void Learn(const NetworkId& network, const LearnedPlace& place);
  const LocalPort* FindLocal(const NetworkId& network, const MacAddress& mac) const;
  bool IsElsewhere(const NetworkId& network, const MacAddress& mac) const;
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
  bool ForLinkLocal(const RouterView& router);
  bool IsEchoRequest() const;
  void MakeEchoReply();
  std::optional<DropReason> WhyNotRouted() const;
  void RouteOut(const RouterView& router);
  void Resolve(const RouterView& router, const RouterPort& out_port, const IpAddress& next_hop);
  void AskSlowPath(const NetworkId& network, SlowPathCause cause, std::optional<RouterId> router = std::nullopt,
                   uint32_t mtu = 0);
  void Inject(const NetworkId& network, const Injection& injection);
  void DropAtRouter(std::string_view stage, const RouterView& router, DropReason reason, SlowPathCause cause,
                    uint32_t mtu = 0);
  void DeliverLocal(const LocalPort& port);
  void SendToHost(const HostId& host, const NetworkView& network, const Owner& owner, std::string_view stage);

  const HostView& view_;
  const LearnedMacs& learned_;
  Packet packet_;
  Choices& choices_;
  Result result_;
  std::optional<PortId> origin_;   // The VM's port.
  std::optional<PortId> entered_;  // The same until the packet is routed: not sent back there.
  NetworkId router_network_;       // From which the packet entered the router that it is in.
  int hops_ = 0;
};

}  // namespace kasane::sim
