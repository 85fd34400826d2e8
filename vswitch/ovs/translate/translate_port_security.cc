#include "vswitch/ovs/translate/translate_port_security.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/translate_learning.h"

namespace kasane::ovs {
namespace {

// Within kPortSecurity, from the packet's point of view.
constexpr uint16_t kForbidden = 150;  // Whatever the source is.
constexpr uint16_t kAllowed = 100;
constexpr uint16_t kWrongAddress = 50;  // The MAC is the port's, the address is not.
constexpr uint16_t kWrongProtocol = 40;
constexpr uint16_t kWrongMac = 30;

void CompileForbidden(const std::string& from, const vswitch::Owner& owner, FlowTable& out) {
  const auto drop = [&](const char* match, vswitch::DropReason reason) {
    AddDrop(out, Table::kPortSecurity, kForbidden, fmt::format("{},{}", match, from), owner, reason);
  };
  // What a server sends by, and what a client listens to: none looks at the port that an answer comes from.
  for (const char* dhcp : {"udp,tp_src=67", "udp,tp_dst=68", "udp6,tp_src=547", "udp6,tp_dst=546"}) {
    drop(dhcp, vswitch::DropReason::kDhcpServer);
  }
  // A first fragment without its upper header hides what it is (RFC 7112, RFC 3128): the switch reads zeros
  // there.
  for (const char* hidden : {"tcp,nw_frag=first,tp_src=0,tp_dst=0", "udp,nw_frag=first,tp_src=0,tp_dst=0",
                             "tcp6,nw_frag=first,tp_src=0,tp_dst=0", "udp6,nw_frag=first,tp_src=0,tp_dst=0",
                             "icmp6,nw_frag=first,icmp_type=0,icmp_code=0"}) {
    drop(hidden, vswitch::DropReason::kMalformed);
  }
  drop("icmp6,icmp_type=134", vswitch::DropReason::kRouterAdvertisement);
}

void CompileAllowedV4(const std::string& source, const vswitch::AllowedAddress& allowed,
                      const vswitch::Owner& owner, FlowTable& out) {
  Add(out, Table::kPortSecurity, kAllowed, fmt::format("ip,{},nw_src={}", source, allowed.prefix),
      Goto(Table::kArp), owner);
  Add(out, Table::kPortSecurity, kAllowed,
      fmt::format("arp,{},arp_sha={},arp_spa={}", source, allowed.mac, allowed.prefix), Goto(Table::kArp),
      owner);
}

// Inside of neighbour messages: an advertisement's target is an address of the port, and a link-layer option,
// where there is one, is the frame's own MAC.
void CompileAllowedV6(const std::string& source, const vswitch::AllowedAddress& allowed,
                      const vswitch::Owner& owner, FlowTable& out) {
  Add(out, Table::kPortSecurity, kAllowed, fmt::format("ipv6,{},ipv6_src={}", source, allowed.prefix),
      Goto(Table::kNdSecurity), owner);
  for (const std::string& option : {allowed.mac.ToString(), MacAddress().ToString()}) {
    Add(out, Table::kNdSecurity, kAllowed,
        fmt::format("icmp6,{},icmp_type=136,icmp_code=0,nd_target={},nd_tll={}", source, allowed.prefix,
                    option),
        Goto(Table::kArp), owner);
  }
}

// What each MAC of the port may send besides its addresses: what a host sends before it has one.
void CompileUnaddressed(const std::string& source, const MacAddress& mac, const vswitch::Owner& owner,
                        FlowTable& out) {
  Add(out, Table::kPortSecurity, kAllowed,
      fmt::format("udp,{},nw_src=0.0.0.0,nw_dst=255.255.255.255,tp_src=68,tp_dst=67", source),
      Goto(Table::kArp), owner);
  Add(out, Table::kPortSecurity, kAllowed,
      fmt::format("arp,{},arp_sha={},arp_spa=0.0.0.0,arp_op=1", source, mac), Goto(Table::kArp), owner);
  // Duplicate address detection, router solicitations and MLD reports come from :: (RFC 4862, RFC 3810).
  Add(out, Table::kPortSecurity, kAllowed, fmt::format("icmp6,{},ipv6_src=::,icmp_type=135", source),
      Goto(Table::kNdSecurity), owner);
  for (const int type : {133, 131, 143}) {
    Add(out, Table::kPortSecurity, kAllowed, fmt::format("icmp6,{},ipv6_src=::,icmp_type={}", source, type),
        Goto(Table::kArp), owner);
  }
  for (const std::string& option : {mac.ToString(), MacAddress().ToString()}) {
    Add(out, Table::kNdSecurity, kAllowed,
        fmt::format("icmp6,{},icmp_type=135,icmp_code=0,nd_sll={}", source, option), Goto(Table::kArp), owner);
  }
}

void CompileRefused(const std::string& source, const vswitch::Owner& owner, FlowTable& out) {
  const auto drop = [&](uint16_t priority, const char* protocol, vswitch::DropReason reason) {
    AddDrop(out, Table::kPortSecurity, priority, fmt::format("{}{}", protocol, source), owner, reason);
  };
  drop(kWrongAddress, "ip,", vswitch::DropReason::kSpoofedIp);
  drop(kWrongAddress, "ipv6,", vswitch::DropReason::kSpoofedIp);
  drop(kWrongAddress, "arp,", vswitch::DropReason::kSpoofedArp);
  drop(kWrongProtocol, "", vswitch::DropReason::kNotIp);
}

}  // namespace

void CompilePortSecurityPipeline(FlowTable& out) {
  const vswitch::Owner pipeline;
  for (const int type : {135, 136}) {
    // In fragments it is no receiver's (RFC 6980); its options may be in a later one.
    AddDrop(out, Table::kNdSecurity, kForbidden, fmt::format("icmp6,nw_frag=first,icmp_type={}", type),
            pipeline, vswitch::DropReason::kSpoofedNd);
    // The target reads as zeros if the message is cut short, and if it names a link-layer address twice.
    AddDrop(out, Table::kNdSecurity, kForbidden,
            fmt::format("icmp6,icmp_type={},icmp_code=0,nd_target=::", type), pipeline,
            vswitch::DropReason::kSpoofedNd);
    AddDrop(out, Table::kNdSecurity, kWrongAddress, fmt::format("icmp6,icmp_type={}", type), pipeline,
            vswitch::DropReason::kSpoofedNd);
  }
  Add(out, Table::kNdSecurity, 0, "", Goto(Table::kArp), pipeline);
}

void TranslateSources(const tables::Claimant<tables::Port>& winner, uint32_t number, FlowTable& out) {
  const vswitch::Owner& owner = winner.owner;
  const std::string from = fmt::format("in_port={}", number);
  CompileForbidden(from, owner, out);
  std::set<MacAddress> macs;
  for (const vswitch::AllowedAddress& allowed : winner.value.allowed) {
    const std::string source = fmt::format("{},dl_src={}", from, allowed.mac);
    if (macs.insert(allowed.mac).second) {
      CompileUnaddressed(source, allowed.mac, owner, out);
      CompileRefused(source, owner, out);
    }
    if (allowed.prefix.family() == IpFamily::kV4) {
      CompileAllowedV4(source, allowed, owner, out);
    } else {
      CompileAllowedV6(source, allowed, owner, out);
    }
  }
  AddDrop(out, Table::kPortSecurity, kWrongMac, from, owner, vswitch::DropReason::kSpoofedMac);
}

void AddAnySource(const vswitch::Owner& owner, uint32_t number, uint32_t place, FlowTable& out) {
  Add(out, Table::kPortSecurity, kAllowed, fmt::format("in_port={}", number),
      Learn(owner, place) + Goto(Table::kArp), owner);
}

}  // namespace kasane::ovs
