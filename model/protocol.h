// The versions and capabilities of the state protocol (kasane/v1/state.proto) that both ends of this release
// speak.
#pragma once

#include <cstdint>

namespace kasane::model {

struct ProtocolRange {
  uint32_t oldest = 1;
  uint32_t newest = 1;

  bool Contains(uint32_t version) const { return oldest <= version && version <= newest; }
  bool operator==(const ProtocolRange&) const = default;
};

inline constexpr ProtocolRange kSpokenProtocols{1, 2};
// From here on Hello says a range, and Welcome the version chosen.
inline constexpr uint32_t kProtocolWithRange = 2;

// A capability of an agent: it takes a transaction in several batches; and of a controller that makes use of
// it.
inline constexpr const char* kBatchParts = "batch:parts";

}  // namespace kasane::model
