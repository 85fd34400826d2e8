// What the slow path asks about the virtual network: who has an address and may be answered for, who may claim
// one, who must be asked or told. An interface, so that the slow path derives nothing itself: every datapath
// gives it the facts that its own entries come from, and sim those of its own walk over the HostView
// (vswitch/sim/view_facts.h).
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/vni.h"
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::slowpath {

// Who has an address now, and how a neighbour's question for it is answered.
struct AddressOwner {
  vswitch::Owner owner;
  MacAddress mac;
  std::optional<PortId> local;  // The VM port, when it is on this host.
  bool router = false;          // Advertisements set R.
  bool anycast = false;         // They clear O (RFC 4861, 7.2.7).

  bool operator==(const AddressOwner&) const = default;
};

// ARP or ND asks for `ip` from a local port.
struct Question {
  NetworkId network;
  IpAddress ip;
  PortId asker;
  MacAddress asker_mac;
  // From no address: the asker wants to have `ip` itself (RFC 5227, 2.1.1; RFC 4862, 5.4).
  bool probe = false;
};

// Where a frame entered this host: exactly one is set.
struct Origin {
  std::optional<PortId> port;
  std::optional<IpAddress> outer_source;
};

// Who may have an address that nobody has announced: local ports, and hosts with such ports.
struct Candidates {
  std::vector<PortId> ports;
  std::vector<HostId> hosts;

  bool empty() const { return ports.empty() && hosts.empty(); }
  bool operator==(const Candidates&) const = default;
};

class NetworkFacts {
 public:
  virtual ~NetworkFacts() = default;

  // Nothing if the network is not on this host.
  virtual std::optional<Vni> FindVni(const NetworkId& network) const = 0;

  // Who has `address`: a claim goes before a fixed address; what is down has nothing. Nothing: nobody has it.
  virtual std::optional<AddressOwner> FindOwner(const vswitch::ClaimKey& address) const = 0;

  // The MAC by which a router reaches `address`: its owner's, or that of the one port that alone may have it by
  // an allowed address pair, which needs no question.
  virtual std::optional<MacAddress> FindNextHop(const vswitch::ClaimKey& address) const = 0;

  // Whom this host answers `question` for. Nothing if nobody has the address, and where the owner itself, or
  // nobody, must answer: the asker has the address, or probes for one that it may take over from a peer that
  // may be dead.
  virtual std::optional<AddressOwner> FindAnswer(const Question& question) const = 0;

  // The port that may speak for `address` with `mac`, of those that a frame from `origin` may come from.
  virtual std::optional<PortId> FindClaimer(const vswitch::ClaimKey& address, const MacAddress& mac,
                                            const Origin& origin) const = 0;

  // Whether `address` at `mac` is the port's by its configuration and claimed by no other port: that it says so
  // teaches nobody.
  virtual bool IsConfigured(const vswitch::ClaimKey& address, const MacAddress& mac,
                            const PortId& port) const = 0;

  // The port on the host with that tunnel address, in `network`, whose own MAC it is.
  virtual std::optional<PortId> FindRemotePort(const NetworkId& network, const MacAddress& mac,
                                               const IpAddress& outer_source) const = 0;

  // Whom a router asks for `address`, which it does not reach yet. Empty: nobody may have it.
  virtual Candidates FindCandidates(const vswitch::ClaimKey& address) const = 0;

  // Hosts, with a tunnel, that must learn of an announcement in `network` beside those that got the frame:
  // `flooded` frames reached every host with a port in the network already.
  virtual std::vector<HostId> FindHostsToTell(const NetworkId& network, bool flooded) const = 0;

  // Whether `mac` is an interface's of a router on `network`.
  virtual bool IsRouters(const NetworkId& network, const MacAddress& mac) const = 0;

  // Bytes of the largest IP packet that `router` can send to `destination`, whichever of equal routes it takes.
  // Nothing: it has no route, or all that may enter a router is small enough.
  virtual std::optional<uint32_t> FindMtuTo(const RouterId& router, const IpAddress& destination) const = 0;

  // The interfaces of a router that is up on this host; empty if there is none.
  virtual std::vector<vswitch::RouterPort> FindInterfaces(const RouterId& router) const = 0;
};

}  // namespace kasane::slowpath
