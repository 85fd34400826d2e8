// Who owns the MACs and addresses of a network: first what is configured, then what was claimed, then who is
// not answered.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "vswitch/tables/build.h"
#include "vswitch/tables/claims.h"

namespace kasane::tables {
namespace {

// Subnet-router anycast (RFC 4291, 2.6.1).
bool IsAnycast(const IpPrefix& own) {
  return own.family() == IpFamily::kV6 && own.length() < 127 && own.address() == own.Network().address();
}

class Configured {
 public:
  Configured(const Source& source, ForwardingTables& out) : source_(source), out_(out) {}

  void AddPorts() {
    for (const auto& [id, port] : source_.view.ports) {
      if (!source_.IsUp(port.network)) continue;
      const Rank rank = source_.Forwards(port) ? Rank::kLocal : Rank::kReserved;
      Add(rank, port, LocalPlace{id});
    }
    for (const auto& [id, endpoint] : source_.view.endpoints) {
      if (source_.IsUp(endpoint.network)) Add(Rank::kRemote, endpoint, source_.PlaceOf(endpoint.host));
    }
  }

  // What is configured and forwards nowhere.
  void AddReserved() {
    for (const auto& [id, port] : source_.view.reserved) {
      const Rank rank = port.infrastructure ? Rank::kInfrastructure : Rank::kReserved;
      if (source_.IsUp(port.network)) Add(rank, port, LocalPlace{id});
    }
  }

  void AddRouters() {
    for (const auto& [id, router] : source_.view.routers) {
      out_.routers.Add(id, {Rank::kNetwork, 0, RouterOwner(id), {router.admin_state_up}});
      for (const vswitch::RouterPort& port : router.ports) {
        const vswitch::NetworkView& network = source_.Network(port.network);
        if (network.admin_state_up) AddInterface(router, port, network.vni);
        if (!router.admin_state_up) continue;
        out_.interfaces.Add({id, port.id},
                            {Rank::kNetwork, 0, RouterOwner(id), {network.vni, network.admin_state_up, port}});
      }
    }
  }

 private:
  template <typename Port, typename Place>
  void Add(Rank rank, const Port& port, const Place& place) {
    const vswitch::Owner owner = PortOwner(port.id);
    const Vni vni = source_.Network(port.network).vni;
    out_.macs.Add({port.network, port.mac}, {rank, 0, owner, {vni, place}});
    const Answer answer{.vni = vni, .mac = port.mac};
    for (const IpAddress& ip : port.ips) out_.answers.Add({port.network, ip}, {rank, 0, owner, answer});
    // It is the port's by nature; the port itself answers for it.
    const Rank by_nature = std::max(rank, Rank::kReserved);
    out_.answers.Add({port.network, IpAddress::LinkLocal(port.mac)}, {by_nature, 0, owner, answer});
  }

  void AddInterface(const vswitch::RouterView& router, const vswitch::RouterPort& port, Vni vni) {
    const vswitch::Owner owner = RouterOwner(router.id);
    const bool up = router.admin_state_up;
    const Rank rank = up ? Rank::kRouter : Rank::kReserved;
    out_.macs.Add({port.network, port.mac}, {Rank::kRouter, 0, owner, {vni, RouterPlace{router.id, up}}});
    Answer answer{.vni = vni, .mac = port.mac, .router = true, .exclusive = true};
    out_.answers.Add({port.network, port.link_local}, {rank, 0, owner, answer});
    for (const IpPrefix& own : port.addresses) {
      answer.override_flag = !IsAnycast(own);
      out_.answers.Add({port.network, own.address()}, {rank, 0, owner, answer});
    }
  }

  const Source& source_;
  ForwardingTables& out_;
};

MacPlace PlaceOf(const PortId& id, const Port& port) {
  if (port.remote) return {port.vni, *port.remote};
  return {port.vni, LocalPlace{id}};
}

// MACs that allowed pairs have beside the ports' own: any of the ports may be the one.
void AddAllowedMacs(ForwardingTables& out) {
  struct Holders {
    Vni vni;
    vswitch::Owner first;
    std::set<PortId> ports;
    std::set<RemotePlace> hosts;
  };
  std::map<MacKey, Holders> allowed;
  for (const auto& [key, claimants] : out.ports.entries()) {
    const Port& port = claimants.front().value;
    if (!port.up || !port.secured) continue;
    for (const vswitch::AllowedAddress& address : port.allowed) {
      if (address.mac == port.mac) continue;
      Holders& holders =
          allowed.try_emplace({key.first, address.mac}, Holders{port.vni, claimants.front().owner, {}, {}})
              .first->second;
      if (port.remote) {
        holders.hosts.insert(*port.remote);
      } else {
        holders.ports.insert(key.second);
      }
    }
  }
  for (const auto& [key, holders] : allowed) {
    out.macs.Add(key, {Rank::kAllowed,
                       0,
                       holders.first,
                       {holders.vni, SeveralPlaces{{holders.ports.begin(), holders.ports.end()},
                                                   {holders.hosts.begin(), holders.hosts.end()}}}});
  }
}

}  // namespace

void AddConfigured(const Source& source, ForwardingTables& out) {
  Configured configured(source, out);
  configured.AddPorts();
  configured.AddReserved();
  configured.AddRouters();
  AddAllowedMacs(out);
}

void AddClaims(const Source& source, ForwardingTables& out) {
  // All are admitted by what is configured: one claim does not admit another.
  std::vector<std::pair<AddressKey, const vswitch::AddressClaim*>> admitted;
  for (const auto& [key, claim] : source.view.claims) {
    if (MayClaim(out, key, claim.mac, claim.port)) admitted.emplace_back(key, &claim);
  }
  for (const auto& [key, claim] : admitted) {
    const Claimant<Port>& port = *out.ports.Winner({key.first, claim->port});
    const bool own_link_local = key.second == IpAddress::LinkLocal(port.value.mac);
    out.answers.Add(
        key,
        {Rank::kClaim,
         claim->sequence,
         port.owner,
         {.vni = port.value.vni, .mac = claim->mac, .router = claim->router, .exclusive = own_link_local}});
    if (claim->mac != port.value.mac) {
      out.macs.Add({key.first, claim->mac},
                   {Rank::kClaimedMac, claim->sequence, port.owner, PlaceOf(claim->port, port.value)});
    }
  }
}

}  // namespace kasane::tables
