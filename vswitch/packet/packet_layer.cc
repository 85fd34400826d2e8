#include "vswitch/packet/packet_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/hex_digit.h"
#include "base/status.h"
#include "vswitch/packet/hex.h"

namespace kasane::packet {
namespace {

constexpr std::array<std::string_view, kLayerKinds> kNames = {
    "eth", "vlan", "arp", "ip", "icmp", "icmp6", "udp", "tcp", "ns", "na", "rs", "ra", "mld", "vxlan"};

using enum LayerKind;
using enum FieldType;

constexpr uint32_t kNd = Bit(kNs) | Bit(kNa) | Bit(kRs) | Bit(kRa);
constexpr uint32_t kAnyIp =
    Bit(kIp) | Bit(kIcmp) | Bit(kIcmp6) | Bit(kUdp) | Bit(kTcp) | Bit(kMld) | Bit(kVxlan) | kNd;
constexpr uint32_t kMacs = Bit(kEth) | Bit(kArp) | kAnyIp;
constexpr uint32_t kAll = kMacs | Bit(kVlan);
constexpr uint32_t kWithPayload =
    Bit(kEth) | Bit(kIp) | Bit(kIcmp) | Bit(kIcmp6) | Bit(kUdp) | Bit(kTcp) | Bit(kVxlan);
constexpr uint32_t kEchoes = Bit(kIcmp) | Bit(kIcmp6);
constexpr uint32_t kSummed = kEchoes | Bit(kUdp) | Bit(kTcp) | Bit(kMld) | Bit(kVxlan) | kNd;
constexpr uint32_t kPorts = Bit(kUdp) | Bit(kTcp) | Bit(kVxlan);

constexpr FieldWord kArpOps[] = {{"request", 1}, {"reply", 2}};
constexpr FieldWord kProtocols[] = {{"icmp", 1}, {"igmp", 2}, {"tcp", 6}, {"udp", 17}, {"icmp6", 58}};
constexpr FieldWord kMldTypes[] = {{"query", 130}, {"report", 131}, {"done", 132}};
constexpr FieldWord kTcpFlags[] = {{"S", 0x02}, {"A", 0x10}, {"F", 0x01}, {"R", 0x04},
                                   {"P", 0x08}, {"U", 0x20}, {"E", 0x40}, {"C", 0x80}};
constexpr FieldWord kNaFlags[] = {{"R", 0x80}, {"S", 0x40}, {"O", 0x20}};
constexpr FieldWord kRaFlags[] = {{"M", 0x80}, {"O", 0x40}};
constexpr FieldWord kExtensions[] = {
    {"hop_by_hop", 0}, {"router_alert", 1}, {"routing", 43}, {"fragment", 44}, {"destination", 60}};

constexpr FieldDef kFields[] = {
    {"src", kIpAddress, kAnyIp, 0, true, {}, "IP source"},
    {"dst", kIpAddress, kAnyIp, 0, true, {}, "IP destination"},
    {"eth_src", kMacAddress, kMacs, 0, true, {}, "Ethernet source"},
    {"eth_dst", kMacAddress, kMacs, 0, true, {}, "Ethernet destination"},
    {"ttl", kNumber, kAnyIp, 255, true, {}, "TTL or hop limit; 64, for ND 255, for MLD 1"},
    {"type", kHexNumber, Bit(kEth), 0xffff, true, {}, "EtherType"},
    {"type", kHexNumber, Bit(kVlan), 0xffff, false, {}, "0x8100, or 0x88a8 for an outer tag"},
    {"id", kNumber, Bit(kVlan), 4095, true, {}, "VLAN"},
    {"pcp", kNumber, Bit(kVlan), 7, false, {}, "priority"},
    {"dei", kFlag, Bit(kVlan), 0, false, {}, "drop eligible"},
    {"op", kNumber, Bit(kArp), 0xffff, true, kArpOps, "request (or GARP) or reply, or a number"},
    {"sha", kMacAddress, Bit(kArp), 0, true, {}, "sender's MAC; the Ethernet source"},
    {"spa", kIpAddress, Bit(kArp), 0, true, {}, "sender's address"},
    {"tha",
     kMacAddress,
     Bit(kArp),
     0,
     true,
     {},
     "target's MAC; zero in a request, else the Ethernet destination"},
    {"tpa", kIpAddress, Bit(kArp), 0, true, {}, "target's address"},
    {"hw_type", kNumber, Bit(kArp), 0xffff, false, {}, "1"},
    {"proto_type", kHexNumber, Bit(kArp), 0xffff, false, {}, "0x0800"},
    {"hw_len", kNumber, Bit(kArp), 255, false, {}, "6; changes the field, not the layout"},
    {"proto_len", kNumber, Bit(kArp), 255, false, {}, "4; changes the field, not the layout"},
    {"vni", kNumber, Bit(kVxlan), 0xffffff, true, {}, "network identifier"},
    {"flags", kHexNumber, Bit(kVxlan), 255, false, {}, "0x08: the VNI is valid"},
    {"proto", kNumber, Bit(kIp), 255, true, kProtocols, "protocol behind the IP header"},
    {"type", kNumber, kEchoes, 255, true, {}, "echo request, unless given"},
    {"code", kNumber, kEchoes, 255, false, {}, "0"},
    {"id", kNumber, kEchoes, 0xffff, false, {}, "of an echo; 1"},
    {"seq", kNumber, kEchoes, 0xffff, false, {}, "of an echo; 1"},
    {"mtu", kNumber, Bit(kIcmp), 0xffff, false, {}, "of a fragmentation-needed error"},
    {"mtu", kNumber, Bit(kIcmp6), 0xffffffff, false, {}, "of a packet-too-big error"},
    {"rest", kHexNumber, kEchoes, 0xffffffff, false, {}, "the four bytes behind the checksum, as one number"},
    {"sport", kNumber, kPorts, 0xffff, true, {}, "source port; 40000"},
    {"dport", kNumber, kPorts, 0xffff, true, {}, "destination port; 80, of vxlan 4789"},
    {"udp_len", kNumber, Bit(kUdp) | Bit(kVxlan), 0xffff, false, {}, "length field of UDP, right or wrong"},
    {"flags", kLetters, Bit(kTcp), 0, true, kTcpFlags, "letters of SAFRPUEC, or none; S"},
    {"seq", kNumber, Bit(kTcp), 0xffffffff, false, {}, "sequence number; 1"},
    {"ack", kNumber, Bit(kTcp), 0xffffffff, false, {}, "acknowledgement number; 0"},
    {"window", kNumber, Bit(kTcp), 0xffff, false, {}, "8192"},
    {"urgent", kNumber, Bit(kTcp), 0xffff, false, {}, "0"},
    {"tcp_options", kBytes, Bit(kTcp), 0, false, {}, "filled up to a multiple of 4 bytes, at most 40"},
    {"data_offset", kNumber, Bit(kTcp), 15, false, {}, "in words, right or wrong"},
    {"target", kIpAddress, Bit(kNs) | Bit(kNa), 0, true, {}, "the address asked for or told of"},
    {"sll",
     kMacAddress,
     Bit(kNs) | Bit(kRs) | Bit(kRa),
     0,
     false,
     {},
     "source link-layer option; none, unless given"},
    {"tll", kMacAddress, Bit(kNa), 0, false, {}, "target link-layer option; none, unless given"},
    {"flags", kLetters, Bit(kNa), 0, true, kNaFlags, "letters of RSO, or none; O"},
    {"flags", kLetters, Bit(kRa), 0, false, kRaFlags, "letters of MO, or none"},
    {"hop_limit", kNumber, Bit(kRa), 255, false, {}, "that the router advertises; 64"},
    {"lifetime", kNumber, Bit(kRa), 0xffff, false, {}, "seconds as default router; 1800"},
    {"nd_options", kBytes, kNd, 0, false, {}, "further options"},
    {"type", kNumber, Bit(kMld), 255, true, kMldTypes, "report, query or done (MLDv1)"},
    {"group", kIpAddress, Bit(kMld), 0, true, {}, "multicast address; :: in a general query"},
    {"tos", kNumber, kAnyIp, 255, false, {}, "TOS or traffic class; 0"},
    {"flow_label", kNumber, kAnyIp, 0xfffff, false, {}, "IPv6"},
    {"ip_id", kNumber, kAnyIp, 0xffffffff, false, {}, "identification, for fragments; 0"},
    {"df", kFlag, kAnyIp, 0, false, {}, "do not fragment (IPv4)"},
    {"more_fragments", kFlag, kAnyIp, 0, false, {}, "not the last fragment"},
    {"frag_offset", kNumber, kAnyIp, 65528, false, {}, "bytes, a multiple of 8"},
    {"reserved_flag", kFlag, kAnyIp, 0, false, {}, "the first of IPv4's three flags"},
    {"ip_options", kBytes, kAnyIp, 0, false, {}, "IPv4; filled up to a multiple of 4 bytes, at most 40"},
    {"ext", kWords, kAnyIp, 0, false, kExtensions, "IPv6 extension headers, in order: ext=hop_by_hop+fragment"},
    {"ip_version", kNumber, kAnyIp, 15, false, {}, "version field, right or wrong"},
    {"ihl", kNumber, kAnyIp, 15, false, {}, "IPv4 header length field in words, right or wrong"},
    {"ip_len", kNumber, kAnyIp, 0xffff, false, {}, "length field (IPv6: of the payload), right or wrong"},
    {"ip_checksum", kHexNumber, kAnyIp, 0xffff, false, {}, "of the IPv4 header, right or wrong"},
    {"checksum", kHexNumber, kSummed, 0xffff, false, {}, "of the transport, right or wrong"},
    {"payload", kBytes, kWithPayload, 0, false, {}, "hexadecimal digits or \"text\""},
    {"size", kNumber, kWithPayload, 65535, false, {}, "bytes of payload (the letter a), instead of payload"},
    {"pad_to", kNumber, kAll, 65535, false, {}, "fill the frame with zeros to so many bytes"},
    {"truncate", kNumber, kAll, 65535, false, {}, "cut the frame to so many bytes"},
};

std::string WordList(const FieldDef& def) {
  std::string list;
  for (const FieldWord& word : def.words) list += fmt::format("{}{}", list.empty() ? "" : ", ", word.text);
  return list;
}

const FieldWord* FindWord(const FieldDef& def, std::string_view text) {
  const auto it = std::find_if(def.words.begin(), def.words.end(),
                               [&](const FieldWord& word) { return word.text == text; });
  return it == def.words.end() ? nullptr : &*it;
}

absl::StatusOr<FieldValue> ParseNumber(const FieldDef& def, std::string_view text) {
  if (const FieldWord* word = FindWord(def, text)) return FieldValue(word->number);
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  const bool whole = end == digits.data() + digits.size();
  if (whole && error == std::errc() && number <= def.max) return FieldValue(number);
  const std::string words = def.words.empty() ? "" : fmt::format(", nor one of {}", WordList(def));
  if (def.type == kHexNumber) return Invalid("{} is not 0x0 to {:#x}{}", text, def.max, words);
  return Invalid("{} is not 0 to {}{}", text, def.max, words);
}

absl::StatusOr<FieldValue> ParseBytes(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return FieldValue(FieldBytes(text.begin() + 1, text.end() - 1));
  }
  FieldBytes bytes;
  if (text.size() % 2 != 0) return Invalid("has {} hexadecimal digits, an odd number", text.size());
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return Invalid("{} is not hexadecimal digits (text goes in quotes)", text);
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return FieldValue(std::move(bytes));
}

absl::StatusOr<FieldValue> ParseLetters(const FieldDef& def, std::string_view text) {
  uint64_t bits = 0;
  if (text == "none") return FieldValue(bits);
  for (size_t i = 0; i < text.size(); ++i) {
    const FieldWord* word = FindWord(def, text.substr(i, 1));
    if (word == nullptr) return Invalid("{} is not none or letters of {}", text, WordList(def));
    bits |= word->number;
  }
  return FieldValue(bits);
}

absl::StatusOr<FieldValue> ParseWords(const FieldDef& def, std::string_view text) {
  FieldBytes numbers;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find('+', at), text.size());
    const FieldWord* word = FindWord(def, text.substr(at, end - at));
    if (word == nullptr) return Invalid("{} is not {} (several: joined with +)", text, WordList(def));
    numbers.push_back(static_cast<uint8_t>(word->number));
    at = end + 1;
  }
  return FieldValue(std::move(numbers));
}

