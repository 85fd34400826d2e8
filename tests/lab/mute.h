// Holds back what a VM's kernel sends.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>

namespace kasane::lab {

// In the calling thread's namespace: gives `interface` a queue without room, or takes it away. Frames of packet
// sockets that bypass the queue still go out.
absl::Status SetMuted(const std::string& interface, bool muted);

// In the calling thread's namespace: bytes of IP packet that `interface` takes.
absl::Status SetMtu(const std::string& interface, uint32_t mtu);

// The sender computes checksums itself: the switch reads frames through a packet socket, which sees one that is
// still to be computed as a wrong one.
absl::Status DisableChecksumOffload(const std::string& interface);

}  // namespace kasane::lab
