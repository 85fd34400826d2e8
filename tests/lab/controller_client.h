// The lab's conversation with its controller.
//
// Make it in a thread that is in the fabric's namespace: gRPC opens its sockets there, and so do the
// threads that it starts.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/decode.h"
#include "model/files/resource_file.h"
#include "model/network_state.h"

namespace kasane::v1 {
class ApplyItem;
}  // namespace kasane::v1

namespace kasane::lab {

enum class PortState : uint8_t { kAbsent, kDown, kBuild, kActive };

std::string_view Label(PortState state);  // "absent", "DOWN", "BUILD", "ACTIVE"

struct PortProgress {
  PortState state = PortState::kAbsent;
  std::vector<std::string> rejections;  // "hv1: ports[3].mac_address: ..."
};

struct HostProgress {
  std::string id;
  bool connected = false;
  uint32_t ports = 0;
  uint32_t active_ports = 0;
  uint64_t applied = 0;  // Counter of the last revision that it has applied.
};

// What the controller holds, and how far each host is with it.
struct ControllerProgress {
  model::NetworkState state;
  std::map<model::ResourceKey, uint64_t> revisions;  // Counter of the revision that last changed each resource.
  std::map<PortId, PortProgress> ports;
  std::map<HostId, HostProgress> hosts;
};

// What a transaction came to: nothing was stored if there are faults.
struct Transaction {
  std::vector<model::Fault> faults;
  uint64_t revision = 0;
};

class ControllerClient {
 public:
  explicit ControllerClient(const std::string& endpoint);
  ~ControllerClient();

  // Applies all of the file's resources in one transaction, waiting for the controller to come up. Faults
  // are what the controller found; nothing was stored then.
  absl::StatusOr<std::vector<model::Fault>> Apply(const files::ResourceFile& file,
                                                  std::chrono::milliseconds deadline);

  absl::StatusOr<Transaction> Apply(const std::vector<v1::ApplyItem>& items,
                                    std::chrono::milliseconds deadline);
  absl::StatusOr<Transaction> Delete(const std::vector<model::ResourceKey>& keys,
                                     std::chrono::milliseconds deadline);
  absl::StatusOr<ControllerProgress> Progress(std::chrono::milliseconds deadline);

  // The hosts that the controller knows.
  absl::StatusOr<std::vector<HostProgress>> Hosts(std::chrono::milliseconds deadline);
  // The state of every port.
  absl::StatusOr<std::map<PortId, PortProgress>> Ports(std::chrono::milliseconds deadline);

 private:
  friend class PortWatch;
  struct Stubs;
  std::shared_ptr<Stubs> stubs_;
};

// Follows the ports' states as the controller announces them.
class PortWatch {
 public:
  explicit PortWatch(const ControllerClient& client);
  ~PortWatch();

  // Becomes readable when there is news, or the stream has ended. Take() drains it.
  int fd() const;

  // The present state of every port that was announced.
  std::map<PortId, PortProgress> Take();
  // Why the stream ended; OK while it lives.
  absl::Status status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kasane::lab
