// SyncClient: holds the stream to the controller. Dials, says Hello, passes on what arrives as events,
// sends reports, and when the stream ends dials again, for ever, with back-off.
//
// Threads: one of its own does everything; the SyncLink calls only leave a note in its mailbox. The sink
// is called on that thread and must not block.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/sync/sync_link.h"
#include "base/backoff.h"
#include "model/protocol.h"

namespace kasane::agent {

struct SyncOptions {
  std::string target;   // As gRPC takes it: "ipv4:127.0.0.1:6650".
  std::string address;  // As the operator wrote it, for problems.
  std::string host_id;
  std::vector<std::string> tunnel_addresses;
  std::vector<std::string> capabilities;
  std::string agent_version;
  model::ProtocolRange protocols = model::kSpokenProtocols;  // Tests speak as another release does.
  BackoffOptions backoff;
  // From dialling until Welcome.
  std::chrono::milliseconds welcome_timeout{30'000};
};

class SyncClient final : public SyncLink {
 public:
  using Sink = std::function<void(SyncEvent)>;

  // Dials at once. A random instance id is drawn for its lifetime.
  SyncClient(SyncOptions options, Sink sink);
  // Ends the stream and the thread. The sink is not called afterwards.
  ~SyncClient() override;

  void SayHello(uint64_t stream, std::vector<model::HeldResource> held) override;
  void ReportVerdicts(uint64_t stream, std::vector<model::Verdict> verdicts) override;
  void ReportApplied(uint64_t stream, AppliedReport applied) override;
  void ReportObserved(uint64_t stream, std::vector<model::AddressClaim> observed) override;
  void BatchHandled(uint64_t stream) override;
  void Refuse(uint64_t stream, std::string reason) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::agent
