// From the bytes of a frame to the layers of the packet syntax: the reverse of packet_encode.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vswitch/packet/packet_layer.h"

namespace kasane::packet {

// Every field that the frame has, computed ones included. Never reads beyond the frame: what is truncated or
// not understood is the payload of the layer before. With `as`, the outermost layers are read as those of `as`
// (icmp6 for a neighbour solicitation, say); none if the frame is no such thing or has less than an Ethernet
// header.
std::optional<Layer> Dissect(std::span<const uint8_t> frame, const Layer* as = nullptr);

// `layer` without the fields that mean the same when they are left out, but for those that people want to see.
// `frame` is what it encodes to.
Layer Shortened(Layer layer, std::span<const uint8_t> frame);

}  // namespace kasane::packet
