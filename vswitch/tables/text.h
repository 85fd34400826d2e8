// Forwarding tables as text, for people: no word of a datapath in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vswitch/tables/forwarding_tables.h"

namespace kasane::tables {

struct ClaimantText {
  vswitch::Owner owner;
  std::string rank;  // "claim", "local", ...
  std::string value;
};

struct EntryText {
  std::string_view family;  // "mac", "answer", ...
  // Whose it is, or where it leads: of routes that lead into one network, that.
  std::optional<NetworkId> network;
  std::string key;
  std::vector<ClaimantText> claimants;  // In the order that decides. Not empty.
  bool in_force = true;                 // The first of them counts; else nobody does.
};

// Every entry, family by family, by key.
std::vector<EntryText> Describe(const ForwardingTables& tables);

// The names of the families, in that order.
std::vector<std::string_view> FamilyNames();

// A line a claimant, stable for equal tables.
std::string ToString(const ForwardingTables& tables);

}  // namespace kasane::tables
