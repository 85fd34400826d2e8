#include "vswitch/packet/packet_dissect.h"

#include <algorithm>
#include <functional>

#include "vswitch/packet/byte_codec.h"
#include "vswitch/packet/packet.h"
#include "vswitch/packet/packet_encode.h"

namespace kasane::packet {
namespace {

using View = std::span<const uint8_t>;

IpAddress Ip4(View bytes, size_t at) { return IpAddress::V4(bytes.subspan(at).first<4>()); }
IpAddress Ip6(View bytes, size_t at) { return IpAddress::V6(bytes.subspan(at).first<16>()); }
FieldBytes Copy(View bytes) { return {bytes.begin(), bytes.end()}; }

MacAddress Mac(View bytes, size_t at) {
  MacAddress::Bytes octets{};
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), octets.size(), octets.begin());
  return MacAddress(octets);
}

const Layer* InnerOf(const Layer* as) {
  return as == nullptr || as->inner.empty() ? nullptr : &as->inner.front();
}

void SetPayload(Layer& layer, View payload) {
  if (!payload.empty()) layer.Set("payload", Copy(payload));
}

void SetMacs(Layer& layer, View frame) {
  layer.Set("eth_src", Mac(frame, 6));
  layer.Set("eth_dst", Mac(frame, 0));
}

// What the IP header says of the packet behind it.
struct IpPart {
  std::vector<Field> fields;
  bool v6 = false;
  uint8_t protocol = 0;
  bool later_fragment = false;
  View segment;    // Behind all headers of IP, without padding.
  size_t end = 0;  // Of the packet in what was read.
};

using SetField = std::function<void(std::string_view, FieldValue)>;

SetField Setter(std::vector<Field>& fields) {
  // Every IP layer has all of IP's fields.
  return [&fields](std::string_view name, FieldValue value) {
    fields.push_back({FindField(LayerKind::kIp, name), std::move(value), 0});
  };
}

std::optional<IpPart> ReadV4(View packet) {
  if (packet.size() < 20) return std::nullopt;
  const size_t nibble = (packet[0] & 0x0fU) * 4;
  const size_t header = nibble < 20 || nibble > packet.size() ? 20 : nibble;
  const size_t total = Get16(packet, 2);
  IpPart part;
  const SetField set = Setter(part.fields);
  set("src", Ip4(packet, 12));
  set("dst", Ip4(packet, 16));
  set("ttl", uint64_t{packet[8]});
  set("tos", uint64_t{packet[1]});
  set("ip_id", Get16(packet, 4));
  const uint64_t fragment = Get16(packet, 6);
  if ((fragment & 0x8000) != 0) set("reserved_flag", uint64_t{1});
  if ((fragment & 0x4000) != 0) set("df", uint64_t{1});
  if ((fragment & 0x2000) != 0) set("more_fragments", uint64_t{1});
  if ((fragment & 0x1fff) != 0) set("frag_offset", (fragment & 0x1fff) * 8);
  if (header > 20) set("ip_options", Copy(packet.subspan(20, header - 20)));
  set("ip_version", uint64_t{packet[0]} >> 4);
  set("ihl", uint64_t{packet[0]} & 0x0f);
  set("ip_len", uint64_t{total});
  set("ip_checksum", Get16(packet, 10));
  part.protocol = packet[9];
  part.later_fragment = (fragment & 0x1fff) != 0;
  part.end = total < header || total > packet.size() ? packet.size() : total;
  part.segment = packet.subspan(header, part.end - header);
  return part;
}

// The word of the extension header at `at`, if it is one that the encoder can write.
std::optional<uint8_t> ExtensionWord(View packet, uint8_t header, size_t at) {
  const auto is = [&](std::initializer_list<uint8_t> rest) {
    return packet[at + 1] == 0 &&
           std::equal(rest.begin(), rest.end(), packet.begin() + static_cast<std::ptrdiff_t>(at) + 2);
  };
  if (header == 44) return header;
  if (header == 43 && is({0, 0, 0, 0, 0, 0})) return header;
  if (header == 0 && is({5, 2, 0, 0, 1, 0})) return 1;
  if ((header == 0 || header == 60) && is({1, 4, 0, 0, 0, 0})) return header;
  return std::nullopt;
}

void ReadExtensions(View packet, IpPart& part, size_t& at) {
  const SetField set = Setter(part.fields);
  FieldBytes words;
  bool fragment = false;
  while (!part.later_fragment && at + 8 <= part.end && (!fragment || part.protocol != 44)) {
    const auto word = ExtensionWord(packet, part.protocol, at);
    if (!word) break;
    words.push_back(*word);
    if (*word == 44) {
      fragment = true;
      const uint64_t field = Get16(packet, at + 2);
      part.later_fragment = (field & 0xfff8) != 0;
      if ((field & 0xfff8) != 0) set("frag_offset", field & 0xfff8);
      if ((field & 1) != 0) set("more_fragments", uint64_t{1});
      set("ip_id", Get32(packet, at + 4));
    }
    part.protocol = packet[at];
    at += 8;
  }
  if (!words.empty()) set("ext", words);
}

