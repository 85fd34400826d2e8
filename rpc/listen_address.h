// Where the controller listens: "HOST:PORT" as an operator writes it.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ip_address.h"

namespace kasane::rpc {

struct ListenAddress {
  IpAddress ip;
  uint16_t port = 0;  // 0: any that is free.

  // "127.0.0.1:6650", "[::1]:6650" or "localhost:6650" (which is 127.0.0.1).
  static absl::StatusOr<ListenAddress> Parse(std::string_view text);
  std::string ToString() const;

  bool operator==(const ListenAddress&) const = default;
};

// Why nothing can listen there: in use, not an address of this machine, ... OK if something can.
absl::Status TryListen(const ListenAddress& address);

}  // namespace kasane::rpc
