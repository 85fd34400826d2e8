// The controller's records, for what the agent cannot tell: asked for once, and only if they are needed.
#pragma once

#include <absl/status/statusor.h>

#include <optional>

#include "ctl/globals.h"
#include "ctl/trace/cloud_records.h"

namespace kasane::ctl {

class ControllerRecords {
 public:
  // `globals` must outlive it.
  explicit ControllerRecords(const Globals& globals) : globals_(globals) {}

  absl::StatusOr<CloudRecords*> Get();

 private:
  absl::StatusOr<CloudRecords> Load() const;
  // Unless another than the default is named, the controller is the one that the agent has.
  Globals WithAgentsController() const;

  const Globals& globals_;
  std::optional<absl::StatusOr<CloudRecords>> records_;
};

}  // namespace kasane::ctl
