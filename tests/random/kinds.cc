#include "tests/random/kinds.h"

#include <array>

#include "base/status.h"

namespace kasane::random {
namespace {

struct Entry {
  Kind kind;
  std::string_view name;
  bool passes;
};

constexpr std::array<Entry, static_cast<size_t>(Kind::kCount)> kEntries = {{
    {Kind::kSubnets, "subnets", true},
    {Kind::kAddresses, "addresses", true},
    {Kind::kNoAddresses, "no_addresses", true},
    {Kind::kOwners, "owners", true},
    {Kind::kPairs, "pairs", true},
    {Kind::kIpv6Underlay, "ipv6_underlay", true},
    {Kind::kAh, "ah", true},
    {Kind::kHeaders, "headers", true},
    {Kind::kFragments, "fragments", true},
    {Kind::kNdOptions, "nd_options", true},
    {Kind::kMulticast, "multicast", true},
    {Kind::kSolicitRouter, "solicit_router", true},
    {Kind::kDhcp, "dhcp", true},
    {Kind::kNeverRouted, "never_routed", true},
    {Kind::kUnannounced, "unannounced", true},
    {Kind::kAimed, "aimed", true},
    {Kind::kChanges, "changes", true},
    {Kind::kSticky, "sticky", true},
    {Kind::kAnnouncements, "announcements", true},
}};

Kinds All() { return Kinds().set(); }

}  // namespace

std::string_view Label(Kind kind) {
  for (const Entry& entry : kEntries) {
    if (entry.kind == kind) return entry.name;
  }
  return "";
}

Kinds DefaultKinds() {
  Kinds kinds;
  for (const Entry& entry : kEntries) kinds.set(static_cast<size_t>(entry.kind), entry.passes);
  return kinds;
}

absl::StatusOr<Kinds> ParseKinds(std::string_view text) {
  Kinds kinds;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const bool out = word.substr(0, 1) == "-";
    if (out) word.remove_prefix(1);
    Kinds named = word == "all" ? All() : word == "default" ? DefaultKinds() : Kinds();
    for (const Entry& entry : kEntries) {
      if (entry.name == word) named.set(static_cast<size_t>(entry.kind));
    }
    if (named.none() && word != "none")
      return Invalid("there is no kind \"{}\"; known: {}", word, ToString(All()));
    kinds = out ? kinds & ~named : kinds | named;
  }
  return kinds;
}

std::string ToString(const Kinds& kinds) {
  std::string text;
  for (const Entry& entry : kEntries) {
    if (!Has(kinds, entry.kind)) continue;
    if (!text.empty()) text += ',';
    text += entry.name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace kasane::random
