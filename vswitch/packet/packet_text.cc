#include "vswitch/packet/packet_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/status.h"
#include "vswitch/packet/hex.h"
#include "vswitch/packet/packet_dissect.h"
#include "vswitch/packet/packet_encode.h"
#include "vswitch/packet/packet_syntax.h"

namespace kasane::packet {
namespace {

std::string HexFrame(std::span<const uint8_t> frame) { return "hex:" + HexText(frame); }

// Fields that say how to build a frame, not what it is like.
absl::Status CheckMatchable(const Layer& layer) {
  for (const Field& field : layer.fields) {
    if (field.def->name == "truncate" || field.def->name == "pad_to") {
      return Invalid("column {}: {}: says how to build a frame; nothing to compare", field.column,
                     field.def->name);
    }
  }
  for (const Layer& inner : layer.inner) RETURN_IF_ERROR(CheckMatchable(inner));
  return absl::OkStatus();
}

// size= is another way to see the payload.
std::optional<FieldValue> SeenValue(const Layer& seen, std::string_view name) {
  const Field* field = seen.Find(name == "size" ? "payload" : name);
  if (name == "size") return field ? std::get<FieldBytes>(field->value).size() : uint64_t{0};
  if (field != nullptr) return field->value;
  const FieldDef* def = FindField(seen.kind, name);
  if (def->type == FieldType::kFlag || name == "frag_offset") return uint64_t{0};
  if (def->type == FieldType::kBytes || def->type == FieldType::kWords) return FieldBytes();
  return std::nullopt;
}

std::optional<std::string> LayerMismatch(const Layer& expected, const Layer& seen) {
  for (const Field& field : expected.fields) {
    const std::string_view name = field.def->name;
    const auto value = SeenValue(seen, name);
    if (value == field.value) continue;
    const std::string wanted = FieldValueText(*field.def, field.value);
    if (!value) return fmt::format("{}: expected {}, and the {} has none", name, wanted, Name(seen.kind));
    return fmt::format("{}: expected {}, seen {}", name, wanted, FieldValueText(*field.def, *value));
  }
  if (expected.inner.empty()) return std::nullopt;
  const Layer& inner = expected.inner.front();
  if (seen.inner.empty())
    return fmt::format("{}: expected in the {}, and it is not there", Name(inner.kind), Name(seen.kind));
  const auto mismatch = LayerMismatch(inner, seen.inner.front());
  if (!mismatch) return std::nullopt;
  return fmt::format("{}: {}", Name(inner.kind), *mismatch);
}

// Checksums of the outermost IP packet that are not what they should be, unless `expected` speaks of them.
std::optional<std::string> ChecksumMismatch(const Layer& expected, const Layer& seen,
                                            std::span<const uint8_t> frame) {
  for (const char* name : {"ip_checksum", "checksum"}) {
    const Field* field = seen.Find(name);
    const bool none = field != nullptr && std::get<uint64_t>(field->value) == 0 && seen.Has("udp_len");
    if (field == nullptr || none || expected.Has(name) ||
        SeenValue(seen, "more_fragments") == FieldValue(uint64_t{1}))
      continue;
    Layer right = seen;
    right.Remove(name);
    const auto encoded = EncodeLayers(right);
    if (!encoded.ok() || std::equal(encoded->begin(), encoded->end(), frame.begin(), frame.end())) continue;
    const auto again = Dissect(*encoded, &seen);
    if (!again || !again->Has(name)) continue;
    return fmt::format("{}: should be {}, seen {}", name, FieldValueText(*field->def, again->Find(name)->value),
                       FieldValueText(*field->def, field->value));
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ParsePacketText(std::string_view text) {
  if (IsHexFrame(text)) return ParseHexFrame(text);
  ASSIGN_OR_RETURN(const Layer layer, ParseLayers(text));
  return EncodeLayers(layer);
}

std::string PacketText(std::span<const uint8_t> frame) {
  Layer as_ethernet;
  for (const Layer* as : {static_cast<const Layer*>(nullptr), static_cast<const Layer*>(&as_ethernet)}) {
    const auto layer = Dissect(frame, as);
    if (!layer) continue;
    std::string text = LayersText(Shortened(*layer, frame));
    const auto again = ParsePacketText(text);
    if (again.ok() && std::equal(again->begin(), again->end(), frame.begin(), frame.end())) return text;
  }
  return HexFrame(frame);
}

absl::StatusOr<FieldMatch> FieldMatch::Parse(std::string_view text) {
  FieldMatch match;
  if (IsHexFrame(text)) {
    ASSIGN_OR_RETURN(match.exact_, ParseHexFrame(text));
    return match;
  }
  ASSIGN_OR_RETURN(match.layer_, ParseLayers(text));
  RETURN_IF_ERROR(CheckMatchable(*match.layer_));
  return match;
}

std::optional<std::string> FieldMatch::Mismatch(std::span<const uint8_t> frame) const {
  if (!layer_) {
    if (std::equal(exact_.begin(), exact_.end(), frame.begin(), frame.end())) return std::nullopt;
    return fmt::format("expected {}, seen {}", HexFrame(exact_), HexFrame(frame));
  }
  const auto seen = Dissect(frame, &*layer_);
  if (!seen) return fmt::format("expected {}, seen {}", Name(layer_->kind), PacketText(frame));
  if (auto mismatch = LayerMismatch(*layer_, *seen)) return mismatch;
  return ChecksumMismatch(*layer_, *seen, frame);
}

}  // namespace kasane::packet
