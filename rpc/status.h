// absl::Status as gRPC's status: the codes are the same numbers.
#pragma once

#include <absl/status/status.h>
#include <grpcpp/support/status.h>

#include "base/status.h"

namespace kasane::rpc {

inline grpc::Status ToRpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), Message(status)};
}

}  // namespace kasane::rpc
