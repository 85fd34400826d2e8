// absl::Status as gRPC's status and back: the codes are the same numbers, and the details are a payload.
#pragma once

#include <absl/status/status.h>
#include <absl/strings/cord.h>
#include <grpcpp/support/status.h>

#include <string>

#include "base/status.h"

namespace kasane::rpc {

// Of the payload that holds a serialized google.rpc.Status.
inline constexpr const char* kDetailsUrl = "type.googleapis.com/google.rpc.Status";

inline grpc::Status ToRpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const auto details = status.GetPayload(kDetailsUrl);
  return {static_cast<grpc::StatusCode>(status.code()), Message(status),
          details ? std::string(*details) : std::string()};
}

inline absl::Status FromRpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status out(static_cast<absl::StatusCode>(status.error_code()), Absl(status.error_message()));
  if (!status.error_details().empty()) out.SetPayload(kDetailsUrl, absl::Cord(status.error_details()));
  return out;
}

// The serialized google.rpc.Status, or "".
inline std::string DetailsOf(const absl::Status& status) {
  const auto details = status.GetPayload(kDetailsUrl);
  return details ? std::string(*details) : std::string();
}

}  // namespace kasane::rpc
