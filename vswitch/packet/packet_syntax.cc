#include "vswitch/packet/packet_syntax.h"

#include <algorithm>

#include "base/hex_digit.h"
#include "base/status.h"

namespace kasane::packet {
namespace {

constexpr std::string_view kHex = "hex:";

bool IsNameCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Hostile text in a message: short, and without what would garble a terminal.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string shown;
  for (const char c : text.substr(0, kMost)) {
    shown += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
  }
  return text.size() > kMost ? shown + "..." : shown;
}

std::string LayerNames() {
  std::string list;
  for (size_t i = 0; i < kLayerKinds; ++i) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", Name(static_cast<LayerKind>(i)));
  }
  return list;
}

std::string FieldNames(LayerKind kind) {
  std::string list;
  for (const FieldDef& def : AllFields()) {
    if ((def.layers & Bit(kind)) != 0) list += fmt::format("{}{}", list.empty() ? "" : ", ", def.name);
  }
  return list;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Layer> Whole() {
    SkipBlanks();
    ASSIGN_OR_RETURN(Layer layer, ParseLayer(ReadName(), 1));
    SkipBlanks();
    if (at_ != text_.size()) return Fault(at_, "the packet ends here; there is more behind it");
    return layer;
  }

 private:
  struct Word {
    std::string_view text;
    size_t at = 0;
  };

  absl::Status Fault(size_t at, std::string_view text) const { return Invalid("column {}: {}", at + 1, text); }
  bool AtEnd() const { return at_ == text_.size(); }
  void SkipBlanks() {
    while (!AtEnd() && IsBlank(text_[at_])) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Word ReadName() {
    SkipBlanks();
    const size_t start = at_;
    while (!AtEnd() && IsNameCharacter(text_[at_])) ++at_;
    return {text_.substr(start, at_ - start), start};
  }

  absl::StatusOr<Layer> ParseLayer(const Word& name, size_t depth) {
    const auto kind = LayerKindFromText(name.text);
    if (!kind) {
      const std::string_view rest = text_.substr(name.at);
      return Fault(name.at, fmt::format("{} is no layer; there are {} (or hex:...)",
                                        rest.empty() ? "the end" : Shown(name.text.empty() ? rest : name.text),
                                        LayerNames()));
    }
    if (depth > kMaxLayerDepth) return Fault(name.at, "too many layers in each other");
    Layer layer{*kind, name.at + 1, {}, {}};
    if (!Take('(')) return Fault(at_, fmt::format("{}: ( is missing behind it", name.text));
    if (Take(')')) return layer;
    do {
      RETURN_IF_ERROR(ParseItem(layer, depth));
    } while (Take(','));
    if (!Take(')')) {
      return Fault(at_, fmt::format("{}: , or ) is expected{}", name.text, AtEnd() ? ", and it ends" : ""));
    }
    return layer;
  }

  absl::Status ParseItem(Layer& layer, size_t depth) {
    const Word name = ReadName();
    SkipBlanks();
    if (!AtEnd() && text_[at_] == '(') return ParseInner(layer, name, depth);
    const FieldDef* def = FindField(layer.kind, name.text);
    if (def == nullptr) {
      return Fault(name.at, fmt::format("{} has no field {}; it has {}", Name(layer.kind),
                                        Shown(name.text.empty() ? text_.substr(name.at, 8) : name.text),
                                        FieldNames(layer.kind)));
    }
    if (layer.Has(name.text)) return Fault(name.at, fmt::format("{}: is there twice", name.text));
    const bool has_value = Take('=');
    if (def->type == FieldType::kFlag && !has_value) {
      layer.fields.push_back({def, FieldValue(uint64_t{1}), name.at + 1});
      return absl::OkStatus();
    }
    if (!has_value) return Fault(at_, fmt::format("{}: =value is missing behind it", name.text));
    SkipBlanks();
    const size_t value_at = at_;
    ASSIGN_OR_RETURN(const std::string_view text, ReadValue(name.text));
    absl::StatusOr<FieldValue> value = ParseFieldValue(*def, text);
    if (!value.ok()) {
      return Fault(value_at, fmt::format("{}: {}", name.text, Message(value.status())));
    }
    layer.fields.push_back({def, *std::move(value), value_at + 1});
    return absl::OkStatus();
  }

  absl::Status ParseInner(Layer& layer, const Word& name, size_t depth) {
    const bool quotes = layer.kind == LayerKind::kIcmp || layer.kind == LayerKind::kIcmp6;
    if (!quotes && layer.kind != LayerKind::kVlan && layer.kind != LayerKind::kVxlan) {
      return Fault(name.at, fmt::format("{} holds no other layer", Name(layer.kind)));
    }
    if (!layer.inner.empty()) return Fault(name.at, fmt::format("{} holds one layer only", Name(layer.kind)));
    ASSIGN_OR_RETURN(Layer inner, ParseLayer(name, depth + 1));
    const bool no_ip =
        inner.kind == LayerKind::kEth || inner.kind == LayerKind::kArp || inner.kind == LayerKind::kVlan;
    if (quotes && no_ip) return Fault(name.at, fmt::format("{} quotes an IP packet", Name(layer.kind)));
    layer.inner.push_back(std::move(inner));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string_view> ReadValue(std::string_view field) {
    const size_t start = at_;
    if (!AtEnd() && text_[at_] == '"') {
      const size_t end = text_.find('"', start + 1);
      if (end == std::string_view::npos) return Fault(start, fmt::format("{}: the \" is not closed", field));
      at_ = end + 1;
      return text_.substr(start, at_ - start);
    }
    at_ = std::min(text_.find_first_of(",()=\"", start), text_.size());
    size_t end = at_;
    while (end > start && IsBlank(text_[end - 1])) --end;
    if (end == start) return Fault(start, fmt::format("{}: the value is missing", field));
    return text_.substr(start, end - start);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<Layer> ParseLayers(std::string_view text) { return Parser(text).Whole(); }

std::string LayersText(const Layer& layer) {
  std::string items;
  const auto add = [&items](std::string_view item) {
    if (!items.empty()) items += ", ";
    items += item;
  };
  for (const Field& field : layer.fields) {
    if (field.def->type == FieldType::kFlag && std::get<uint64_t>(field.value) == 1) {
      add(field.def->name);
    } else {
      add(fmt::format("{}={}", field.def->name, FieldValueText(*field.def, field.value)));
    }
  }
  for (const Layer& inner : layer.inner) add(LayersText(inner));
  return fmt::format("{}({})", Name(layer.kind), items);
}

bool IsHexFrame(std::string_view text) {
  const size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(start, kHex.size()) == kHex;
}

absl::StatusOr<std::vector<uint8_t>> ParseHexFrame(std::string_view text) {
  std::vector<uint8_t> bytes;
  int high = -1;
  for (size_t i = text.find(kHex) + kHex.size(); i < text.size(); ++i) {
    const int digit = HexDigit(text[i]);
    if (digit < 0 && (!IsBlank(text[i]) && text[i] != ':')) {
      return Invalid("column {}: hex: {} is no hexadecimal digit", i + 1, Shown(text.substr(i, 1)));
    }
    if (digit < 0 && high >= 0) return Invalid("column {}: hex: an octet has two digits", i + 1);
    if (digit < 0) continue;
    if (high >= 0) bytes.push_back(static_cast<uint8_t>(high << 4 | digit));
    high = high < 0 ? digit : -1;
  }
  if (high >= 0) return Invalid("column {}: hex: an octet has two digits, and it ends", text.size() + 1);
  return bytes;
}

}  // namespace kasane::packet
