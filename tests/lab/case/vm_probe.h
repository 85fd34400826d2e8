// One probe from a VM of a lab, sent by the VM's own kernel: an echo request, a datagram or a TCP connection to
// the probe port, and what comes back: the answer, or ICMP errors that quote it.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/lab/case/world.h"

namespace kasane::lab {

class VmProbe {
 public:
  virtual ~VmProbe() = default;

  virtual absl::Status Send() = 0;
  // Takes in what has arrived: names of who answered for UDP and TCP; for a ping `answered`.
  virtual void Receive(ProbeOutcome& outcome) = 0;
  // To be waited for.
  virtual std::vector<int> fds() const = 0;

  bool answered() const { return answered_; }
  // Text that the probe's frames carry.
  const std::string& token() const { return token_; }

  // Opens its sockets in the namespace `netns`.
  static absl::StatusOr<std::unique_ptr<VmProbe>> Open(const std::string& netns, const ProbeStep& step,
                                                       const IpAddress& to);

 protected:
  bool answered_ = false;
  std::string token_;
};

}  // namespace kasane::lab
