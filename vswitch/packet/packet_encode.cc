#include "vswitch/packet/packet_encode.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/status.h"
#include "vswitch/packet/byte_codec.h"
#include "vswitch/packet/checksum.h"
#include "vswitch/packet/packet.h"

namespace kasane::packet {
namespace {

using Bytes = std::vector<uint8_t>;

uint64_t Number(const Layer& layer, std::string_view name, uint64_t otherwise) {
  const Field* field = layer.Find(name);
  return field == nullptr ? otherwise : std::get<uint64_t>(field->value);
}

std::optional<MacAddress> MacOf(const Layer& layer, std::string_view name) {
  const Field* field = layer.Find(name);
  if (field == nullptr) return std::nullopt;
  return std::get<MacAddress>(field->value);
}

std::optional<IpAddress> IpOf(const Layer& layer, std::string_view name) {
  const Field* field = layer.Find(name);
  if (field == nullptr) return std::nullopt;
  return std::get<IpAddress>(field->value);
}

Bytes BytesOf(const Layer& layer, std::string_view name) {
  const Field* field = layer.Find(name);
  return field == nullptr ? Bytes() : std::get<FieldBytes>(field->value);
}

absl::Status Fault(const Layer& layer, std::string_view field_name, std::string_view text) {
  const Field* field = layer.Find(field_name);
  const size_t column = field != nullptr ? field->column : layer.column;
  const std::string_view owner = field != nullptr ? field_name : Name(layer.kind);
  if (column == 0) return Invalid("{}: {}", owner, text);
  return Invalid("column {}: {}: {}", column, owner, text);
}

absl::Status Missing(const Layer& layer, std::string_view field_name) {
  return Fault(layer, field_name, fmt::format("{} is missing", field_name));
}

Bytes Payload(const Layer& layer) {
  if (!layer.Has("size")) return BytesOf(layer, "payload");
  return Bytes(Number(layer, "size", 0), kFiller);
}

bool IsNd(LayerKind kind) {
  return kind == LayerKind::kNs || kind == LayerKind::kNa || kind == LayerKind::kRs || kind == LayerKind::kRa;
}

bool IsIcmp6(LayerKind kind) { return kind == LayerKind::kIcmp6 || kind == LayerKind::kMld || IsNd(kind); }

absl::StatusOr<uint8_t> Protocol(const Layer& layer) {
  if (IsIcmp6(layer.kind)) return kProtoIcmpv6;
  if (layer.kind == LayerKind::kIcmp) return kProtoIcmp;
  if (layer.kind == LayerKind::kTcp) return kProtoTcp;
  if (layer.kind != LayerKind::kIp) return kProtoUdp;
  if (!layer.Has("proto")) return Missing(layer, "proto");
  return static_cast<uint8_t>(Number(layer, "proto", 0));
}

// Addresses of the IP header, those that the layer implies included.
struct Addresses {
  IpAddress src;
  IpAddress dst;
};

std::optional<IpAddress> ImpliedDestination(const Layer& layer) {
  const auto group = [](uint8_t last) {
    const std::array<uint8_t, 16> bytes = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
    return IpAddress::V6(bytes);
  };
  if (layer.kind == LayerKind::kNs) {
    const auto target = IpOf(layer, "target");
    return target && target->is_v6() ? std::optional(SolicitedNode(*target)) : std::nullopt;
  }
  if (layer.kind == LayerKind::kNa || layer.kind == LayerKind::kRa) return group(1);
  if (layer.kind == LayerKind::kRs) return group(2);
  if (layer.kind != LayerKind::kMld) return std::nullopt;
  const auto asked = IpOf(layer, "group");
  return asked && asked->IsMulticast() ? asked : group(1);
}

absl::StatusOr<Addresses> AddressesOf(const Layer& layer) {
  auto src = IpOf(layer, "src");
  auto dst = IpOf(layer, "dst");
  if (!src && layer.kind == LayerKind::kNa) src = IpOf(layer, "target");
  if (!dst) dst = ImpliedDestination(layer);
  if (!dst) return Missing(layer, "dst");
  if (!src) return Missing(layer, "src");
  if (src->family() != dst->family()) {
    return Fault(layer, layer.Has("dst") ? "dst" : "src",
                 fmt::format("source {} and destination {} differ in family", *src, *dst));
  }
  if (layer.kind == LayerKind::kIcmp && src->is_v6()) {
    return Fault(layer, "src", fmt::format("{} is not IPv4; between IPv6 addresses it is icmp6", *src));
  }
  if (IsIcmp6(layer.kind) && src->is_v4()) {
    return Fault(layer, "src",
                 fmt::format("{} is not IPv6, as {} needs{}", *src, Name(layer.kind),
                             layer.kind == LayerKind::kIcmp6 ? "; between IPv4 addresses it is icmp" : ""));
  }
  return Addresses{*src, *dst};
}

size_t ChecksumOffset(uint8_t protocol) { return protocol == kProtoTcp ? 16 : protocol == kProtoUdp ? 6 : 2; }

void SetChecksum(const Layer& layer, const Addresses& ip, uint8_t protocol, Bytes& segment) {
  const size_t at = ChecksumOffset(protocol);
  uint32_t sum = 0;
  if (protocol != kProtoIcmp) {
    sum = OnesComplementSum(ip.dst.bytes(), OnesComplementSum(ip.src.bytes()));
    sum += static_cast<uint32_t>(segment.size()) + protocol;
  }
  auto checksum = static_cast<uint16_t>(~OnesComplementSum(segment, sum));
  if (protocol == kProtoUdp && checksum == 0) checksum = 0xffff;
  Put16(segment, at, Number(layer, "checksum", checksum));
}

absl::StatusOr<Bytes> EncodeIp(const Layer& layer);
absl::StatusOr<Bytes> EncodeFrame(const Layer& layer);

void AppendLinkLayerOption(const Layer& layer, std::string_view name, uint8_t type, Bytes& out) {
  const auto mac = MacOf(layer, name);
  if (!mac) return;
  out.push_back(type);
  out.push_back(1);
  Append(out, mac->bytes());
}

absl::StatusOr<Bytes> Echo(const Layer& layer) {
  const bool v6 = layer.kind == LayerKind::kIcmp6;
  const uint64_t request = v6 ? 128 : 8;
  const uint64_t reply = v6 ? 129 : 0;
  const uint64_t type = Number(layer, "type", request);
  const bool echo = type == request || type == reply;
  Bytes out = {static_cast<uint8_t>(type), static_cast<uint8_t>(Number(layer, "code", 0)), 0, 0};
  const uint64_t identity = Number(layer, "id", echo ? 1 : 0) << 16 | Number(layer, "seq", echo ? 1 : 0);
  if (layer.Has("rest") + layer.Has("mtu") + (layer.Has("id") || layer.Has("seq")) > 1) {
    return Fault(layer, layer.Has("rest") ? "rest" : "mtu",
                 "rest, mtu, and id with seq are the same four bytes");
  }
  Append32(out, Number(layer, "rest", Number(layer, "mtu", identity)));
  if (layer.inner.empty()) {
    Append(out, Payload(layer));
    return out;
  }
  if (layer.Has("payload") || layer.Has("size")) {
    return Fault(layer, layer.Has("size") ? "size" : "payload", "a quoted packet is the payload");
  }
  ASSIGN_OR_RETURN(const Bytes quoted, EncodeIp(layer.inner.front()));
  Append(out, quoted);
  return out;
}

absl::StatusOr<Bytes> Neighbour(const Layer& layer) {
  const bool solicitation = layer.kind == LayerKind::kNs;
  const auto target = IpOf(layer, "target");
  if (!target) return Missing(layer, "target");
  if (!target->is_v6()) return Fault(layer, "target", fmt::format("{} is not IPv6", *target));
  Bytes out = {static_cast<uint8_t>(solicitation ? 135 : 136), 0, 0, 0};
  out.push_back(static_cast<uint8_t>(solicitation ? 0 : Number(layer, "flags", 0x20)));
  out.insert(out.end(), 3, 0);
  Append(out, target->bytes());
  AppendLinkLayerOption(layer, solicitation ? "sll" : "tll", solicitation ? 1 : 2, out);
  Append(out, BytesOf(layer, "nd_options"));
  return out;
}

Bytes RouterMessage(const Layer& layer) {
  Bytes out = {static_cast<uint8_t>(layer.kind == LayerKind::kRs ? 133 : 134), 0, 0, 0};
  if (layer.kind == LayerKind::kRa) {
    out.push_back(static_cast<uint8_t>(Number(layer, "hop_limit", 64)));
    out.push_back(static_cast<uint8_t>(Number(layer, "flags", 0)));
    Append16(out, Number(layer, "lifetime", 1800));
    Append32(out, 0);  // Reachable time and retransmission timer: unspecified.
  }
  Append32(out, 0);
  AppendLinkLayerOption(layer, "sll", 1, out);
  Append(out, BytesOf(layer, "nd_options"));
  return out;
}

absl::StatusOr<Bytes> Mld(const Layer& layer) {
  const auto group = IpOf(layer, "group");
  if (!group) return Missing(layer, "group");
  if (!group->is_v6()) return Fault(layer, "group", fmt::format("{} is not IPv6", *group));
  Bytes out = {static_cast<uint8_t>(Number(layer, "type", 131)), 0, 0, 0, 0, 0, 0, 0};
  Append(out, group->bytes());
  return out;
}

Bytes Udp(const Layer& layer, uint16_t port, std::span<const uint8_t> payload) {
  Bytes out;
  Append16(out, Number(layer, "sport", 40000));
  Append16(out, Number(layer, "dport", port));
  Append16(out, Number(layer, "udp_len", 8 + payload.size()));
  Append16(out, 0);
  Append(out, payload);
  return out;
}

absl::StatusOr<Bytes> Tcp(const Layer& layer) {
  Bytes options = BytesOf(layer, "tcp_options");
  if (options.size() > 40) return Fault(layer, "tcp_options", "more than 40 bytes");
  options.resize((options.size() + 3) / 4 * 4);
  Bytes out;
  Append16(out, Number(layer, "sport", 40000));
  Append16(out, Number(layer, "dport", 80));
  Append32(out, Number(layer, "seq", 1));
  Append32(out, Number(layer, "ack", 0));
  out.push_back(static_cast<uint8_t>(Number(layer, "data_offset", 5 + options.size() / 4) << 4));
  out.push_back(static_cast<uint8_t>(Number(layer, "flags", 0x02)));
  Append16(out, Number(layer, "window", 8192));
  Append16(out, 0);
  Append16(out, Number(layer, "urgent", 0));
  Append(out, options);
  Append(out, Payload(layer));
  return out;
}

absl::StatusOr<Bytes> Vxlan(const Layer& layer) {
  if (!layer.Has("vni")) return Missing(layer, "vni");
  Bytes payload = {static_cast<uint8_t>(Number(layer, "flags", 0x08)), 0, 0, 0};
  Append32(payload, Number(layer, "vni", 0) << 8);
  if (layer.inner.empty()) {
    Append(payload, Payload(layer));
  } else {
    ASSIGN_OR_RETURN(const Bytes inner, EncodeFrame(layer.inner.front()));
    Append(payload, inner);
  }
  return Udp(layer, kVxlanPort, payload);
}

// The part behind the IP header, its checksum still zero.
absl::StatusOr<Bytes> Transport(const Layer& layer) {
  switch (layer.kind) {
    case LayerKind::kIcmp:
    case LayerKind::kIcmp6:
      return Echo(layer);
    case LayerKind::kNs:
    case LayerKind::kNa:
      return Neighbour(layer);
    case LayerKind::kRs:
    case LayerKind::kRa:
      return RouterMessage(layer);
    case LayerKind::kMld:
      return Mld(layer);
    case LayerKind::kUdp:
      return Udp(layer, 80, Payload(layer));
    case LayerKind::kTcp:
      return Tcp(layer);
    case LayerKind::kVxlan:
      return Vxlan(layer);
    default:
      return Payload(layer);
  }
}

uint64_t HopsOf(const Layer& layer) {
  return Number(layer, "ttl", IsNd(layer.kind) ? 255 : layer.kind == LayerKind::kMld ? 1 : 64);
}

bool IsFragment(const Layer& layer) {
  return layer.Has("frag_offset") || Number(layer, "more_fragments", 0) != 0;
}

absl::Status CheckIpFields(const Layer& layer, bool v4) {
  if (Number(layer, "frag_offset", 0) % 8 != 0) return Fault(layer, "frag_offset", "is not a multiple of 8");
  if (v4 && Number(layer, "ip_id", 0) > 0xffff) return Fault(layer, "ip_id", "is more than IPv4's 65535");
  if (BytesOf(layer, "ip_options").size() > 40) return Fault(layer, "ip_options", "more than 40 bytes");
  for (const char* name : {"df", "reserved_flag", "ip_options", "ihl", "ip_checksum"}) {
    if (!v4 && layer.Has(name)) return Fault(layer, name, "an IPv6 header has none");
  }
  for (const char* name : {"ext", "flow_label"}) {
    if (v4 && layer.Has(name)) return Fault(layer, name, "an IPv4 header has none");
  }
  return absl::OkStatus();
}

absl::Status TooLarge(const Layer& layer, size_t size) {
  return Fault(layer, layer.Has("size") ? "size" : "payload",
               fmt::format("makes an IP packet of {} bytes, more than fits", size));
}

absl::StatusOr<Bytes> HeaderV4(const Layer& layer, const Addresses& ip, uint8_t protocol, size_t payload) {
  Bytes options = BytesOf(layer, "ip_options");
  options.resize((options.size() + 3) / 4 * 4);
  const size_t size = 20 + options.size() + payload;
  if (size > 0xffff && !layer.Has("ip_len")) return TooLarge(layer, size);
  Bytes out;
  out.push_back(
      static_cast<uint8_t>(Number(layer, "ip_version", 4) << 4 | Number(layer, "ihl", 5 + options.size() / 4)));
  out.push_back(static_cast<uint8_t>(Number(layer, "tos", 0)));
  Append16(out, Number(layer, "ip_len", size));
  Append16(out, Number(layer, "ip_id", 0));
  Append16(out, (Number(layer, "reserved_flag", 0) != 0 ? 0x8000U : 0U) |
                    (Number(layer, "df", 0) != 0 ? 0x4000U : 0U) |
                    (Number(layer, "more_fragments", 0) != 0 ? 0x2000U : 0U) |
                    Number(layer, "frag_offset", 0) / 8);
  out.push_back(static_cast<uint8_t>(HopsOf(layer)));
  out.push_back(protocol);
  Append16(out, 0);
  Append(out, ip.src.bytes());
  Append(out, ip.dst.bytes());
  Append(out, options);
  Put16(out, 10, Number(layer, "ip_checksum", static_cast<uint16_t>(~OnesComplementSum(out))));
  return out;
}

// The extension headers' words, the fragment header that the fields ask for included.
Bytes ExtensionsOf(const Layer& layer) {
  Bytes words = BytesOf(layer, "ext");
  if (words.empty() && layer.kind == LayerKind::kMld && !layer.Has("ext")) words = {1};
  if (IsFragment(layer) && std::find(words.begin(), words.end(), 44) == words.end()) words.push_back(44);
  return words;
}

Bytes Extension(const Layer& layer, uint8_t word, uint8_t next) {
  Bytes out = {next, 0};
  switch (word) {
    case 1:  // Hop-by-hop with a router alert for MLD (RFC 2711).
      Append(out, Bytes{5, 2, 0, 0, 1, 0});
      break;
    case 43:  // Of type 0, with no segment left.
      Append(out, Bytes{0, 0, 0, 0, 0, 0});
      break;
    case 44:
      Append16(out, Number(layer, "frag_offset", 0) | (Number(layer, "more_fragments", 0) != 0 ? 1U : 0U));
      Append32(out, Number(layer, "ip_id", 0));
      break;
    default:  // One PadN option.
      Append(out, Bytes{1, 4, 0, 0, 0, 0});
  }
  return out;
}

absl::StatusOr<Bytes> HeaderV6(const Layer& layer, const Addresses& ip, uint8_t protocol, size_t payload) {
  const Bytes words = ExtensionsOf(layer);
  const size_t size = words.size() * 8 + payload;
  if (size > 0xffff && !layer.Has("ip_len")) return TooLarge(layer, size);
  const auto header = [&](size_t i) -> uint8_t {
    if (i == words.size()) return protocol;
    return words[i] == 1 ? 0 : words[i];
  };
  Bytes out;
  Append32(out, Number(layer, "ip_version", 6) << 28 | Number(layer, "tos", 0) << 20 |
                    Number(layer, "flow_label", 0));
  Append16(out, Number(layer, "ip_len", size));
  out.push_back(header(0));
  out.push_back(static_cast<uint8_t>(HopsOf(layer)));
  Append(out, ip.src.bytes());
  Append(out, ip.dst.bytes());
  for (size_t i = 0; i < words.size(); ++i) Append(out, Extension(layer, words[i], header(i + 1)));
  return out;
}

absl::StatusOr<Bytes> EncodeIp(const Layer& layer) {
  ASSIGN_OR_RETURN(const Addresses ip, AddressesOf(layer));
  const bool v4 = ip.src.is_v4();
  RETURN_IF_ERROR(CheckIpFields(layer, v4));
  ASSIGN_OR_RETURN(const uint8_t protocol, Protocol(layer));
  ASSIGN_OR_RETURN(Bytes segment, Transport(layer));
  if (layer.kind != LayerKind::kIp) SetChecksum(layer, ip, protocol, segment);
  ASSIGN_OR_RETURN(Bytes packet, v4 ? HeaderV4(layer, ip, protocol, segment.size())
                                    : HeaderV6(layer, ip, protocol, segment.size()));
  Append(packet, segment);
  return packet;
}

// The group that an IP destination goes to, if it is one.
std::optional<MacAddress> GroupMac(const IpAddress& destination) {
  if (destination.IsMulticast()) return MulticastMac(destination);
  const bool broadcast = destination.is_v4() && destination.v4_host_order() == 0xffffffff;
  return broadcast ? std::optional(MacAddress::Broadcast()) : std::nullopt;
}

absl::StatusOr<Bytes> Ethernet(const Layer& layer, std::optional<MacAddress> implied, uint64_t type,
                               std::span<const uint8_t> payload) {
  const auto src = MacOf(layer, "eth_src");
  const auto dst = layer.Has("eth_dst") ? MacOf(layer, "eth_dst") : implied;
  if (!src) return Missing(layer, "eth_src");
  if (!dst) return Missing(layer, "eth_dst");
  Bytes frame;
  Append(frame, dst->bytes());
  Append(frame, src->bytes());
  Append16(frame, type);
  Append(frame, payload);
  return frame;
}

absl::StatusOr<Bytes> EncodeArp(const Layer& layer) {
  if (!layer.Has("op")) return Missing(layer, "op");
  const bool request = Number(layer, "op", 0) == 1;
  const auto implied_dst = request ? std::optional(MacAddress::Broadcast()) : MacOf(layer, "tha");
  const auto sha = layer.Has("sha") ? MacOf(layer, "sha") : MacOf(layer, "eth_src");
  auto tha = MacOf(layer, "tha");
  if (!tha) tha = request ? MacAddress() : MacOf(layer, "eth_dst");
  if (!sha) return Missing(layer, "eth_src");
  if (!tha) return Missing(layer, "eth_dst");
  Bytes out;
  Append16(out, Number(layer, "hw_type", 1));
  Append16(out, Number(layer, "proto_type", kEtherIpv4));
  out.push_back(static_cast<uint8_t>(Number(layer, "hw_len", 6)));
  out.push_back(static_cast<uint8_t>(Number(layer, "proto_len", 4)));
  Append16(out, Number(layer, "op", 0));
  for (const auto& [mac, address] : {std::pair(*sha, "spa"), std::pair(*tha, "tpa")}) {
    const auto ip = IpOf(layer, address);
    if (!ip) return Missing(layer, address);
    if (!ip->is_v4()) return Fault(layer, address, fmt::format("{} is not IPv4", *ip));
    Append(out, mac.bytes());
    Append(out, ip->bytes());
  }
  return Ethernet(layer, implied_dst, kEtherArp, out);
}

absl::StatusOr<Bytes> EncodeVlan(const Layer& layer) {
  if (!layer.Has("id")) return Missing(layer, "id");
  if (layer.inner.empty()) return Fault(layer, "", "the frame to tag is missing: vlan(id=5, icmp(...))");
  ASSIGN_OR_RETURN(const Bytes inner, EncodeFrame(layer.inner.front()));
  Bytes out = inner;
  Bytes tag;
  Append16(tag, Number(layer, "type", kEtherVlan));
  Append16(tag, Number(layer, "pcp", 0) << 13 | (Number(layer, "dei", 0) != 0 ? 0x1000U : 0U) |
                    Number(layer, "id", 0));
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(12, out.size())), tag.begin(),
             tag.end());
  return out;
}

