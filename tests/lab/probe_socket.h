// The sending side of probes: a datagram to port 7 of an address, answered by a responder.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/ip_address.h"

namespace kasane::lab {

// "NAME NONCE", as a responder sends it.
struct ProbeAnswer {
  std::string name;
  std::string_view nonce;  // Into the buffer of ProbeSocket::Receive; valid during its call.
  IpAddress from;
};

class ProbeSocket {
 public:
  // In the calling thread's namespace. Does not block.
  static absl::StatusOr<ProbeSocket> Open(IpFamily family);
  ProbeSocket(ProbeSocket&& other) noexcept;
  ProbeSocket& operator=(ProbeSocket&&) = delete;
  ~ProbeSocket();

  int fd() const { return fd_; }

  // No error if the sender has no route at all, as without an address of the family: not to be reached is an
  // outcome. Nor if the buffer is full: datagrams may be lost. Other errors: it did not leave.
  absl::Status Send(const IpAddress& to, const std::string& nonce) const;

  // Calls `take` for each answer that has arrived.
  void Receive(const std::function<void(const ProbeAnswer&)>& take) const;

 private:
  explicit ProbeSocket(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace kasane::lab
