// Datapath: what makes a HostView true on a host. Implementations: ovs (vswitch/ovs/), later bpf. sim
// (vswitch/sim/) is the reference for what they all must do with a packet. Nothing here is of one of them: a
// datapath's own words (tables, priorities, map names) are text for people, beside the neutral form.
//
// Three interfaces, so that who needs one gets no more: Forwarder, TunnelKeeper and Inspector. `on_event`,
// given at construction, is called from the datapath's own thread and must not block; it means "call Facts()
// again".
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "vswitch/drop_reason.h"
#include "vswitch/host_view.h"

namespace kasane::vswitch {

// Whom an installed entry serves: "why is this flow here" is one look-up.
enum class OwnerKind : uint8_t { kPipeline = 1, kPort = 2, kNetwork = 3, kRouter = 4, kHost = 5 };

std::string_view Label(OwnerKind kind);  // "pipeline", "port", "network", "router", "host"

struct Owner {
  OwnerKind kind = OwnerKind::kPipeline;
  std::string id;  // Of the resource. For the pipeline, empty.

  auto operator<=>(const Owner&) const = default;
  bool operator==(const Owner&) const = default;
};

inline Owner PortOwner(const PortId& id) { return {OwnerKind::kPort, id.str()}; }
inline Owner NetworkOwner(const NetworkId& id) { return {OwnerKind::kNetwork, id.str()}; }
inline Owner RouterOwner(const RouterId& id) { return {OwnerKind::kRouter, id.str()}; }
inline Owner HostOwner(const HostId& id) { return {OwnerKind::kHost, id.str()}; }

// Something an operator can fix.
struct Problem {
  std::string subject;  // "ovs", "bridge br-phy", "port <id>"
  std::string message;  // What is wrong and what to do.

  bool operator==(const Problem&) const = default;
};

// An interface of the datapath bound to a port of the virtual network.
struct Attachment {
  std::string interface;
  uint32_t number = 0;  // That the datapath gave it; never 0 here.

  bool operator==(const Attachment&) const = default;
};

// A peer's VTEP on the underlay.
struct TunnelState {
  IpAddress remote;
  bool ready = false;                 // The next hop is resolved and the datapath knows it.
  std::optional<IpAddress> next_hop;  // The peer itself, or the underlay's router.
  std::optional<MacAddress> next_hop_mac;
  std::string problem;  // Why it is not ready.

  bool operator==(const TunnelState&) const = default;
};

// What only the host can tell. A snapshot.
struct DatapathFacts {
  bool ready = false;    // The switch is there, has the features needed and holds our bridge.
  uint64_t session = 0;  // Changes when the switch was restarted: nothing is known to be installed.
  // Changes when Apply of the same view would install something else, beside what `attachments` tells: the
  // switch renumbered a tunnel port, for instance.
  uint64_t generation = 0;
  // Somebody else changed what the datapath holds for us: how often, and what was seen last. Apply finds the
  // difference and repairs it.
  uint64_t disturbances = 0;
  std::string last_disturbance;
  std::map<PortId, Attachment> attachments;
  std::string
      binding_key;  // Names what of an interface must be a port's id for the two to be bound, for people.
  std::map<IpAddress, TunnelState> tunnels;
  // By family of the underlay, where known: the largest IP packet of a VM, in bytes, that goes through a
  // tunnel.
  std::map<IpFamily, uint32_t> tunnel_mtu;
  // How many copies of a frame to local ports the kernel queues at once. 0: all of them, or not known.
  uint32_t local_copies = 0;
  std::vector<Problem> problems;

  bool operator==(const DatapathFacts&) const = default;
};

struct ApplyResult {
  size_t added = 0;
  size_t modified = 0;
  size_t deleted = 0;
  size_t installed = 0;                        // Entries after it.
  std::map<Owner, std::string> failed_owners;  // Left out since the switch refused them, with its reason.
};

// One entry as the datapath holds it.
struct InstalledEntry {
  Owner owner;
  std::string stage;   // Of the packet's way: "port_security", "l2", "route", ... as in a trace.
  std::string key;     // What a packet must have to meet it. Empty: any packet. Unique in its stage.
  std::string action;  // What becomes of the packet. Empty: dropped.
  std::string native;  // The whole entry as the datapath's own tools write it. Empty: no entry of its tables.
  uint64_t packets = 0;
  uint64_t bytes = 0;
  std::optional<DropReason> drop_reason;
};

// An entry in which the datapath and what a view compiles to from scratch differ.
struct Discrepancy {
  enum class Kind : uint8_t { kMissing, kExtra, kDifferent };

  Kind kind = Kind::kMissing;
  InstalledEntry entry;  // As it should be; of an extra one, as it is. Without counters.
};

std::string_view Label(Discrepancy::Kind kind);  // "missing", "extra", "different"

// Forwards. Facts() may be called from any thread, Apply() from the reconcile thread alone.
class Forwarder {
 public:
  virtual ~Forwarder() = default;

  virtual std::string Name() const = 0;  // "ovs (netdev)". Any thread.

  // The present facts. Cheap.
  virtual std::shared_ptr<const DatapathFacts> Facts() const = 0;

  // Makes the switch forward as `view` says, in one atomic step, and returns once the switch has
  // acknowledged. On an error nothing changed, or what is installed is unknown (the switch went away):
  // then Facts().session changes and the next Apply starts from what the switch really holds.
  // FAILED_PRECONDITION: the switch is not ready; Facts().problems says why.
  virtual absl::StatusOr<ApplyResult> Apply(const HostView& view) = 0;
};

// Keeps the ways to other hosts open. The reconcile thread alone.
class TunnelKeeper {
 public:
  virtual ~TunnelKeeper() = default;

  // Tells which VTEPs must be kept resolved; their state comes back in DatapathFacts::tunnels.
  virtual void WantTunnels(std::vector<IpAddress> remotes) = 0;
};

// Shows what a datapath holds. Changes nothing; any thread.
class Inspector {
 public:
  virtual ~Inspector() = default;

  // What the datapath holds now, with counters, in the order of the packet's way; behind it what is counted
  // outside of its tables (rates, the slow path), by whom it came from.
  virtual absl::StatusOr<std::vector<InstalledEntry>> Dump() = 0;

  // Reads back what the datapath holds and compares it with what `view` compiles to from scratch: what an agent
  // that started now would fix. Empty when installed is desired.
  virtual absl::StatusOr<std::vector<Discrepancy>> Compare(const HostView& view) = 0;
};

class Datapath : public Forwarder, public TunnelKeeper, public Inspector {};

}  // namespace kasane::vswitch
