// One packet's way through one host: the stages of sim, in a class that holds what they hand on. Used by the
// files of sim alone: walk.cc has the entry, the ends and who holds an address, walk_l2.cc answers and
// bridging, walk_router.cc the routers, walk_slow_path.cc what needs the slow path.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "vswitch/packet/packet.h"
#include "vswitch/sim/choices.h"
#include "vswitch/sim/sim.h"
#include "vswitch/sim/view_facts.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::sim {

using vswitch::NetworkOwner;
using vswitch::PortOwner;
using vswitch::RouterOwner;

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
  Walk(const vswitch::HostView& view, const Frame& frame, const LearnedMacs& learned, Choices& choices,
       const Unanswered& unanswered = {}, slowpath::Reassembly fragments = slowpath::Reassembly())
      : view_(view),
        facts_(view),
        learned_(learned),
        unanswered_(unanswered),
        fragments_(std::move(fragments)),
        packet_(frame),
        choices_(choices) {}

  Result FromPort(const PortId& id);
  Result FromTunnel(const IpAddress& outer_source, uint32_t vni);

 private:
  Result Finish() { return std::move(result_); }
  void Note(std::string_view stage, vswitch::Owner owner, std::string text);
  void Drop(std::string_view stage, vswitch::Owner owner, vswitch::DropReason reason);
  bool IngressSanity();
  bool TooBigFor(const vswitch::NetworkView& network) const;
  bool FitsMtu(const vswitch::NetworkView& network);
  bool PortSecurity(const vswitch::LocalPort& port);
  void Learn(const NetworkId& network, const LearnedPlace& place);
  const vswitch::LocalPort* FindLocal(const NetworkId& network, const MacAddress& mac) const;
  bool IsElsewhere(const NetworkId& network, const MacAddress& mac) const;
  bool AnswerArp(const vswitch::NetworkView& network, const PortId& from);
  bool AnswerNd(const vswitch::NetworkView& network, const PortId& from);
  void Bridge(const vswitch::NetworkView& network);
  void Replicate(const vswitch::NetworkView& network);
  void BridgeUnknown(const vswitch::NetworkView& network);
  void BridgeFromTunnel(const vswitch::NetworkView& network);
  const LearnedPlace* FindLearned(const vswitch::NetworkView& network) const;
  std::vector<PortId> UnsecuredOn(const HostId& host, const NetworkId& network) const;
  bool BridgeToPairs(const vswitch::NetworkView& network);
  void FloodUnsecured(const vswitch::NetworkView& network, std::string_view stage);
  bool CopyToHost(const HostId& host, const vswitch::NetworkView& network);
  void CopyToHosts(const std::set<HostId>& hosts, const vswitch::NetworkView& network, bool also_here,
                   std::string_view stage);
  void ReplicateLocal(const vswitch::NetworkView& network);
  bool ToRouter(const vswitch::NetworkView& network);
  void EnterRouter(const vswitch::RouterView& router);
  bool ForRouterItself(const vswitch::RouterView& router);
  bool ForLinkLocal(const vswitch::RouterView& router);
  bool IsEcho() const;  // Or its first fragment.
  bool IsEchoRequest() const { return IsEcho() && !packet_.fragment(); }
  bool MayBePartOfEcho() const;
  void MakeEchoReply();
  bool IsOwnAddress(const vswitch::RouterView& router, const IpAddress& ip) const;
  std::optional<vswitch::DropReason> WhyMartian() const;
  std::optional<vswitch::DropReason> WhyNotRouted() const;
  void AskForNextHop(const vswitch::RouterView& router, const vswitch::ClaimKey& address);
  void RouteOut(const vswitch::RouterView& router);
  void Resolve(const vswitch::RouterView& router, const vswitch::RouterPort& out_port,
               const IpAddress& next_hop);
  void AskSlowPath(const NetworkId& network, slowpath::SlowPathCause cause,
                   std::optional<RouterId> router = std::nullopt, uint32_t mtu = 0);
  void Handle(const slowpath::SlowPathPacket& packet);
  void Reassemble(const slowpath::SlowPathPacket& part);
  bool Announce(const vswitch::NetworkView& network);
  void Inject(const NetworkId& network, const slowpath::Injection& injection);
  void DropAtRouter(std::string_view stage, const vswitch::RouterView& router, vswitch::DropReason reason,
                    slowpath::SlowPathCause cause, uint32_t mtu = 0);
  void DeliverLocal(const vswitch::LocalPort& port);
  void SendToHost(const HostId& host, const vswitch::NetworkView& network, const vswitch::Owner& owner,
                  std::string_view stage);

  const vswitch::HostView& view_;
  const ViewFacts facts_;
  const LearnedMacs& learned_;
  const Unanswered unanswered_;
  slowpath::Reassembly fragments_;
  packet::Packet packet_;
  Choices& choices_;
  Result result_;
  std::optional<PortId> origin_;           // The VM's port, or ...
  std::optional<IpAddress> outer_source_;  // ... the tunnel's other end.
  std::optional<PortId> entered_;          // The same until the packet is routed: not sent back there.
  NetworkId router_network_;               // From which the packet entered the router that it is in.
  int hops_ = 0;
};

}  // namespace kasane::sim
