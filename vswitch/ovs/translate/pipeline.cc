#include "vswitch/ovs/translate/pipeline.h"

#include <xxhash.h>

#include <algorithm>

namespace kasane::ovs {
namespace {

constexpr uint64_t kHashMask = (uint64_t{1} << 48) - 1;

// Stable between versions and machines: an agent that restarts finds its own cookies.
uint64_t Hash(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace

uint64_t CookieOf(const vswitch::Owner& owner, std::optional<vswitch::DropReason> drop) {
  const uint64_t kind = static_cast<uint64_t>(owner.kind);
  const uint64_t reason = drop ? static_cast<uint64_t>(*drop) : 0;
  return kind << 56 | reason << 48 | (Hash(owner.id) & kHashMask);
}

vswitch::OwnerKind CookieOwnerKind(uint64_t cookie) { return static_cast<vswitch::OwnerKind>(cookie >> 56); }

std::optional<vswitch::DropReason> CookieDropReason(uint64_t cookie) {
  const auto reason = static_cast<vswitch::DropReason>(static_cast<uint8_t>(cookie >> 48));
  const bool known = std::find(vswitch::kAllDropReasons.begin(), vswitch::kAllDropReasons.end(), reason) !=
                     vswitch::kAllDropReasons.end();
  return known ? std::optional(reason) : std::nullopt;
}

uint32_t NumberHash(const std::string& id) { return static_cast<uint32_t>(Hash(id)); }

}  // namespace kasane::ovs
