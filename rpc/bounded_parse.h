// Messages of peers, parsed within bounds: what one may cost is known and taken from a budget before it is
// parsed.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "base/status.h"
#include "rpc/memory_budget.h"
#include "rpc/message_cost.h"

namespace kasane::rpc {

struct MessageLimits {
  size_t max_bytes = 0;     // On the wire.
  size_t max_elements = 0;  // Of a list in it.
  size_t max_cost = 0;      // Of memory once it is parsed.
};

// Checks `buffer` and takes its cost from `budget`. Frees the buffer.
absl::StatusOr<MemoryBudget::Lease> ParseInto(grpc::ByteBuffer& buffer, const MessageLimits& limits,
                                              MemoryBudget& budget, google::protobuf::Message& out);

}  // namespace kasane::rpc
