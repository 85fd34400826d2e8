#include "rpc/bounded_parse.h"

namespace kasane::rpc {

absl::StatusOr<MemoryBudget::Lease> ParseInto(grpc::ByteBuffer& buffer, const MessageLimits& limits,
                                              MemoryBudget& budget, google::protobuf::Message& out) {
  if (buffer.Length() > limits.max_bytes) {
    return Error(absl::StatusCode::kResourceExhausted, "a {} of {} bytes; at most {} are taken",
                 out.GetDescriptor()->name(), buffer.Length(), limits.max_bytes);
  }
  ASSIGN_OR_RETURN(const MessageCost cost, CostOf(buffer, *out.GetDescriptor(), limits.max_cost));
  if (cost.elements > limits.max_elements) {
    return Error(absl::StatusCode::kResourceExhausted, "a {} with {} items; at most {} are taken",
                 out.GetDescriptor()->name(), cost.elements, limits.max_elements);
  }
  ASSIGN_OR_RETURN(MemoryBudget::Lease lease, budget.Take(cost.bytes));
  grpc::ProtoBufferReader reader(&buffer);
  const bool parsed = out.ParseFromZeroCopyStream(&reader);
  buffer.Clear();
  if (!parsed) return Invalid("the {} cannot be parsed", out.GetDescriptor()->name());
  return lease;
}

}  // namespace kasane::rpc
