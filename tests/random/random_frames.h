// Random frames in a cloud, from a seed: mostly such as get somewhere, some subtly wrong, some malformed.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "tests/random/kinds.h"
#include "tests/random/random.h"
#include "vswitch/host_view.h"
#include "vswitch/packet/testing/frames.h"

namespace kasane::random {

// One frame and where it enters.
struct Stimulus {
  std::optional<PortId> port;  // Absent: from a tunnel, with the two below.
  IpAddress outer_source;
  uint32_t vni = 0;
  frames::Bytes frame;
  std::string_view mutation = "none";      // What was made wrong of the frame; see mutate.h.
  std::vector<frames::Bytes> before = {};  // From the same place: other fragments of one datagram.
};

Stimulus RandomStimulus(const vswitch::HostView& view, Random& random, const Kinds& kinds);

}  // namespace kasane::random
