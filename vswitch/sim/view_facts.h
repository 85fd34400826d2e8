// sim's own judgement of the virtual network's facts, straight from the HostView, by looking through all of it:
// the reference for the tables that the datapaths derive. Slow and simple on purpose.
#pragma once

#include <optional>
#include <vector>

#include "vswitch/host_view.h"
#include "vswitch/slowpath/network_facts.h"

namespace kasane::sim {

class ViewFacts : public slowpath::NetworkFacts {
 public:
  // `view` must outlive it.
  explicit ViewFacts(const vswitch::HostView& view) : view_(view) {}

  std::optional<Vni> FindVni(const NetworkId& network) const override;
  std::optional<slowpath::AddressOwner> FindOwner(const vswitch::ClaimKey& address) const override;
  std::optional<MacAddress> FindNextHop(const vswitch::ClaimKey& address) const override;
  std::optional<slowpath::AddressOwner> FindAnswer(const slowpath::Question& question) const override;
  std::optional<PortId> FindClaimer(const vswitch::ClaimKey& address, const MacAddress& mac,
                                    const slowpath::Origin& origin) const override;
  bool IsConfigured(const vswitch::ClaimKey& address, const MacAddress& mac, const PortId& port) const override;
  std::optional<PortId> FindRemotePort(const NetworkId& network, const MacAddress& mac,
                                       const IpAddress& outer_source) const override;
  slowpath::Candidates FindCandidates(const vswitch::ClaimKey& address) const override;
  std::vector<HostId> FindHostsToTell(const NetworkId& network, bool flooded) const override;
  bool IsRouters(const NetworkId& network, const MacAddress& mac) const override;
  std::optional<uint32_t> FindMtuTo(const RouterId& router, const IpAddress& destination) const override;
  std::vector<vswitch::RouterPort> FindInterfaces(const RouterId& router) const override;

  // Null if the router has none.
  const vswitch::Route* FindRoute(const vswitch::RouterView& router, const IpAddress& destination) const;
  // Of equal routes, those whose next hop somebody has; all of them if nobody has any.
  std::vector<vswitch::NextHop> UsableHops(const vswitch::RouterView& router,
                                           const vswitch::Route& route) const;

 private:
  const vswitch::HostView& view_;
};

}  // namespace kasane::sim
