#include "rpc/message_cost.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <map>

#include "base/status.h"

namespace kasane::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

constexpr int kMaxDepth = 16;
// Of the C++ objects, with what the allocator adds.
constexpr size_t kMessageBytes = 64;
constexpr size_t kBytesPerField = 8;
constexpr size_t kStringBytes = 64;
constexpr size_t kScalarBytes = 8;
constexpr size_t kUnknownBytes = 48;

class Walk {
 public:
  Walk(google::protobuf::io::CodedInputStream& in, size_t max_bytes) : in_(in), max_bytes_(max_bytes) {}

  // False: it ends too early, is no message, or costs too much.
  bool Message(const Descriptor& type, int depth) {
    Add(kMessageBytes + kBytesPerField * static_cast<size_t>(type.field_count()));
    std::map<int, size_t> lists;
    for (;;) {
      if (TooMuch()) return false;
      const uint32_t tag = in_.ReadTag();
      if (tag == 0) break;
      const FieldDescriptor* field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      if (depth == 0 && field != nullptr && field->message_type() != nullptr) ++lists[field->number()];
      if (!Field(field, tag, depth)) return false;
    }
    for (const auto& [number, count] : lists) cost_.elements = std::max(cost_.elements, count);
    return in_.ConsumedEntireMessage();
  }

  const MessageCost& cost() const { return cost_; }
  bool TooMuch() const { return cost_.bytes > max_bytes_; }

 private:
  void Add(size_t bytes) { cost_.bytes += bytes; }

  bool Field(const FieldDescriptor* field, uint32_t tag, int depth) {
    if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      return Delimited(field, depth);
    }
    Add(field == nullptr ? kUnknownBytes : kScalarBytes);
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT: {
        uint64_t value = 0;
        return in_.ReadVarint64(&value);
      }
      case WireFormatLite::WIRETYPE_FIXED64:
        return in_.Skip(8);
      case WireFormatLite::WIRETYPE_FIXED32:
        return in_.Skip(4);
      default:
        return false;  // Groups: no message of ours has any.
    }
  }

  bool Delimited(const FieldDescriptor* field, int depth) {
    uint32_t size = 0;
    if (!in_.ReadVarint32(&size) || static_cast<int>(size) < 0) return false;
    if (field == nullptr || field->message_type() == nullptr) {
      const bool packed = field != nullptr && field->cpp_type() != FieldDescriptor::CPPTYPE_STRING;
      Add(packed ? size * kScalarBytes : kStringBytes + size);
      return in_.Skip(static_cast<int>(size));
    }
    if (depth == kMaxDepth) return false;
    const auto limit = in_.PushLimit(static_cast<int>(size));
    if (in_.BytesUntilLimit() < static_cast<int>(size)) return false;  // Longer than what it is in.
    if (!Message(*field->message_type(), depth + 1)) return false;
    in_.PopLimit(limit);
    return true;
  }

  google::protobuf::io::CodedInputStream& in_;
  const size_t max_bytes_;
  MessageCost cost_;
};

}  // namespace

absl::StatusOr<MessageCost> CostOf(const grpc::ByteBuffer& buffer, const Descriptor& type, size_t max_bytes) {
  grpc::ByteBuffer copy = buffer;  // Shares the bytes.
  grpc::ProtoBufferReader reader(&copy);
  if (!reader.status().ok()) return Invalid("the message cannot be read");
  google::protobuf::io::CodedInputStream in(&reader);
  Walk walk(in, max_bytes);
  const auto whole = in.PushLimit(static_cast<int>(buffer.Length()));
  const bool valid = walk.Message(type, 0);
  in.PopLimit(whole);
  if (walk.TooMuch()) {
    return Error(absl::StatusCode::kResourceExhausted,
                 "the message would need more than {} MiB of memory; send less in one message",
                 max_bytes >> 20);
  }
  if (!valid) return Invalid("the message is damaged, or nested too deeply");
  return walk.cost();
}

}  // namespace kasane::rpc