std::optional<IpPart> ReadV6(View packet) {
  if (packet.size() < 40) return std::nullopt;
  const size_t length = Get16(packet, 4);
  IpPart part;
  part.v6 = true;
  const SetField set = Setter(part.fields);
  const uint64_t word = Get32(packet, 0);
  set("src", Ip6(packet, 8));
  set("dst", Ip6(packet, 24));
  set("ttl", uint64_t{packet[7]});
  set("tos", word >> 20 & 0xff);
  set("flow_label", word & 0xfffff);
  part.protocol = packet[6];
  part.end = 40 + length > packet.size() ? packet.size() : 40 + length;
  size_t at = 40;
  ReadExtensions(packet, part, at);
  set("ip_version", word >> 28);
  set("ip_len", uint64_t{length});
  part.segment = packet.subspan(at, part.end - at);
  return part;
}

// A single link-layer option of `type` right behind the message, and what follows it.
void ReadNdOptions(Layer& layer, std::string_view name, uint8_t type, View options) {
  if (options.size() >= 8 && options[0] == type && options[1] == 1) {
    layer.Set(name, Mac(options, 2));
    options = options.subspan(8);
  }
  if (!options.empty()) layer.Set("nd_options", Copy(options));
}

std::optional<LayerKind> NdKind(View segment) {
  if (segment.size() < 8) return std::nullopt;
  if (segment[1] != 0) return std::nullopt;
  const uint8_t type = segment[0];
  if (type == 133) return LayerKind::kRs;
  if (type == 134 && segment.size() >= 16) return LayerKind::kRa;
  if (type == 135 && segment.size() >= 24) return LayerKind::kNs;
  if (type == 136 && segment.size() >= 24) return LayerKind::kNa;
  if (type >= 130 && type <= 132 && segment.size() == 24) return LayerKind::kMld;
  return std::nullopt;
}

LayerKind KindOf(const IpPart& part) {
  const size_t size = part.segment.size();
  if (part.later_fragment) return LayerKind::kIp;
  if (part.protocol == kProtoIcmp && !part.v6 && size >= 8) return LayerKind::kIcmp;
  if (part.protocol == kProtoIcmpv6 && part.v6 && size >= 8) {
    return NdKind(part.segment).value_or(LayerKind::kIcmp6);
  }
  if (part.protocol == kProtoTcp && size >= 20) return LayerKind::kTcp;
  if (part.protocol != kProtoUdp || size < 8) return LayerKind::kIp;
  const bool vxlan = Get16(part.segment, 2) == kVxlanPort && size >= 16 + kEthernet;
  return vxlan ? LayerKind::kVxlan : LayerKind::kUdp;
}

bool IsNdKind(LayerKind kind) {
  return kind == LayerKind::kNs || kind == LayerKind::kNa || kind == LayerKind::kRs || kind == LayerKind::kRa ||
         kind == LayerKind::kMld;
}

// Whether a packet of kind `found` can also be read as `wanted`.
bool ReadableAs(LayerKind wanted, LayerKind found) {
  if (wanted == found || wanted == LayerKind::kIp) return true;
  if (wanted == LayerKind::kIcmp6) return IsNdKind(found);
  return wanted == LayerKind::kUdp && found == LayerKind::kVxlan;
}

