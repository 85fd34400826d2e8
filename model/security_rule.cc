#include "model/security_rule.h"

#include <algorithm>
#include <charconv>

#include "kasane/v1/resources.pb.h"
#include "model/field.h"

namespace kasane::model {
namespace {

constexpr uint8_t kIcmp = 1;
constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr uint8_t kDccp = 33;
constexpr uint8_t kIcmpV6 = 58;
constexpr uint8_t kSctp = 132;
constexpr uint8_t kUdpLite = 136;

// Neutron's IP_PROTOCOL_MAP.
constexpr std::pair<std::string_view, uint8_t> kProtocols[] = {
    {"hopopt", 0},       {"icmp", kIcmp},        {"igmp", 2},        {"ipip", 4},           {"tcp", kTcp},
    {"egp", 8},          {"udp", kUdp},          {"dccp", kDccp},    {"ipv6-encap", 41},    {"ipv6-route", 43},
    {"ipv6-frag", 44},   {"rsvp", 46},           {"gre", 47},        {"esp", 50},           {"ah", 51},
    {"icmpv6", kIcmpV6}, {"ipv6-icmp", kIcmpV6}, {"ipv6-nonxt", 59}, {"ipv6-opts", 60},     {"ospf", 89},
    {"vrrp", 112},       {"pgm", 113},           {"sctp", kSctp},    {"udplite", kUdpLite},
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::optional<uint8_t> ProtocolNumber(const std::string& text) {
  const std::string name = Lower(text);
  for (const auto& [known, number] : kProtocols) {
    if (name == known) return number;
  }
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0 || number > 255)
    return std::nullopt;
  return static_cast<uint8_t>(number);
}

// Empty and "any" mean any protocol. "icmp" in an IPv6 rule means ICMPv6, as in Neutron.
std::optional<uint8_t> DecodeProtocol(const std::string& text, IpFamily ethertype, const Field& field) {
  if (text.empty() || Lower(text) == "any") return std::nullopt;
  const std::optional<uint8_t> number = ProtocolNumber(text);
  if (!number) {
    NearestName nearest(text);
    for (const auto& [known, value] : kProtocols) nearest.Offer(known);
    field.Fail("{} is not a protocol; use a name such as tcp, udp, icmp or ipv6-icmp, or a number 0 to 255{}",
               Quoted(text), DidYouMean(nearest.result()));
    return std::nullopt;
  }
  if (ethertype == IpFamily::kV6 && *number == kIcmp) return kIcmpV6;
  if (ethertype == IpFamily::kV4 && *number == kIcmpV6) {
    field.Fail("{} is for IPv6, but the ethertype is IPv4; use icmp", Quoted(text));
  }
  return number;
}

bool HasPorts(uint8_t protocol) {
  return protocol == kTcp || protocol == kUdp || protocol == kSctp || protocol == kDccp || protocol == kUdpLite;
}

// A type or code: 0 to 255.
void CheckIcmp(const v1::SecurityGroupRule& in, const Field& min, const Field& max) {
  if (in.has_port_range_min() && in.port_range_min() > 255) {
    min.Fail("{} is not an ICMP type: it must be 0 to 255", in.port_range_min());
  }
  if (!in.has_port_range_max()) return;
  if (in.port_range_max() > 255) max.Fail("{} is not an ICMP code: it must be 0 to 255", in.port_range_max());
  if (!in.has_port_range_min()) min.Fail("is missing; an ICMP code needs its type");
}

void CheckPorts(const v1::SecurityGroupRule& in, const Field& min, const Field& max) {
  if (!in.has_port_range_min()) return min.Fail("is missing; give both ends of the range");
  if (!in.has_port_range_max()) return max.Fail("is missing; give both ends of the range");
  const auto valid = [](uint32_t port) { return port >= 1 && port <= 65535; };
  if (!valid(in.port_range_min())) min.Fail("{} is not a port: it must be 1 to 65535", in.port_range_min());
  if (!valid(in.port_range_max())) max.Fail("{} is not a port: it must be 1 to 65535", in.port_range_max());
  if (in.port_range_max() < in.port_range_min()) {
    max.Fail("{} is below port_range_min {}; exchange them", in.port_range_max(), in.port_range_min());
  }
}

// `protocol_asked`: a protocol is given, be it valid or not.
void DecodePortRange(const v1::SecurityGroupRule& in, const Field& at, bool protocol_asked,
                     SecurityGroupRule& out) {
  if (!in.has_port_range_min() && !in.has_port_range_max()) return;
  const Field min = at.Sub("port_range_min");
  const Field max = at.Sub("port_range_max");
  if (!out.protocol) {
    if (!protocol_asked) min.Fail("is given without a protocol; name one, such as tcp");
    return;
  }
  if (*out.protocol == kIcmp || *out.protocol == kIcmpV6) {
    CheckIcmp(in, min, max);
  } else if (HasPorts(*out.protocol)) {
    CheckPorts(in, min, max);
  } else {
    min.Fail("is given, but protocol {} has no ports; remove it", Quoted(in.protocol()));
  }
  if (in.has_port_range_min()) out.port_range_min = static_cast<uint16_t>(in.port_range_min());
  if (in.has_port_range_max()) out.port_range_max = static_cast<uint16_t>(in.port_range_max());
}

void DecodeRemote(const v1::SecurityGroupRule& in, const Field& at, SecurityGroupRule& out) {
  const Field prefix = at.Sub("remote_ip_prefix");
  out.remote_ip_prefix = ReadLenientPrefix(prefix, in.remote_ip_prefix(), Presence::kOptional);
  out.remote_group =
      ReadId<SecurityGroupId>(at.Sub("remote_group_id"), in.remote_group_id(), Presence::kOptional);
  out.remote_address_group = ReadText(at.Sub("remote_address_group_id"), in.remote_address_group_id());
  if (out.remote_ip_prefix && out.remote_ip_prefix->family() != out.ethertype) {
    prefix.Fail("{} contradicts the ethertype {}", *out.remote_ip_prefix,
                out.ethertype == IpFamily::kV4 ? "IPv4" : "IPv6");
  }
  if (!in.remote_ip_prefix().empty() && !in.remote_group_id().empty()) {
    prefix.Fail("is given beside remote_group_id; give one of them");
  }
  if (!out.remote_address_group.empty() && (!in.remote_ip_prefix().empty() || !in.remote_group_id().empty())) {
    at.Sub("remote_address_group_id").Fail("is given beside another remote; give one of them");
  }
}

}  // namespace

SecurityGroupRule DecodeSecurityGroupRule(const v1::SecurityGroupRule& in, const Field& at) {
  SecurityGroupRule out;
  out.id = ReadText(at.Sub("id"), in.id());
  out.ingress = in.direction() == "ingress";
  if (in.direction() != "ingress" && in.direction() != "egress") {
    static constexpr std::string_view kDirections[] = {"ingress", "egress"};
    at.Sub("direction")
        .Fail("{}; give ingress or egress{}",
              in.direction().empty() ? "is missing" : Quoted(in.direction()) + " is unknown",
              Suggestion(in.direction(), kDirections));
  }
  const std::string ethertype = Lower(in.ethertype());
  out.ethertype = ethertype == "ipv6" ? IpFamily::kV6 : IpFamily::kV4;
  if (!ethertype.empty() && ethertype != "ipv4" && ethertype != "ipv6") {
    at.Sub("ethertype").Fail("{} is not IPv4 or IPv6", Quoted(in.ethertype()));
  }
  out.protocol = DecodeProtocol(in.protocol(), out.ethertype, at.Sub("protocol"));
  DecodePortRange(in, at, !in.protocol().empty() && Lower(in.protocol()) != "any", out);
  DecodeRemote(in, at, out);
  return out;
}

}  // namespace kasane::model
