// Answers a lab's probes: a datagram "NONCE" to port 7 gets "NAME NONCE" back, from the address that was
// asked; so does the first segment of a TCP connection, which is closed then. The name says which VM answered:
// reaching another tenant's VM with the same address must not look like success.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>

namespace kasane::lab {

inline constexpr uint16_t kProbePort = 7;

// Answers in the calling process's namespace until the process is killed. Writes a byte to `ready_fd` and
// closes it once its sockets are open; -1: tells nobody.
absl::Status RunResponder(const std::string& name, int ready_fd);

}  // namespace kasane::lab
