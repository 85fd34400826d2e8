// What an IP packet carries, read by sim itself: a second parser, independent of packet::Packet, which the slow
// path and the walk share, so that an error in that one does not make sim agree with what it should catch. Used
// by port security, which decides by what is behind extension headers and in neighbour messages' options.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/ip_address.h"
#include "base/mac_address.h"

namespace kasane::sim {

struct UpperLayer {
  uint8_t protocol = 0;              // Behind IPv6's extension headers, the authentication header among them.
  bool first_fragment = false;       // With more to come.
  bool later_fragment = false;       // What it carries cannot be known.
  std::span<const uint8_t> message;  // From the upper header to the end of the packet.
};

// Nothing if `frame` is no IP packet, or its headers are cut short.
std::optional<UpperLayer> FindUpperLayer(std::span<const uint8_t> frame);

// Whether a first fragment lacks the header that says what the datagram is (RFC 7112; RFC 3128 for TCP), or has
// one of zeros, which a switch cannot tell from none.
bool HidesItsHeader(const UpperLayer& upper);

// A neighbour solicitation or advertisement (RFC 4861, 4.3 and 4.4).
struct NeighbourMessage {
  bool solicitation = false;
  bool code_is_zero = false;
  std::optional<IpAddress> target;  // Nothing if it is cut short.
  // The source (solicitation) or target (advertisement) link-layer address.
  std::optional<MacAddress> link_layer;
  bool repeats_an_option = false;  // A link-layer address twice: one that the receiver takes, one that we see.
};

std::optional<NeighbourMessage> ReadNeighbourMessage(const UpperLayer& upper);

}  // namespace kasane::sim