absl::StatusOr<Bytes> EncodeIpFrame(const Layer& layer) {
  ASSIGN_OR_RETURN(const Addresses ip, AddressesOf(layer));
  ASSIGN_OR_RETURN(const Bytes packet, EncodeIp(layer));
  return Ethernet(layer, GroupMac(ip.dst), ip.src.is_v4() ? kEtherIpv4 : kEtherIpv6, packet);
}

absl::StatusOr<Bytes> EncodeEth(const Layer& layer) {
  if (!layer.Has("type")) return Missing(layer, "type");
  return Ethernet(layer, std::nullopt, Number(layer, "type", 0), Payload(layer));
}

absl::StatusOr<Bytes> EncodeFrame(const Layer& layer) {
  if (layer.Has("payload") && layer.Has("size")) return Fault(layer, "size", "is there beside payload");
  ASSIGN_OR_RETURN(Bytes frame, layer.kind == LayerKind::kEth    ? EncodeEth(layer)
                                : layer.kind == LayerKind::kVlan ? EncodeVlan(layer)
                                : layer.kind == LayerKind::kArp  ? EncodeArp(layer)
                                                                 : EncodeIpFrame(layer));
  frame.resize(std::max<size_t>(frame.size(), Number(layer, "pad_to", 0)));
  frame.resize(std::min<size_t>(frame.size(), Number(layer, "truncate", frame.size())));
  return frame;
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> EncodeLayers(const Layer& layer) { return EncodeFrame(layer); }

}  // namespace kasane::packet
