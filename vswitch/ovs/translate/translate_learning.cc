#include "vswitch/ovs/translate/translate_learning.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "vswitch/ovs/translate/places.h"

namespace kasane::ovs {
namespace {

constexpr int kLearnedSeconds = 300;  // Since the MAC was last seen, as a bridge ages its table (802.1D).
constexpr int kMaxLearnedPerOwner =
    2048;  // A port, or a host's in one network, that invents MACs fills its own share.

std::string LearntAt(Vni vni, uint32_t place) {
  return fmt::format("metadata={:#x},{}={:#x}", vni.value(), reg::kLearnedPlace, place);
}

}  // namespace

// (network, MAC) to a place.
std::string Learn(const vswitch::Owner& owner, uint32_t place) {
  return fmt::format(
      "learn(table={},hard_timeout={},priority=100,cookie={:#x},limit={},OXM_OF_METADATA[],"
      "NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:{:#x}->{}),",
      static_cast<int>(Table::kLearned), kLearnedSeconds, CookieOf(owner, std::nullopt), kMaxLearnedPerOwner,
      place, reg::kLearnedPlaceField);
}

void AddLearntPort(Table table, Vni vni, const PortId& port, uint32_t place, const Bindings& bindings,
                   FlowTable& out) {
  Add(out, table, 100, LearntAt(vni, place), ToPort(NumberOf(bindings, port)) + Resubmit(Table::kDeliver),
      {vswitch::OwnerKind::kPort, port.str()});
}

void TranslateLearningPeer(const tables::LearningKey& key, const tables::Claimant<tables::LearningPeer>& winner,
                           uint32_t place, const Bindings& bindings, FlowTable& out) {
  const tables::LearningPeer& peer = winner.value;
  const std::string tunnel = ToPlace(peer.place, bindings);
  if (tunnel.empty()) {
    AddDrop(out, Table::kUnknown, 100, LearntAt(peer.vni, place), winner.owner, vswitch::DropReason::kNoTunnel);
  } else {
    Add(out, Table::kUnknown, 100, LearntAt(peer.vni, place), SetTunnelVni(peer.vni) + tunnel, winner.owner);
  }
  // The network is in the key: who fills this host's share in one network takes no other network's.
  const std::string learn =
      Learn({vswitch::OwnerKind::kHost, fmt::format("{}/{}", key.first, key.second)}, place);
  const auto add = [&](const std::optional<IpAddress>& source, std::string_view field) {
    if (!source) return;
    Add(out, Table::kTunnel, 110, fmt::format("tun_id={:#x},{}={}", peer.vni.value(), field, *source),
        SetMetadata(peer.vni) + learn + Goto(Table::kTunnelAnnounce), winner.owner);
  };
  add(peer.sources.v4, "tun_src");
  add(peer.sources.v6, "tun_ipv6_src");
}

void TranslateMacElsewhere(const tables::MacKey& key, const tables::Claimant<tables::MacElsewhere>& winner,
                           FlowTable& out) {
  AddDrop(out, Table::kTunnelL2, 90,
          fmt::format("metadata={:#x},dl_dst={}", winner.value.vni.value(), key.second), winner.owner,
          vswitch::DropReason::kNotLocal);
}

}  // namespace kasane::ovs
