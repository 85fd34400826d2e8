// What the slow path asks (slowpath/network_facts.h), answered by the forwarding tables: a datapath's slow path
// says the same as its entries.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "vswitch/slowpath/network_facts.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::tables {

class TableFacts : public slowpath::NetworkFacts {
 public:
  explicit TableFacts(std::shared_ptr<const ForwardingTables> tables) : tables_(std::move(tables)) {}

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

 private:
  bool IsLocal(const NetworkId& network, const vswitch::Owner& owner) const;
  bool IsFrom(const Port& port, const IpAddress& outer_source) const;
  bool IsUnansweredProbe(const slowpath::Question& question) const;

  std::shared_ptr<const ForwardingTables> tables_;
};

}  // namespace kasane::tables
