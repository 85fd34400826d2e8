// The single queue that everything reaches the reconcile loop by.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "agent/sync/sync_link.h"
#include "base/fair_share.h"
#include "base/ids.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::agent {

// The datapath has new facts: read them.
struct DatapathChanged {};

// A port was heard to speak for an address.
struct AddressAnnounced {
  slowpath::Announcement announcement;
};

// An operator accepts the state of whatever database the controller has.
struct StoreAccepted {};

using Event = std::variant<StreamOpened, Welcomed, BatchArrived, SyncCompleted, StreamClosed, DatapathChanged,
                           AddressAnnounced, StoreAccepted>;

// Many producers, one consumer. Its length is bounded by its producers: SyncClient reads no further while
// too many batches are not handled, DatapathChanged is kept once, and of announcements each port has its fair
// share of kMaxAnnouncements: the next ones are lost, as frames may be.
class EventQueue {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxAnnouncements = 4096;
  static constexpr size_t kMaxAnnouncementsOfPort = 256;

  // Any thread; never blocks. After Close events are dropped.
  void Push(Event event);

  // The consumer: waits until there is an event, `until` passes or Close, and takes all that there is.
  // Nothing at all (not even an empty list) exactly after Close.
  std::optional<std::vector<Event>> TakeAll(std::optional<Clock::time_point> until);

  // Any thread.
  void Close();

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<Event> events_;      // Guarded by mutex_, as all below.
  bool datapath_changed_ = false;  // events_ holds a DatapathChanged.
  // Those of events_ that are AddressAnnounced, by the port that speaks.
  FairShare<PortId> announcements_{kMaxAnnouncements, kMaxAnnouncementsOfPort};
  bool closed_ = false;
};

}  // namespace kasane::agent
