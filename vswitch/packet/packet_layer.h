// The vocabulary of the packet syntax (packet_text.h): its layers, their fields and what each may hold. One
// table tells the parser, the encoder, the dissector, the printer and the help what there is.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ip_address.h"
#include "base/mac_address.h"

namespace kasane::packet {

enum class LayerKind : uint8_t {
  kEth,
  kVlan,
  kArp,
  kIp,
  kIcmp,
  kIcmp6,
  kUdp,
  kTcp,
  kNs,
  kNa,
  kRs,
  kRa,
  kMld,
  kVxlan,
};
inline constexpr size_t kLayerKinds = 14;

std::string_view Name(LayerKind kind);
std::optional<LayerKind> LayerKindFromText(std::string_view text);
constexpr uint32_t Bit(LayerKind kind) { return uint32_t{1} << static_cast<unsigned>(kind); }

using FieldBytes = std::vector<uint8_t>;
// Numbers and flags are in host order; bytes are as on the wire. A list of words is the bytes of their numbers.
using FieldValue = std::variant<uint64_t, MacAddress, IpAddress, FieldBytes>;

enum class FieldType : uint8_t {
  kNumber,     // Decimal or 0x..., shown in decimal. Or one of the field's words.
  kHexNumber,  // The same, shown as 0x...
  kFlag,       // 0 or 1; the name alone means 1.
  kMacAddress,
  kIpAddress,
  kBytes,    // Hexadecimal digits, or "text" in quotes.
  kLetters,  // Of the field's words, each one letter; "none".
  kWords,    // Words joined with '+'.
};

struct FieldWord {
  std::string_view text;
  uint64_t number = 0;
};

struct FieldDef {
  std::string_view name;
  FieldType type = FieldType::kNumber;
  uint32_t layers = 0;  // Bits of the layers that have it.
  uint64_t max = 0;     // Of a number.
  bool shown = false;   // Printed even where leaving it out means the same.
  std::span<const FieldWord> words;
  std::string_view help;
};

// All fields; the same name may be there again for other layers.
std::span<const FieldDef> AllFields();
// Null if the layer has no such field.
const FieldDef* FindField(LayerKind kind, std::string_view name);

// The value that `text` means. The error says what is expected, without the field's name.
absl::StatusOr<FieldValue> ParseFieldValue(const FieldDef& def, std::string_view text);
// Parses back to the same value.
std::string FieldValueText(const FieldDef& def, const FieldValue& value);

struct Field {
  const FieldDef* def = nullptr;
  FieldValue value;
  size_t column = 0;  // In the text that it was read from, from 1; 0: from none.
};

// One layer with all below it, as "udp(...)" writes it: from Ethernet on, but for a packet that an ICMP error
// quotes, which begins at IP.
struct Layer {
  LayerKind kind = LayerKind::kEth;
  size_t column = 0;
  std::vector<Field> fields;  // In the order given, no name twice.
  std::vector<Layer> inner;   // None or one: tagged (vlan), tunnelled (vxlan), quoted (icmp, icmp6).

  const Field* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // CHECKs that the layer has a field of that name. Replaces its value.
  void Set(std::string_view name, FieldValue value);
  void Remove(std::string_view name);
};

// How deep layers may be in each other, so that hostile text or frames cannot exhaust the stack.
inline constexpr size_t kMaxLayerDepth = 5;
// What size= fills a payload with.
inline constexpr uint8_t kFiller = 'a';

}  // namespace kasane::packet
