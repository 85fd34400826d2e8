#include "vswitch/ovs/translate/translate_answers.h"

#include <fmt/format.h>

#include <string>

#include "vswitch/ovs/translate/places.h"
#include "vswitch/packet/packet.h"

namespace kasane::ovs {
namespace {

// In kArp.
constexpr uint16_t kAnnounced = 115;  // Said, not asked: everybody must hear it.
constexpr uint16_t kOwn = 110;        // By one that has the address.
constexpr uint16_t kExclusive = 107;  // Nobody else may have it: probes are answered.
constexpr uint16_t kProbe = 105;
constexpr uint16_t kAnswer = 100;

// In kNd. Duplicate address detection for what nobody has is at 120 (compiler.cc).
constexpr uint16_t kNdOwn = 140;
constexpr uint16_t kNdExclusiveDetection = 137;
constexpr uint16_t kNdProbe = 135;
constexpr uint16_t kNdDetection = 130;
constexpr uint16_t kNdNoOption = 110;
constexpr uint16_t kNdAnswer = 100;

class AnswerTranslator {
 public:
  AnswerTranslator(const tables::AddressKey& key, const tables::Claimant<tables::Answer>& winner,
                   const Bindings& bindings, FlowTable& out)
      : ip_(key.second), answer_(winner.value), owner_(winner.owner), bindings_(bindings), out_(out) {}

  void Arp() const {
    const std::string here = fmt::format("arp,metadata={:#x},arp_op=1", answer_.vni.value());
    const std::string request = fmt::format("{},arp_tpa={}", here, ip_);
    Add(out_, Table::kArp, answer_.exclusive ? kExclusive : kAnswer, request,
        fmt::format("move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:{0}->eth_src,set_field:2->arp_op,"
                    "move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],set_field:{0}->arp_sha,"
                    "move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],set_field:{1}->arp_spa,in_port",
                    answer_.mac, ip_),
        owner_);
    if (answer_.announced_by_others) {
      Add(out_, Table::kArp, kAnnounced, fmt::format("{},arp_spa={},arp_tpa={}", here, ip_, ip_),
          Goto(Table::kAnnounce), owner_);
    }
    NotTo(Table::kArp, kOwn, request);
  }

  void Nd() const {
    const std::string target = fmt::format("metadata={:#x},nd_target={}", answer_.vni.value(), ip_);
    const std::string solicit = fmt::format("icmp6,icmp_type=135,icmp_code=0,nw_ttl=255,{}", target);
    const std::string ask = ToAgent(slowpath::SlowPathCause::kNeighbour);
    const uint16_t detection = answer_.exclusive ? kNdExclusiveDetection : kNdDetection;
    if (bindings_.nd_in_tables) {
      Rewrite(solicit, target);
      // No room for the answer's link-layer address, or an answer to all (RFC 4861, 7.2.4).
      Add(out_, Table::kNd, kNdNoOption, solicit + ",nd_sll=00:00:00:00:00:00", ask, owner_);
      Add(out_, Table::kNd, detection, solicit + ",ipv6_src=::", ask, owner_);
    } else {
      Add(out_, Table::kNd, detection, solicit, ask, owner_);
    }
    NotTo(Table::kNd, kNdOwn, solicit);
  }

 private:
  void NotTo(Table table, uint16_t priority, const std::string& question) const {
    for (const PortId& port : answer_.not_to) {
      Add(out_, table, priority, fmt::format("{},in_port={}", question, NumberOf(bindings_, port)),
          Goto(Table::kAnnounce), owner_);
    }
  }

  // RFC 4861, 4.4: Router, Solicited and Override in the top bits of the reserved word.
  uint32_t Flags() const {
    constexpr uint32_t kRouterFlag = 0x80000000;
    constexpr uint32_t kSolicited = 0x40000000;
    constexpr uint32_t kOverride = 0x20000000;
    return (answer_.router ? kRouterFlag : 0) | kSolicited | (answer_.override_flag ? kOverride : 0);
  }

  // The solicitation is turned into the advertisement in place, in three tables: a frame with other options or
  // headers would be mangled, since OVS takes the first option for the link-layer address; and the fields of an
  // advertisement can be set only where the flow matches on one.
  void Rewrite(const std::string& solicit, const std::string& target) const {
    Add(out_, Table::kNd, kNdAnswer, solicit,
        fmt::format("check_pkt_larger({})->NXM_NX_REG6[1],{}", packet::kNdRewritable, Goto(Table::kNdSize)),
        owner_);
    Add(out_, Table::kNdSize, 100, solicit,
        fmt::format("set_field:{:#x}->nd_reserved,set_field:2->nd_options_type,set_field:136->icmpv6_type,"
                    "{}",
                    Flags(), Resubmit(Table::kNdReply)),
        owner_);
    Add(out_, Table::kNdReply, 100, fmt::format("icmp6,icmp_type=136,icmp_code=0,{}", target),
        fmt::format(
            "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:{0}->eth_src,"
            "move:NXM_NX_IPV6_SRC[]->NXM_NX_IPV6_DST[],set_field:{1}->ipv6_src,set_field:{0}->nd_tll,in_port",
            answer_.mac, ip_),
        owner_);
  }

  const IpAddress& ip_;
  const tables::Answer& answer_;
  const vswitch::Owner& owner_;
  const Bindings& bindings_;
  FlowTable& out_;
};

}  // namespace

void TranslateAnswer(const tables::AddressKey& key, const tables::Claimant<tables::Answer>& winner,
                     const Bindings& bindings, FlowTable& out) {
  const AnswerTranslator translator(key, winner, bindings, out);
  if (key.second.is_v4()) {
    translator.Arp();
  } else {
    translator.Nd();
  }
}

void TranslateProbe(const tables::ProbeKey& key, const tables::Claimant<tables::Probe>& winner,
                    const Bindings& bindings, FlowTable& out) {
  const bool whole = key.prefix.length() == 0;
  const uint32_t port = NumberOf(bindings, key.port);
  if (key.prefix.family() == IpFamily::kV4) {
    Add(out, Table::kArp, kProbe,
        fmt::format("arp,in_port={},arp_op=1,arp_spa=0.0.0.0{}", port,
                    whole ? "" : fmt::format(",arp_tpa={}", key.prefix)),
        Goto(Table::kAnnounce), winner.owner);
  } else {
    Add(out, Table::kNd, kNdProbe,
        fmt::format("icmp6,icmp_type=135,icmp_code=0,ipv6_src=::,in_port={}{}", port,
                    whole ? "" : fmt::format(",nd_target={}", key.prefix)),
        Goto(Table::kAnnounce), winner.owner);
  }
}

}  // namespace kasane::ovs
