// From the layers of the packet syntax to the bytes of a frame: whatever is not given is filled in so that the
// frame is right, lengths and checksums included, and what is given is believed, also where it makes it wrong.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "vswitch/packet/packet_layer.h"

namespace kasane::packet {

// The Ethernet frame, without FCS. INVALID_ARGUMENT, naming the column and the field, if a field is missing
// that nothing else tells, or if fields contradict each other.
absl::StatusOr<std::vector<uint8_t>> EncodeLayers(const Layer& layer);

}  // namespace kasane::packet
