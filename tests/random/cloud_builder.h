// Adds random resources to a NetworkState: what random_cloud.cc makes clouds of, and change.cc changes them
// with.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/network_state.h"
#include "tests/random/random_cloud.h"

namespace kasane::random {

inline constexpr int kPortCount = 6;
inline constexpr int kPeerCount = 3;  // One more host exists that has never said where it is.

class CloudBuilder {
 public:
  CloudBuilder(model::NetworkState state, Random& random, const Kinds& kinds)
      : state_(std::move(state)), random_(random), kinds_(kinds) {}

  // From here on every VM has port security, and pairs name single addresses more often: then an address may be
  // one port's alone.
  void SecureAll() { all_secured_ = true; }

  void AddHosts();
  void AddNetwork(uint64_t n);
  void AddVm(const PortId& id, const HostId& host);
  void AddRouter(uint64_t n);
  void AddNeutronPort(uint64_t n);
  void AddClaim();                           // Mostly such as the port may make; a view takes no others.
  void SetClaim(model::AddressClaim claim);  // The newest of its address.

  void AddAllowedPair(model::Port& port);
  void ChangeExtraRoutes();  // Of one of the routers.
  HostId AnyPeer();
  MacAddress FreeMac(const NetworkId& network) const;  // MACs repeat between networks, never within one.

  const model::NetworkState& state() const { return state_; }
  model::NetworkState Take() { return std::move(state_); }

 private:
  using SubnetPointer = std::shared_ptr<const model::Subnet>;

  void AddSubnet(const model::Network& network, const IpPrefix& cidr);
  std::shared_ptr<model::Port> NewPort(const PortId& id, const NetworkId& network);
  void AddAddresses(model::Port& port, uint32_t host_part);
  IpPrefix WidePrefix();
  IpPrefix SingleAddress(const NetworkId& network);
  void ClaimByPair(const model::Port& port, model::AddressClaim& claim);
  void ClaimOfAnybodys(const model::Port& port, model::AddressClaim& claim);
  std::vector<SubnetPointer> Subnets() const;
  NetworkId AnyNetwork();
  void SetExtraRoutes(model::Router& router);
  uint32_t FreeMacNumber(const NetworkId& network) const;
  bool IsUsed(const NetworkId& network, const IpAddress& ip) const;
  std::vector<std::shared_ptr<const model::Port>> Vms() const;

  model::NetworkState state_;
  Random& random_;
  Kinds kinds_;
  bool all_secured_ = false;
};

}  // namespace kasane::random
