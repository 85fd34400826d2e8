// Methods of a gRPC service whose requests are parsed within bounds (rpc/bounded_parse.h): gRPC hands them over
// as bytes.
//
// A class derived from the generated service names its methods in its constructor; their generated handlers are
// replaced.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/sync_stream.h>

#include <functional>
#include <utility>

#include "base/check.h"
#include "rpc/bounded_parse.h"
#include "rpc/status.h"

namespace kasane::rpc {

// A stream whose messages are read as bytes.
template <typename Response>
using BytesStream = grpc::ServerReaderWriter<Response, grpc::ByteBuffer>;

// `Base` is the generated service, or one of its With... templates. `Request::descriptor()` finds the index.
template <typename Base>
class BoundedService : public Base {
 protected:
  BoundedService(const google::protobuf::ServiceDescriptor& service, MemoryBudget& budget)
      : service_(service), budget_(budget) {}

  // `handle` may take what is in the request.
  template <typename Request, typename Response>
  void Unary(const char* method, const MessageLimits& limits,
             std::function<absl::Status(grpc::ServerContext&, Request&, Response&)> handle) {
    using Streamer = grpc::ServerUnaryStreamer<grpc::ByteBuffer, Response>;
    auto serve = [this, limits, handle = std::move(handle)](grpc::ServerContext* call, Streamer* stream) {
      grpc::ByteBuffer bytes;
      if (!stream->Read(&bytes))
        return grpc::Status(grpc::StatusCode::CANCELLED, "it ended before its request");
      Request request;
      absl::StatusOr<MemoryBudget::Lease> lease = ParseInto(bytes, limits, budget_, request);
      if (!lease.ok()) return ToRpc(lease.status());
      Response response;
      const absl::Status status = handle(*call, request, response);
      if (!status.ok()) return ToRpc(status);
      stream->Write(response, grpc::WriteOptions());
      return grpc::Status::OK;
    };
    this->MarkMethodStreamed(
        IndexOf(method),
        new grpc::internal::StreamedUnaryHandler<grpc::ByteBuffer, Response>(std::move(serve)));
  }

  template <typename Response>
  void Streaming(const char* method,
                 std::function<absl::Status(grpc::ServerContext&, BytesStream<Response>&)> handle) {
    auto serve = [handle = std::move(handle)](grpc::ServerContext* call, BytesStream<Response>* stream) {
      return ToRpc(handle(*call, *stream));
    };
    this->MarkMethodStreamed(
        IndexOf(method),
        new grpc::internal::TemplatedBidiStreamingHandler<BytesStream<Response>, false>(std::move(serve)));
  }

  MemoryBudget& budget() const { return budget_; }

 private:
  int IndexOf(const char* method) const {
    const google::protobuf::MethodDescriptor* found = service_.FindMethodByName(method);
    KASANE_CHECK(found != nullptr);
    return found->index();
  }

  const google::protobuf::ServiceDescriptor& service_;
  MemoryBudget& budget_;
};

}  // namespace kasane::rpc
