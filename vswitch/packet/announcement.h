// Announcements: frames by which a host says that it has an address. Gratuitous ARP (sender and target are the
// same address), any ARP reply, any neighbour advertisement, to everybody or to the one that asked (RFC 5227,
// 3; RFC 4861, 7.2.6; RFC 5798, 6.4).
#pragma once

#include <optional>

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "vswitch/packet/packet.h"

namespace kasane::packet {

struct AnnouncedAddress {
  IpAddress ip;
  MacAddress mac;
  bool router = false;  // An advertisement's R.

  bool operator==(const AnnouncedAddress&) const = default;
};

// What `packet` announces: a unicast address and a unicast MAC. An advertisement in answer to one need not name
// the MAC (RFC 4861, 4.4): then it is the frame's.
std::optional<AnnouncedAddress> AnnouncedBy(const Packet& packet);

// A request of ARP for the sender's own address: it is never answered.
bool IsGratuitousRequest(const Packet& packet);

}  // namespace kasane::packet
