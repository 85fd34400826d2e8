// The agent's slow path with a fence in front: a packet that the test's own flow hands to it goes back to where
// it came from, so that everything before it has been handled.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <vector>

#include "vswitch/ovs/openflow/slow_path_worker.h"

namespace kasane::differential {

// Nothing that the agent's own flows say.
inline constexpr std::string_view kToTheFence = "controller(userdata=66.65.6e.63.65)";

class FencedSlowPath : public ovs::SlowPathWorker {
 public:
  using SlowPathWorker::SlowPathWorker;

  std::vector<ovs::PacketOut> Handle(const ovs::PacketIn& in,
                                     std::chrono::steady_clock::time_point now) override {
    if (in.userdata != std::vector<uint8_t>{0x66, 0x65, 0x6e, 0x63, 0x65})
      return SlowPathWorker::Handle(in, now);
    return {{in.frame, fmt::format("output:{}", in.in_port)}};
  }
};

}  // namespace kasane::differential
