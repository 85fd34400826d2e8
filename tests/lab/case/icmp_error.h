// The names of ICMP and ICMPv6 errors in case files.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ip_address.h"

namespace kasane::lab {

// An error if `text` is no name that IcmpErrorText gives; it lists those.
absl::Status CheckIcmpErrorText(std::string_view text);

// "ttl_exceeded", "frag_needed 1400", "icmp 3/13"; `info` is the last 32 bits of the ICMP header in host order.
// Empty: the type is no error.
std::string IcmpErrorText(IpFamily family, uint8_t type, uint8_t code, uint32_t info);

}  // namespace kasane::lab
