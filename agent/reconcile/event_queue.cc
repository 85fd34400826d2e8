#include "agent/reconcile/event_queue.h"

#include <algorithm>
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
      if (!HasRoom(port)) return;
      ++announcements_;
      ++announcements_of_[port];
    }
    events_.push_back(std::move(event));
  }
  ready_.notify_one();
}

bool EventQueue::HasRoom(const PortId& port) const {
  const auto waiting = announcements_of_.find(port);
  const size_t own = waiting == announcements_of_.end() ? 0 : waiting->second;
  const size_t room = announcements_ < kMaxAnnouncements ? kMaxAnnouncements - announcements_ : 0;
  return own < std::clamp(room, size_t{1}, kMaxAnnouncementsOfPort);
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
  announcements_ = 0;
  announcements_of_.clear();
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
