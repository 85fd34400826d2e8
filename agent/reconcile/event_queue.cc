#include "agent/reconcile/event_queue.h"

#include <utility>
#include <variant>

namespace kasane::agent {

void EventQueue::Push(Event event) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (std::holds_alternative<DatapathChanged>(event) && std::exchange(datapath_changed_, true)) return;
    if (const auto* announced = std::get_if<AddressAnnounced>(&event)) {
      const PortId& port = announced->announcement.port;
      if (!announcements_.HasRoom(port)) return;
      announcements_.Take(port);
    }
    events_.push_back(std::move(event));
  }
  ready_.notify_one();
}

std::optional<std::vector<Event>> EventQueue::TakeAll(std::optional<Clock::time_point> until) {
  std::unique_lock lock(mutex_);
  const auto woken = [this] { return closed_ || !events_.empty(); };
  if (until) {
    ready_.wait_until(lock, *until, woken);
  } else {
    ready_.wait(lock, woken);
  }
  if (closed_) return std::nullopt;
  datapath_changed_ = false;
  announcements_.Clear();
  return std::exchange(events_, {});
}

void EventQueue::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    events_.clear();
  }
  ready_.notify_all();
}

}  // namespace kasane::agent
