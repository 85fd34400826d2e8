// ForwardingTables against sim's own judgement, which shares no derivation with them: in random clouds every
// address, MAC and route is asked of both.
//
// KASANE_PROPERTY_CLOUDS=1000 asks that many clouds; KASANE_PROPERTY_SEED=N begins with cloud N, to repeat one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/random/random_cloud.h"
#include "view/host_view_builder.h"
#include "vswitch/packet/testing/frames.h"
#include "vswitch/sim/sim.h"
#include "vswitch/sim/view_facts.h"
#include "vswitch/tables/table_facts.h"
#include "vswitch/tables/text.h"

namespace kasane::property {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string Text(const std::optional<slowpath::AddressOwner>& owner) {
  if (!owner) return "nobody";
  return fmt::format("{} at {}{}{}{}", owner->owner.id, owner->mac, owner->router ? " router" : "",
                     owner->anycast ? " anycast" : "", owner->local ? " here" : "");
}
std::string Text(const std::optional<MacAddress>& mac) { return mac ? mac->ToString() : "nobody"; }
std::string Text(const std::optional<PortId>& port) { return port ? port->str() : "nobody"; }
std::string Text(const slowpath::Candidates& candidates) {
  std::string text;
  for (const PortId& port : candidates.ports) text += port.str() + " ";
  for (const HostId& host : candidates.hosts) text += "host " + host.str() + " ";
  return text;
}

// One cloud, and what can be asked in it.
class Cloud {
 public:
  explicit Cloud(uint64_t seed) {
    random::Random random(seed);
    const model::NetworkState state = random::RandomCloud(random, *random::ParseKinds("all"));
    view_ = view::BuildHostView(state, random::kHost, random::OwnVteps());
    std::set<PortId> plugged;
    for (const auto& [id, port] : view_.ports) plugged.insert(id);
    tables_ = std::make_shared<const tables::ForwardingTables>(tables::BuildForwardingTables(view_, plugged));
    CollectAddresses();
  }

  std::string ToText() const { return vswitch::ToString(view_) + tables::ToString(*tables_); }

  void CheckAddresses() const {
    const sim::ViewFacts sim(view_);
    const tables::TableFacts facts(tables_);
    for (const auto& [id, network] : view_.networks) {
      if (!network.admin_state_up) continue;
      for (const IpAddress& ip : addresses_) {
        SCOPED_TRACE(fmt::format("network {} address {}", id, ip));
        const vswitch::ClaimKey key(id, ip);
        EXPECT_EQ(Text(facts.FindOwner(key)), Text(sim.FindOwner(key)));
        EXPECT_EQ(Text(facts.FindCandidates(key)), Text(sim.FindCandidates(key)));
        if (IsRouted(id) && !(ip.is_v6() && ip.IsLinkLocal())) {
          EXPECT_EQ(Text(facts.FindNextHop(key)), Text(sim.FindNextHop(key)));
        }
        CheckAnswers(key, facts, sim);
        CheckClaims(key, facts, sim);
      }
    }
  }

  // A frame from a tunnel reaches the one local port that a MAC leads to, and nothing for what is elsewhere.
  void CheckMacs() const {
    const std::optional<IpAddress> peer = PeerVtep();
    if (!peer) return;
    for (const auto& [key, claimants] : tables_->macs.entries()) {
      const auto* winner = tables_->macs.Winner(key);
      if (winner == nullptr || winner->rank == tables::Rank::kAllowed) continue;
      SCOPED_TRACE(fmt::format("network {} MAC {}", key.first, key.second));
      const sim::Result result = FromTunnel(*peer, winner->value.vni, key.second);
      if (const auto* local = std::get_if<tables::LocalPlace>(&winner->value.place)) {
        ASSERT_EQ(result.deliveries.size(), 1U);
        EXPECT_EQ(result.deliveries.front().port, local->port);
      } else {
        EXPECT_TRUE(result.deliveries.empty());
        EXPECT_EQ(result.drop, vswitch::DropReason::kNotLocal);
      }
    }
  }

