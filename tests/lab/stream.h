// A steady stream of probes from a VM, to see whether something costs packets.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/ip_address.h"

namespace kasane::lab {

struct StreamOptions {
  std::string lab;
  std::string from;  // Node name of the VM.
  IpAddress to;
  uint32_t rate = 1000;  // Packets per second.
};

struct StreamResult {
  uint64_t sent = 0;
  uint64_t answered = 0;
};

// Sends until SIGINT or SIGTERM, which must not have been handled by others. Says "streaming" on standard
// output at the first answer. What was not answered before a probe sent behind the last one is lost.
absl::StatusOr<StreamResult> RunStream(const StreamOptions& options);

// The same until `stop` becomes readable. Calls `streaming` at the first answer. Moves the calling thread into
// the VM's namespace for good.
absl::StatusOr<StreamResult> RunStreamUntil(const StreamOptions& options, int stop,
                                            const std::function<void()>& streaming);

}  // namespace kasane::lab
