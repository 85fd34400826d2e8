#include "vswitch/ovs/translate/translate_macs.h"

#include <fmt/format.h>

#include <string>
#include <variant>
#include <vector>

#include "vswitch/ovs/translate/copies.h"
#include "vswitch/ovs/translate/places.h"
#include "vswitch/ovs/translate/replication.h"

namespace kasane::ovs {
namespace {

constexpr uint16_t kUnicast = 100;
constexpr uint16_t kReplyToRouter = 110;

class MacTranslator {
 public:
  MacTranslator(const tables::MacKey& key, const tables::Claimant<tables::MacPlace>& winner,
                const Bindings& bindings, const std::map<RouterId, uint32_t>& router_keys, FlowTable& out)
      : to_mac_(fmt::format("metadata={:#x},dl_dst={}", winner.value.vni.value(), key.second)),
        vni_(winner.value.vni),
        owner_(winner.owner),
        bindings_(bindings),
        router_keys_(router_keys),
        out_(out) {}

  void operator()(const tables::LocalPlace& place) const {
    const std::string deliver = ToPort(NumberOf(bindings_, place.port)) + Goto(Table::kDeliver);
    Add(out_, Table::kL2, kUnicast, to_mac_, deliver, owner_);
    Add(out_, Table::kTunnelL2, kUnicast, to_mac_, deliver, owner_);
  }

  void operator()(const tables::RemotePlace& place) const {
    std::string tunnel = ToPlace(place, bindings_);
    if (tunnel.empty()) {
      AddDrop(out_, Table::kL2, kUnicast, to_mac_, owner_, vswitch::DropReason::kNoTunnel);
    } else {
      Add(out_, Table::kL2, kUnicast, to_mac_, SetTunnelVni(vni_) + tunnel, owner_);
    }
  }

  void operator()(const tables::RouterPlace& place) const {
    if (!place.up) {
      AddDrop(out_, Table::kL2, kUnicast, to_mac_, owner_, vswitch::DropReason::kAdminDown);
      return;
    }
    Add(out_, Table::kL2, kUnicast, to_mac_,
        fmt::format("set_field:{:#x}->{},set_field:{:#x}->{},{}", router_keys_.at(place.router), reg::kRouter,
                    vni_.value(), reg::kEntry, Goto(Table::kRouter)),
        owner_);
    // What a port says to a router that asked: the agent has seen it, nobody else needs to.
    for (const char* reply : {"arp,arp_op=2", "icmp6,icmp_type=136,icmp_code=0"}) {
      for (const Table table : {Table::kL2, Table::kTunnelL2}) {
        Add(out_, table, kReplyToRouter, fmt::format("{},{}", reply, to_mac_), "drop", owner_);
      }
    }
  }

  void operator()(const tables::SeveralPlaces& places) const {
    const CopyList local = CopiesToPorts(places.ports, bindings_);
    AddCopies(ReplicationKind::kAllowedLocal, Table::kTunnelL2, {local}, vswitch::DropReason::kNotLocal);
    AddCopies(ReplicationKind::kAllowed, Table::kL2, {CopiesToHosts(places.hosts, vni_, bindings_), local},
              vswitch::DropReason::kNoTunnel);
  }

 private:
  void AddCopies(ReplicationKind kind, Table table, const std::vector<CopyList>& lists,
                 vswitch::DropReason if_none) const {
    const CopyList made = AddReplication({kind, table, kUnicast, to_mac_, owner_}, lists, out_);
    if (made.copies.empty()) AddDrop(out_, table, kUnicast, to_mac_, owner_, if_none);
  }

  const std::string to_mac_;
  const Vni vni_;
  const vswitch::Owner& owner_;
  const Bindings& bindings_;
  const std::map<RouterId, uint32_t>& router_keys_;
  FlowTable& out_;
};

}  // namespace

void TranslateMac(const tables::MacKey& key, const tables::Claimant<tables::MacPlace>& winner,
                  const Bindings& bindings, const std::map<RouterId, uint32_t>& router_keys, FlowTable& out) {
  std::visit(MacTranslator(key, winner, bindings, router_keys, out), winner.value.place);
}

}  // namespace kasane::ovs
