// What hosts say of their addresses, as frames.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "vswitch/packet/testing/frames.h"

namespace kasane::random {

// To everybody: a gratuitous ARP request, or an unsolicited advertisement.
frames::Bytes Announcement(const MacAddress& mac, const IpAddress& ip);

// Whether somebody has the address, before it is taken (RFC 5227, RFC 4862).
frames::Bytes Probe(const MacAddress& mac, const IpAddress& ip);

// An advertisement with two target link-layer addresses.
frames::Bytes TwiceAdvertised(const IpAddress& ip, const MacAddress& mac, const MacAddress& second);

}  // namespace kasane::random
