// What a serialized message will cost once it is parsed, found without parsing it: two bytes on the wire may
// become an object of a hundred.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>

namespace grpc {
class ByteBuffer;
}  // namespace grpc

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace kasane::rpc {

struct MessageCost {
  size_t bytes = 0;     // Of memory, an upper bound.
  size_t elements = 0;  // Of the longest list of messages directly in the message.
};

// INVALID_ARGUMENT: it is no message at all, or nested too deeply. Stops early with RESOURCE_EXHAUSTED when the
// cost exceeds `max_bytes`.
absl::StatusOr<MessageCost> CostOf(const grpc::ByteBuffer& buffer, const google::protobuf::Descriptor& type,
                                   size_t max_bytes);

}  // namespace kasane::rpc