  // The local ports that get a copy of a broadcast from a tunnel, and of a frame to a MAC that is nobody's.
  void CheckReplication() const {
    const std::optional<IpAddress> peer = PeerVtep();
    if (!peer) return;
    for (const auto& [id, claimants] : tables_->replication.entries()) {
      SCOPED_TRACE(fmt::format("network {}", id));
      const tables::Replication& replication = claimants.front().value;
      const auto copies = [&](const MacAddress& to) {
        std::vector<PortId> ports;
        for (const auto& delivery : FromTunnel(*peer, replication.vni, to).deliveries) {
          if (delivery.port) ports.push_back(*delivery.port);
        }
        std::sort(ports.begin(), ports.end());
        return ports;
      };
      EXPECT_EQ(copies(MacAddress::Broadcast()), replication.all.ports);
      EXPECT_EQ(copies(random::NthMac(0xeeef)), replication.unsecured.ports);
    }
  }

  // The largest packet that gets out of a router; larger ones than any network's do not get in.
  void CheckMtus() const {
    const sim::ViewFacts sim(view_);
    const tables::TableFacts facts(tables_);
    uint32_t largest = 1280;
    for (const auto& [id, network] : view_.networks) largest = std::max(largest, network.mtu);
    for (const auto& [id, router] : view_.routers) {
      if (!router.admin_state_up) continue;
      for (const IpAddress& ip : addresses_) {
        SCOPED_TRACE(fmt::format("router {} to {}", id, ip));
        EXPECT_EQ(facts.FindMtuTo(id, ip).value_or(largest), sim.FindMtuTo(id, ip).value_or(largest));
      }
    }
  }

  // Of several next hops those that somebody has, as sim says; all, if nobody has any.
  void CheckRoutes() const {
    const sim::ViewFacts sim(view_);
    for (const auto& [id, router] : view_.routers) {
      for (const vswitch::Route& route : router.routes) {
        SCOPED_TRACE(fmt::format("router {} route {}", id, route.destination));
        std::set<std::string> all;
        std::set<std::string> owned;
        for (const vswitch::NextHop& hop : route.next_hops) {
          const vswitch::RouterPort& port = *vswitch::FindRouterPort(router, hop.out_port);
          const std::string text = HopText(port.mac, hop.gateway);
          all.insert(text);
          const bool up = view_.networks.at(port.network).admin_state_up;
          if (up && (!hop.gateway || sim.FindNextHop({port.network, *hop.gateway}))) owned.insert(text);
        }
        const auto* entry = tables_->routes.Winner({id, route.destination});
        ASSERT_NE(entry, nullptr);
        std::set<std::string> used;
        for (const tables::RouteHop& hop : entry->value.hops) used.insert(HopText(hop.source, hop.gateway));
        EXPECT_EQ(used, owned.empty() ? all : owned);
      }
    }
  }

 private:
  // Of a host whose tunnels are let in.
  std::optional<IpAddress> PeerVtep() const {
    for (const auto& [id, host] : view_.hosts) {
      if (host.addresses.v4) return host.addresses.v4;
      if (host.addresses.v6) return host.addresses.v6;
    }
    return std::nullopt;
  }

  sim::Result FromTunnel(const IpAddress& peer, Vni vni, const MacAddress& to) const {
    const frames::Ip ip{*IpAddress::Parse("10.9.9.1"), *IpAddress::Parse("10.9.9.2"), 64};
    return sim::FromTunnel(view_, peer, vni.value(), frames::Udp({to, random::NthMac(0xeeee)}, ip, 1, 2, 8));
  }

  static std::string HopText(const MacAddress& source, const std::optional<IpAddress>& gateway) {
    return fmt::format("{} from {}", gateway ? gateway->ToString() : "link", source);
  }

  bool IsRouted(const NetworkId& network) const {
    for (const auto& [id, router] : view_.routers) {
      for (const vswitch::RouterPort& port : router.ports) {
        if (router.admin_state_up && port.network == network) return true;
      }
    }
    return false;
  }

