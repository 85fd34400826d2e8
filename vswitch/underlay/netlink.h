// The kernel's routes, neighbours and addresses, over rtnetlink (libnl).
//
// One object per thread. It belongs to the network namespace of the thread that opened it.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/mac_address.h"

struct nl_sock;

namespace kasane::underlay {

struct LocalAddress {
  IpAddress address;
  std::string link;
  uint32_t mtu = 0;  // Of the link. 0: unknown.

  bool operator==(const LocalAddress&) const = default;
};

struct RouteInfo {
  uint32_t link_index = 0;
  std::string link;
  IpAddress next_hop;  // The gateway, or the destination itself.

  bool operator==(const RouteInfo&) const = default;
};

enum class NeighbourState : uint8_t { kUnknown, kResolving, kFresh, kStale, kFailed };

struct Neighbour {
  uint32_t link_index = 0;
  IpAddress address;
  NeighbourState state = NeighbourState::kUnknown;
  std::optional<MacAddress> mac;  // Known in kFresh and kStale.

  bool operator==(const Neighbour&) const = default;
};

class Netlink {
 public:
  struct SocketDeleter {
    void operator()(nl_sock* socket) const;
  };

  enum class Watch : uint8_t {
    kAddresses,   // Addresses and links.
    kNeighbours,  // These, routes and neighbours.
  };
  static absl::StatusOr<std::unique_ptr<Netlink>> Open(Watch watch);

  // Readable when something that is watched changed.
  int event_fd() const;
  // Consumes what is there: `on_neighbour` for each changed neighbour, and true if anything else changed or
  // events were lost.
  bool ReadEvents(const std::function<void(const Neighbour&)>& on_neighbour);

  absl::StatusOr<std::vector<LocalAddress>> Addresses();
  // An error says that there is no way to `destination`.
  absl::StatusOr<RouteInfo> RouteTo(const IpAddress& destination);
  // kUnknown if the kernel has no entry.
  absl::StatusOr<Neighbour> GetNeighbour(uint32_t link_index, const IpAddress& address);
  // Makes the kernel resolve, or confirm, a neighbour. The outcome is an event.
  absl::Status Probe(uint32_t link_index, const IpAddress& address);

 private:
  using Socket = std::unique_ptr<nl_sock, SocketDeleter>;
  Netlink(Socket requests, Socket events) : requests_(std::move(requests)), events_(std::move(events)) {}

  Socket requests_;
  Socket events_;
};

// The kernel has the openvswitch module, loaded or to be loaded on demand.
bool KernelHasOpenvswitch();

}  // namespace kasane::underlay
