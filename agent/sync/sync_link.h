// The agent's end of the state protocol as values: what a stream tells the reconcile loop (SyncEvent) and
// what the loop tells the stream (SyncLink). Free of gRPC.
//
// Each attempt to hold a stream has a number, counted from 1. Its events come in this order:
//
//   StreamOpened ─▶ (the loop: SayHello) ─▶ Welcomed ─▶ BatchArrived ... SyncCompleted ─▶ BatchArrived ...
//   and at any point, last: StreamClosed
//
// Hello is said by the loop and not by the client, so that what it lists as held is exactly what remains
// after everything that an earlier stream delivered was handled.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "agent/sync/state_store.h"
#include "model/network_state.h"
#include "vswitch/datapath.h"

namespace kasane::v1 {
class Batch;
}  // namespace kasane::v1

namespace kasane::agent {

struct StreamOpened {
  uint64_t stream = 0;
};

struct Welcomed {
  uint64_t stream = 0;
  std::string store_id;
  std::vector<std::string> timelines;  // Oldest first.
};

struct BatchArrived {
  uint64_t stream = 0;
  std::shared_ptr<const v1::Batch> batch;  // Never null.
};

struct SyncCompleted {
  uint64_t stream = 0;
  model::Revision revision;
};

// The stream ended or could not be opened. The client tries again by itself.
struct StreamClosed {
  uint64_t stream = 0;
  vswitch::Problem problem;
};

using SyncEvent = std::variant<StreamOpened, Welcomed, BatchArrived, SyncCompleted, StreamClosed>;

// The datapath acknowledged everything up to `revision`.
struct AppliedReport {
  model::Revision revision;
  std::vector<PortId> active_ports;  // Sorted.
  std::vector<PortId> down_ports;    // Sorted.

  bool operator==(const AppliedReport&) const = default;
};

// Calls return at once, may come from any thread, and do nothing if `stream` is not the present one.
class SyncLink {
 public:
  virtual ~SyncLink() = default;

  // Answers StreamOpened.
  virtual void SayHello(uint64_t stream, std::vector<model::HeldResource> held) = 0;
  // Reports that were not sent yet are merged: the newest verdict on a resource and the newest applied win.
  virtual void ReportVerdicts(uint64_t stream, std::vector<model::Verdict> verdicts) = 0;
  virtual void ReportApplied(uint64_t stream, AppliedReport applied) = 0;
  // Addresses that ports of this host speak for; of one address the last one is sent.
  virtual void ReportObserved(uint64_t stream, std::vector<model::AddressClaim> observed) = 0;
  // One BatchArrived was handled. The client reads no further while too many are not.
  virtual void BatchHandled(uint64_t stream) = 0;
  // Gives the stream up, for `reason`; StreamClosed follows. Tried again with growing back-off.
  virtual void Refuse(uint64_t stream, std::string reason) = 0;
};

}  // namespace kasane::agent
