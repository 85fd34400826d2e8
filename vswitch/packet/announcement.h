// Announcements: frames by which a host tells everybody that it has an address now. Gratuitous ARP (sender and
// target are the same address), an ARP reply to everybody, an unsolicited neighbour advertisement (RFC 5227,
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

  bool operator==(const AnnouncedAddress&) const = default;
};

// What `packet` announces. Nothing unless it goes to an Ethernet group, and says a unicast MAC.
std::optional<AnnouncedAddress> AnnouncedBy(const Packet& packet);

// A request of ARP for the sender's own address: it is never answered.
bool IsGratuitousRequest(const Packet& packet);

}  // namespace kasane::packet