  void CheckAnswers(const vswitch::ClaimKey& key, const tables::TableFacts& facts,
                    const sim::ViewFacts& sim) const {
    for (const auto& [id, port] : view_.ports) {
      if (port.network != key.first || !port.admin_state_up) continue;
      for (const bool probe : {false, true}) {
        const slowpath::Question question{key.first, key.second, id, port.mac, probe};
        EXPECT_EQ(Text(facts.FindAnswer(question)), Text(sim.FindAnswer(question)))
            << "asked by " << id.str() << (probe ? ", a probe" : "");
      }
    }
  }

  void CheckClaims(const vswitch::ClaimKey& key, const tables::TableFacts& facts,
                   const sim::ViewFacts& sim) const {
    for (const MacAddress& mac : macs_) {
      for (const slowpath::Origin& origin : origins_) {
        EXPECT_EQ(Text(facts.FindClaimer(key, mac, origin)), Text(sim.FindClaimer(key, mac, origin)))
            << "with " << mac.ToString() << " from "
            << (origin.port ? origin.port->str() : origin.outer_source->ToString());
      }
    }
  }

  template <typename Port>
  void Collect(const Port& port) {
    macs_.insert(port.mac);
    addresses_.insert(IpAddress::LinkLocal(port.mac));
    addresses_.insert(port.ips.begin(), port.ips.end());
  }

  void CollectAllowed(const std::vector<vswitch::AllowedAddress>& allowed) {
    for (const vswitch::AllowedAddress& one : allowed) {
      macs_.insert(one.mac);
      addresses_.insert(one.prefix.address());
    }
  }

  void CollectAddresses() {
    for (const auto& [id, port] : view_.ports) {
      Collect(port);
      CollectAllowed(port.allowed);
      origins_.push_back({id, {}});
    }
    for (const auto& [id, endpoint] : view_.endpoints) {
      Collect(endpoint);
      CollectAllowed(endpoint.allowed);
    }
    for (const auto& [id, port] : view_.reserved) Collect(port);
    for (const auto& [key, claim] : view_.claims) addresses_.insert(key.second);
    for (const auto& [id, router] : view_.routers) {
      for (const vswitch::RouterPort& port : router.ports) {
        macs_.insert(port.mac);
        addresses_.insert(port.link_local);
        for (const IpPrefix& own : port.addresses) addresses_.insert(own.address());
      }
      for (const vswitch::Route& route : router.routes) {
        for (const vswitch::NextHop& hop : route.next_hops) {
          if (hop.gateway) addresses_.insert(*hop.gateway);
        }
      }
    }
    for (const IpAddress& vtep : random::PeerVteps()) origins_.push_back({{}, vtep});
    for (const char* free : {"10.0.0.250", "2001:db8::fa", "fe80::1", "169.254.169.254", "0.0.0.0", "::"}) {
      addresses_.insert(*IpAddress::Parse(free));
    }
    macs_.insert(random::NthMac(0xeeee));
  }

  vswitch::HostView view_;
  std::shared_ptr<const tables::ForwardingTables> tables_;
  std::set<IpAddress> addresses_;
  std::set<MacAddress> macs_;
  std::vector<slowpath::Origin> origins_;
};

TEST(TablesPropertyTest, TablesAndSimAgree) {
  const uint64_t first = FromEnvironment("KASANE_PROPERTY_SEED", 1);
  const uint64_t clouds = FromEnvironment("KASANE_PROPERTY_CLOUDS", 150);
  for (uint64_t seed = first; seed < first + clouds; ++seed) {
    SCOPED_TRACE(fmt::format("repeat with KASANE_PROPERTY_SEED={} KASANE_PROPERTY_CLOUDS=1", seed));
    const Cloud cloud(seed);
    cloud.CheckAddresses();
    cloud.CheckMacs();
    cloud.CheckReplication();
    cloud.CheckRoutes();
    cloud.CheckMtus();
    if (HasFailure()) {  // One cloud is enough to read.
      ADD_FAILURE() << cloud.ToText();
      return;
    }
  }
}

}  // namespace
}  // namespace kasane::property
