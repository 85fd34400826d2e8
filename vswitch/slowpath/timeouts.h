// How long the slow path keeps a packet, for each thing that it waits for.
#pragma once

#include <chrono>

#include "vswitch/slowpath/reassembly.h"
#include "vswitch/slowpath/waiting_packets.h"

namespace kasane::slowpath {

struct Timeouts {
  std::chrono::milliseconds resolve = kResolveTimeout;        // The answer to a router's question.
  std::chrono::milliseconds reassembly = kReassemblyTimeout;  // The other fragments of a datagram.
};

}  // namespace kasane::slowpath
