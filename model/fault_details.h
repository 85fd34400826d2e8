// Faults as the details of a gRPC status: a google.rpc.BadRequest with the first of them, and a
// google.rpc.ErrorInfo that counts all. Free of gRPC: the details are the bytes that grpc::Status carries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/decode.h"

namespace kasane::model {

// What details may have: they travel in a trailer, of which clients take 8 KiB by default.
inline constexpr size_t kMaxFaultsInDetails = 16;
inline constexpr size_t kMaxFaultDetailBytes = 4096;

struct FaultDetails {
  std::string reason;         // "INVALID_RESOURCES", "REVISION_MISMATCH"
  std::vector<Fault> faults;  // The first ones.
  size_t total = 0;           // How many there are.
};

// `code` and `message` are those of the status.
std::string EncodeFaultDetails(int code, std::string_view message, const FaultDetails& details);

// No faults if `bytes` has none, or is nothing of that kind.
FaultDetails DecodeFaultDetails(std::string_view bytes);

}  // namespace kasane::model
