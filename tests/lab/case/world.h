// Where a case runs: sim in this process, or a lab with real switches. What it does is told here, and what came
// of it is told back; the runner judges, so that all worlds are judged alike.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/lab/case/case_file.h"
#include "tests/lab/case/resources.h"

namespace kasane::lab {

using FrameBytes = std::vector<uint8_t>;

struct ProbeOutcome {
  std::set<std::string> answered_by;  // VMs; "router" for an answer that no VM gave.
  std::set<std::string> errors;       // As IcmpErrorText: what came back.
  std::set<std::string> error_sources;
};

struct Injection {
  std::string vm;  // Empty: from the tunnel.
  std::string host;
  IpAddress outer_source;
  uint32_t vni = 0;
  uint32_t flags = kVxlanFlags;
  FrameBytes frame;
  uint32_t count = 1;
};

struct SeenFrame {
  std::string vm;
  FrameBytes frame;
};

using Drops = std::map<std::pair<std::string, std::string>, uint64_t>;  // By host and reason.

struct SendOutcome {
  std::vector<SeenFrame> seen;
  Drops drops;
};

struct StreamOutcome {
  uint64_t sent = 0;
  uint64_t lost = 0;
};

struct TraceOutcome {
  std::set<std::string> verdicts;  // "delivered VM", "dropped REASON".
};

class CaseWorld {
 public:
  explicit CaseWorld(CaseResources resources) : resources_(std::move(resources)) {}
  virtual ~CaseWorld() = default;
  CaseWorld(const CaseWorld&) = delete;
  CaseWorld& operator=(const CaseWorld&) = delete;

  const CaseResources& resources() const { return resources_; }

  // Brings up the cloud; each call returns when everything forwards as it says.
  virtual absl::Status Start() = 0;
  virtual absl::Status Apply(const std::vector<v1::ApplyItem>& items) = 0;
  virtual absl::Status Delete(const std::vector<model::ResourceKey>& keys) = 0;
  virtual absl::Status Move(const std::string& vm, const std::string& host) = 0;
  // `announcement` is sent by the VM when it has the address.
  virtual absl::Status SetAddress(const AddressStep& step, const FrameBytes& announcement) = 0;
  virtual absl::Status Control(const ControlStep& step) = 0;
  virtual absl::Status WaitApplied() = 0;

  // One probe; `answer_expected` says whether to wait for one. Returns when no more can come.
  virtual absl::StatusOr<ProbeOutcome> Probe(const ProbeStep& step, const Vm& from, const IpAddress& to,
                                             bool answer_expected) = 0;
  // Returns when whatever comes of it has come. `expected` frames are waited for.
  virtual absl::StatusOr<SendOutcome> Send(const Injection& injection, size_t expected) = 0;

  // Sends `frame` `count` times, at `rate` a second; a stream may run. Returns the drops counted when all of
  // them have been handled.
  virtual absl::StatusOr<Drops> Storm(const Vm& from, const FrameBytes& frame, uint32_t count,
                                      uint32_t rate) = 0;

  virtual absl::Status StartStream(const Vm& from, const IpAddress& to, uint32_t rate) = 0;
  virtual absl::StatusOr<StreamOutcome> EndStream() = 0;

  virtual absl::StatusOr<TraceOutcome> Trace(const Vm& from, const FrameBytes& frame) = 0;

  // What every case ends with: the switches hold what a recompute from scratch gives.
  virtual absl::Status CheckFlows() = 0;

 protected:
  CaseResources resources_;
};

}  // namespace kasane::lab
