// Keeps the next hop of every wanted VTEP resolved in the kernel and, where a datapath has a neighbour cache of
// its own and drops the packets that miss it, known there too. Of no datapath: what a switch needs is a value
// (Egress), how it learns a neighbour an interface (NeighbourCache).
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"

namespace kasane::underlay {

using TunnelStates = std::map<IpAddress, vswitch::TunnelState>;

// The way of one address family's tunnel packets out of the switch.
struct UnderlayState {
  bool usable = false;
  std::string link;     // The one that packets must leave by. Empty: any.
  std::string problem;  // Why it is not usable.
  uint32_t mtu = 0;     // Bytes of outer IP packet. 0: unknown.

  bool operator==(const UnderlayState&) const = default;
};

// The switch as the ways out of it see it.
struct Egress {
  bool ready = false;                          // Takes neighbours.
  bool known = false;                          // What kind of switch it is.
  bool has_cache = false;                      // Forwards only to neighbours that it was told.
  uint64_t session = 0;                        // Another one: it has forgotten all neighbours.
  std::map<IpFamily, UnderlayState> families;  // Those that this host has a VTEP in.

  bool operator==(const Egress&) const = default;
};

// (link, address) to MAC.
using CachedNeighbours = std::map<std::pair<std::string, IpAddress>, MacAddress>;

// The neighbour cache of a switch. Called from the keeper's thread, which waits for it.
class NeighbourCache {
 public:
  virtual ~NeighbourCache() = default;

  virtual absl::Status Set(const std::string& link, const IpAddress& address, const MacAddress& mac) = 0;
  // Without expired entries.
  virtual absl::StatusOr<CachedNeighbours> Show() = 0;
};

class NeighbourKeeper {
 public:
  virtual ~NeighbourKeeper() = default;

  // Called once. `on_change` is called from the keeper's thread after States() changed.
  virtual void Start(std::function<void()> on_change) = 0;
  // No callback is running or comes after it returns.
  virtual void Stop() = 0;
  virtual void Want(std::vector<IpAddress> remotes) = 0;
  virtual void SetEgress(Egress egress) = 0;
  virtual std::shared_ptr<const TunnelStates> States() const = 0;  // Any thread; never null.
};

// On the kernel of this network namespace. `cache` is asked only while Egress::has_cache.
absl::StatusOr<std::unique_ptr<NeighbourKeeper>> NewNeighbourKeeper(std::unique_ptr<NeighbourCache> cache);

}  // namespace kasane::underlay