bool IsError(const Layer& layer, uint64_t type) {
  if (layer.kind == LayerKind::kIcmp6) return type < 128;
  return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

std::optional<Layer> DissectIp(View packet, const Layer* as, size_t depth, size_t* end);
std::optional<Layer> DissectFrame(View frame, const Layer* as, size_t depth);

void ReadEcho(Layer& layer, View segment, const Layer* as, size_t depth) {
  const uint64_t type = segment[0];
  const uint64_t rest = Get32(segment, 4);
  const bool v6 = layer.kind == LayerKind::kIcmp6;
  const bool echo = v6 ? type == 128 || type == 129 : type == 8 || type == 0;
  layer.Set("type", type);
  layer.Set("code", uint64_t{segment[1]});
  layer.Set("checksum", Get16(segment, 2));
  if (echo) {
    layer.Set("id", rest >> 16);
    layer.Set("seq", rest & 0xffff);
  } else if ((v6 && type == 2) || (!v6 && type == 3 && segment[1] == 4 && rest <= 0xffff)) {
    layer.Set("mtu", rest);
  } else {
    layer.Set("rest", rest);
  }
  const View payload = segment.subspan(8);
  if (IsError(layer, type)) {
    size_t quoted_end = 0;
    auto quoted = DissectIp(payload, InnerOf(as), depth + 1, &quoted_end);
    if (quoted && quoted_end == payload.size()) {
      layer.inner.push_back(*std::move(quoted));
      return;
    }
  }
  SetPayload(layer, payload);
}

void ReadNd(Layer& layer, View segment) {
  layer.Set("checksum", Get16(segment, 2));
  switch (layer.kind) {
    case LayerKind::kNs:
      layer.Set("target", Ip6(segment, 8));
      return ReadNdOptions(layer, "sll", 1, segment.subspan(24));
    case LayerKind::kNa:
      layer.Set("target", Ip6(segment, 8));
      layer.Set("flags", uint64_t{segment[4]});
      return ReadNdOptions(layer, "tll", 2, segment.subspan(24));
    case LayerKind::kRs:
      return ReadNdOptions(layer, "sll", 1, segment.subspan(8));
    case LayerKind::kRa:
      layer.Set("hop_limit", uint64_t{segment[4]});
      layer.Set("flags", uint64_t{segment[5]});
      layer.Set("lifetime", Get16(segment, 6));
      return ReadNdOptions(layer, "sll", 1, segment.subspan(16));
    default:
      layer.Set("type", uint64_t{segment[0]});
      layer.Set("group", Ip6(segment, 8));
  }
}

void ReadUdp(Layer& layer, View segment, const Layer* as, size_t depth) {
  layer.Set("sport", Get16(segment, 0));
  layer.Set("dport", Get16(segment, 2));
  layer.Set("udp_len", Get16(segment, 4));
  layer.Set("checksum", Get16(segment, 6));
  if (layer.kind == LayerKind::kUdp) return SetPayload(layer, segment.subspan(8));
  layer.Set("flags", uint64_t{segment[8]});
  layer.Set("vni", Get32(segment, 12) >> 8);
  const View inner = segment.subspan(16);
  auto dissected = DissectFrame(inner, InnerOf(as), depth + 1);
  if (dissected) {
    layer.inner.push_back(*std::move(dissected));
  } else {
    SetPayload(layer, inner);
  }
}

void ReadTcp(Layer& layer, View segment) {
  const size_t nibble = (segment[12] >> 4) * size_t{4};
  const size_t header = nibble < 20 || nibble > segment.size() ? 20 : nibble;
  layer.Set("sport", Get16(segment, 0));
  layer.Set("dport", Get16(segment, 2));
  layer.Set("seq", Get32(segment, 4));
  layer.Set("ack", Get32(segment, 8));
  layer.Set("data_offset", uint64_t{segment[12]} >> 4);
  layer.Set("flags", uint64_t{segment[13]});
  layer.Set("window", Get16(segment, 14));
  layer.Set("checksum", Get16(segment, 16));
  layer.Set("urgent", Get16(segment, 18));
  if (header > 20) layer.Set("tcp_options", Copy(segment.subspan(20, header - 20)));
  SetPayload(layer, segment.subspan(header));
}

void ReadTransport(Layer& layer, const IpPart& part, const Layer* as, size_t depth) {
  switch (layer.kind) {
    case LayerKind::kIcmp:
    case LayerKind::kIcmp6:
      return ReadEcho(layer, part.segment, as, depth);
    case LayerKind::kUdp:
    case LayerKind::kVxlan:
      return ReadUdp(layer, part.segment, as, depth);
    case LayerKind::kTcp:
      return ReadTcp(layer, part.segment);
    case LayerKind::kIp:
      layer.Set("proto", uint64_t{part.protocol});
      return SetPayload(layer, part.segment);
    default:
      return ReadNd(layer, part.segment);
  }
}

// An IP packet without Ethernet. `end` is where it ends in `packet`.
std::optional<Layer> DissectIp(View packet, const Layer* as, size_t depth, size_t* end) {
  if (packet.empty() || depth > kMaxLayerDepth) return std::nullopt;
  const auto part = packet[0] >> 4 == 6 ? ReadV6(packet) : ReadV4(packet);
  if (!part) return std::nullopt;
  const LayerKind found = KindOf(*part);
  if (as != nullptr && !ReadableAs(as->kind, found)) return std::nullopt;
  Layer layer;
  layer.kind = as == nullptr ? found : as->kind;
  layer.fields = part->fields;
  ReadTransport(layer, *part, as, depth);
  *end = part->end;
  return layer;
}

Layer DissectArp(View frame) {
  Layer layer{LayerKind::kArp, 0, {}, {}};
  layer.Set("op", Get16(frame, 20));
  SetMacs(layer, frame);
  layer.Set("sha", Mac(frame, 22));
  layer.Set("spa", Ip4(frame, 28));
  layer.Set("tha", Mac(frame, 32));
  layer.Set("tpa", Ip4(frame, 38));
  layer.Set("hw_type", Get16(frame, 14));
  layer.Set("proto_type", Get16(frame, 16));
  layer.Set("hw_len", uint64_t{frame[18]});
  layer.Set("proto_len", uint64_t{frame[19]});
  if (frame.size() > 42) layer.Set("pad_to", uint64_t{frame.size()});
  return layer;
}

std::optional<Layer> DissectVlan(View frame, const Layer* as, size_t depth) {
  Layer layer{LayerKind::kVlan, 0, {}, {}};
  layer.Set("id", Get16(frame, 14) & 0x0fffU);
  layer.Set("pcp", uint32_t{Get16(frame, 14)} >> 13);
  if ((Get16(frame, 14) & 0x1000) != 0) layer.Set("dei", uint64_t{1});
  layer.Set("type", Get16(frame, 12));
  FieldBytes untagged = Copy(frame);
  untagged.erase(untagged.begin() + 12, untagged.begin() + 16);
  auto inner = DissectFrame(untagged, InnerOf(as), depth + 1);
  if (!inner) return std::nullopt;
  layer.inner.push_back(*std::move(inner));
  return layer;
}

Layer DissectEth(View frame) {
  Layer layer{LayerKind::kEth, 0, {}, {}};
  layer.Set("type", Get16(frame, 12));
  SetMacs(layer, frame);
  SetPayload(layer, frame.subspan(kEthernet));
  return layer;
}

std::optional<Layer> DissectIpFrame(View frame, const Layer* as, size_t depth) {
  const View packet = frame.subspan(kEthernet);
  size_t end = 0;
  auto layer = DissectIp(packet, as, depth, &end);
  if (!layer) return std::nullopt;
  SetMacs(*layer, frame);
  if (end < packet.size()) layer->Set("pad_to", uint64_t{frame.size()});
  return layer;
}

std::optional<Layer> DissectFrame(View frame, const Layer* as, size_t depth) {
  if (frame.size() < kEthernet || depth > kMaxLayerDepth) return std::nullopt;
  const uint64_t type = Get16(frame, 12);
  const bool vlan = (type == kEtherVlan || type == kEtherQinq) && frame.size() >= kEthernet + 4;
  const bool arp = type == kEtherArp && frame.size() >= kEthernet + 28;
  const bool ip = type == kEtherIpv4 || type == kEtherIpv6;
  std::optional<Layer> layer;
  if (as != nullptr && as->kind == LayerKind::kEth) return DissectEth(frame);
  if (vlan && (as == nullptr || as->kind == LayerKind::kVlan)) layer = DissectVlan(frame, as, depth);
  if (arp && (as == nullptr || as->kind == LayerKind::kArp)) layer = DissectArp(frame);
  if (ip) layer = DissectIpFrame(frame, as, depth);
  if (!layer && as == nullptr) layer = DissectEth(frame);
  return layer;
}

bool EncodesTo(const Layer& layer, View frame) {
  const auto encoded = EncodeLayers(layer);
  return encoded.ok() && std::equal(encoded->begin(), encoded->end(), frame.begin(), frame.end());
}

// Tries each field of `part`, which is in `whole`.
void Shorten(Layer& whole, Layer& part, View frame) {
  for (size_t i = 0; i < part.fields.size();) {
    if (part.fields[i].def->shown) {
      ++i;
      continue;
    }
    const Field removed = part.fields[i];
    part.fields.erase(part.fields.begin() + static_cast<std::ptrdiff_t>(i));
    if (EncodesTo(whole, frame)) continue;
    part.fields.insert(part.fields.begin() + static_cast<std::ptrdiff_t>(i), removed);
    ++i;
  }
  for (Layer& inner : part.inner) Shorten(whole, inner, frame);
}

void UseSize(Layer& layer) {
  for (Layer& inner : layer.inner) UseSize(inner);
  const Field* payload = layer.Find("payload");
  if (payload == nullptr) return;
  const auto& bytes = std::get<FieldBytes>(payload->value);
  const bool filler = std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == kFiller; });
  if (!filler || bytes.size() > 65535) return;
  const uint64_t size = bytes.size();
  layer.Remove("payload");
  layer.Set("size", size);
}

}  // namespace

std::optional<Layer> Dissect(std::span<const uint8_t> frame, const Layer* as) {
  return DissectFrame(frame, as, 1);
}

Layer Shortened(Layer layer, std::span<const uint8_t> frame) {
  Shorten(layer, layer, frame);
  UseSize(layer);
  return layer;
}

}  // namespace kasane::packet
