#include "model/field.h"

#include <algorithm>

#include "base/text.h"

namespace kasane::model {
namespace {

// Whether there is text to parse. A fault if it is required and missing, or unfit to be shown.
bool Usable(const Field& field, const std::string& text, Presence presence) {
  if (text.empty()) {
    if (presence == Presence::kRequired) field.Fail("is missing");
    return false;
  }
  // Counted only where it could matter: a character has at least one byte.
  if (const size_t length = text.size() > kMaxText ? CountCharacters(text) : 0; length > kMaxText) {
    field.Fail("has {} characters; at most {} are taken", length, kMaxText);
    return false;
  }
  if (HasControl(text)) {
    field.Fail("{} has control characters; remove them", Quoted(text));
    return false;
  }
  return true;
}

template <typename T, typename Parser>
std::optional<T> Parse(const Field& field, const std::string& text, Presence presence, Parser parse) {
  if (!Usable(field, text, presence)) return std::nullopt;
  absl::StatusOr<T> value = parse(text);
  if (value.ok()) return *std::move(value);
  field.Fail("{}", Message(value.status()));
  return std::nullopt;
}

// What kind of address cannot name one host, or nothing if it can.
std::string_view NotOneHost(const IpAddress& address) {
  if (address.IsUnspecified()) return "the unspecified address";
  if (address.IsMulticast()) return "a multicast address";
  if (address.IsLoopback()) return "a loopback address";
  if (address.is_v4() && address.v4_host_order() == 0xffffffff) return "the broadcast address";
  return {};
}

}  // namespace

std::string Field::Path() const {
  std::string path = parent_ == nullptr ? std::string() : parent_->Path();
  if (!path.empty() && !name_.empty()) path += '.';
  path += name_;
  if (index_ >= 0) path += fmt::format("[{}]", index_);
  return path;
}

bool HasControl(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    // C1 controls are C2 80 to C2 9F.
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kShown = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (text.size() > kShown) out += "...";
  return out + "'";
}

std::string ReadText(const Field& field, const std::string& text, Presence presence) {
  return Usable(field, text, presence) ? text : std::string();
}

std::string ReadName(const Field& field, const std::string& text) {
  std::string without_tabs = text;
  std::replace(without_tabs.begin(), without_tabs.end(), '\t', ' ');
  return Usable(field, without_tabs, Presence::kOptional) ? text : std::string();
}

std::optional<IpAddress> ReadHostAddress(const Field& field, const std::string& text, Presence presence) {
  const auto address = Parse<IpAddress>(field, text, presence, IpAddress::Parse);
  if (!address) return std::nullopt;
  if (const std::string_view kind = NotOneHost(*address); !kind.empty()) {
    field.Fail("{} is {}; give the address of one host", *address, kind);
    return std::nullopt;
  }
  return address;
}

std::optional<IpPrefix> ReadPrefix(const Field& field, const std::string& text, Presence presence) {
  return Parse<IpPrefix>(field, text, presence, IpPrefix::Parse);
}

std::optional<IpPrefix> ReadLenientPrefix(const Field& field, const std::string& text, Presence presence) {
  return Parse<IpPrefix>(field, text, presence, IpPrefix::ParseLenient);
}

std::optional<MacAddress> ReadMac(const Field& field, const std::string& text, Presence presence) {
  const auto mac = Parse<MacAddress>(field, text, presence, MacAddress::Parse);
  if (!mac) return std::nullopt;
  if (mac->IsZero() || mac->IsMulticast()) {
    field.Fail("{} is {}; give the address of one interface", *mac,
               mac->IsZero() ? "all zero" : "a group address (the lowest bit of its first octet is set)");
    return std::nullopt;
  }
  return mac;
}

bool CheckCount(const Field& field, int count, int limit) {
  if (count <= limit) return true;
  field.Fail("has {} items; at most {} are taken", count, limit);
  return false;
}

}  // namespace kasane::model
