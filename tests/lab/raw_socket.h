// A packet socket on an interface: sends frames as they are, and sees every frame that the interface receives
// or, from its own stack, sends.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::lab {

struct RawFrame {
  std::vector<uint8_t> bytes;  // From the Ethernet header on, an 802.1Q tag put back in.
  bool outgoing = false;       // Sent by the interface's own stack.
};

class RawSocket {
 public:
  // In the calling thread's namespace. Does not block.
  static absl::StatusOr<RawSocket> Open(const std::string& interface);
  RawSocket(RawSocket&& other) noexcept;
  RawSocket& operator=(RawSocket&&) = delete;
  ~RawSocket();

  int fd() const { return fd_; }

  // Past the interface's queue, which may be shut for its own stack.
  absl::Status Send(const std::vector<uint8_t>& frame) const;
  // What has arrived since the last call. An error if the socket's buffer was too small for it.
  absl::StatusOr<std::vector<RawFrame>> Receive() const;

 private:
  explicit RawSocket(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace kasane::lab
