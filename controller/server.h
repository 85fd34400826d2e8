// The controller as a whole: store, state and the gRPC server on top.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "rpc/listen_address.h"

namespace kasane::controller {

class ControllerServer {
 public:
  // Opens the store, loads what it holds and listens. The error names what is in the way.
  static absl::StatusOr<std::unique_ptr<ControllerServer>> Start(const rpc::ListenAddress& listen,
                                                                 const std::string& store);
  // Ends all calls and streams, writes what is not written, closes the store.
  ~ControllerServer();

  // With the port that it got.
  const rpc::ListenAddress& address() const;

 private:
  class Impl;
  explicit ControllerServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::controller