std::string LettersText(const FieldDef& def, uint64_t bits) {
  std::string text;
  for (const FieldWord& word : def.words) {
    if ((bits & word.number) != 0) text += word.text;
  }
  return text.empty() ? "none" : text;
}

std::string WordsText(const FieldDef& def, const FieldBytes& numbers) {
  std::string text;
  for (const uint8_t number : numbers) {
    for (const FieldWord& word : def.words) {
      if (word.number == number) text += fmt::format("{}{}", text.empty() ? "" : "+", word.text);
    }
  }
  return text;
}

std::string NumberText(const FieldDef& def, uint64_t number) {
  for (const FieldWord& word : def.words) {
    if (word.number == number) return std::string(word.text);
  }
  return def.type == kHexNumber ? fmt::format("{:#x}", number) : fmt::format("{}", number);
}

}  // namespace

std::string_view Name(LayerKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<LayerKind> LayerKindFromText(std::string_view text) {
  const auto it = std::find(kNames.begin(), kNames.end(), text);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<LayerKind>(it - kNames.begin());
}

std::span<const FieldDef> AllFields() { return kFields; }

const FieldDef* FindField(LayerKind kind, std::string_view name) {
  const auto it = std::find_if(std::begin(kFields), std::end(kFields), [&](const FieldDef& def) {
    return (def.layers & Bit(kind)) != 0 && def.name == name;
  });
  return it == std::end(kFields) ? nullptr : it;
}

absl::StatusOr<FieldValue> ParseFieldValue(const FieldDef& def, std::string_view text) {
  switch (def.type) {
    case kNumber:
    case kHexNumber:
      return ParseNumber(def, text);
    case kFlag:
      if (text == "0" || text == "1") return FieldValue(uint64_t{text == "1"});
      return Invalid("{} is not 0 or 1 (without a value it is 1)", text);
    case FieldType::kMacAddress: {
      ASSIGN_OR_RETURN(const MacAddress mac, MacAddress::Parse(text));
      return FieldValue(mac);
    }
    case FieldType::kIpAddress: {
      ASSIGN_OR_RETURN(const IpAddress ip, IpAddress::Parse(text));
      return FieldValue(ip);
    }
    case kBytes:
      return ParseBytes(text);
    case kLetters:
      return ParseLetters(def, text);
    case kWords:
      return ParseWords(def, text);
  }
  return Invalid("is of an unknown type");
}

std::string FieldValueText(const FieldDef& def, const FieldValue& value) {
  if (const auto* mac = std::get_if<MacAddress>(&value)) return mac->ToString();
  if (const auto* ip = std::get_if<IpAddress>(&value)) return ip->ToString();
  if (const auto* bytes = std::get_if<FieldBytes>(&value)) {
    if (def.type == kWords) return WordsText(def, *bytes);
    return HexText(*bytes);
  }
  const uint64_t number = std::get<uint64_t>(value);
  return def.type == kLetters ? LettersText(def, number) : NumberText(def, number);
}

const Field* Layer::Find(std::string_view name) const {
  const auto it =
      std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.def->name == name; });
  return it == fields.end() ? nullptr : &*it;
}

void Layer::Set(std::string_view name, FieldValue value) {
  const FieldDef* def = FindField(kind, name);
  KASANE_CHECK(def != nullptr);
  Remove(name);
  fields.push_back({def, std::move(value), 0});
}

void Layer::Remove(std::string_view name) {
  std::erase_if(fields, [&](const Field& field) { return field.def->name == name; });
}

}  // namespace kasane::packet
