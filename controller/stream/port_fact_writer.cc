#include "controller/stream/port_fact_writer.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "base/status.h"

namespace kasane::controller {
namespace {

constexpr auto kRetry = std::chrono::seconds(5);

// Returns early when stop is requested.
void WaitFor(std::chrono::seconds time, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::move(stop), time, [] { return false; });
}

}  // namespace

PortFactWriter::PortFactWriter(HostRegistry& registry, Store& store, std::chrono::milliseconds window)
    : registry_(registry),
      store_(store),
      window_(window),
      thread_([this](std::stop_token stop) { Run(stop); }) {}

PortFactWriter::~PortFactWriter() {
  thread_.request_stop();
  thread_.join();
}

void PortFactWriter::Run(std::stop_token stop) {
  for (;;) {
    const std::vector<PortFact> facts = registry_.TakeFacts(window_, stop);
    if (facts.empty() && stop.stop_requested()) return;
    const absl::Status status = store_.WritePortFacts(facts);
    if (status.ok()) continue;
    log::Error("port status not written",
               {{"ports", std::to_string(facts.size())}, {"error", Message(status)}});
    if (stop.stop_requested()) return;
    registry_.ReturnFacts(facts);
    WaitFor(kRetry, stop);
  }
}

}  // namespace kasane::controller
