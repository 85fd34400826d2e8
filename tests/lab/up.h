// Brings a lab up.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "model/files/resource_file.h"
#include "tests/lab/controller_client.h"
#include "tests/lab/layout.h"
#include "tests/lab/plan.h"
#include "tests/lab/programs.h"
#include "tests/lab/vm.h"

namespace kasane::lab {

struct UpOptions {
  std::string lab;
  std::string topology;                  // A resource file.
  bool wait = true;                      // Until every VM's port is ACTIVE.
  std::string datapath_type = "netdev";  // Of every hypervisor; see Hypervisor::datapath_type.
};

// Leaves the lab running. Progress goes to standard error. On an error before the controller accepted the
// topology nothing is left; after that the lab stays, so that its logs can be read, until `down`.
absl::Status Up(const UpOptions& options);

// The part of Up() until the controller has accepted `file`, whose text is kept with the lab: for callers that
// wait themselves. Nobody else may change the lab meanwhile; on an error what was built stays, for TearDown().
// Moves the calling thread into the fabric's namespace for good.
absl::StatusOr<std::unique_ptr<ControllerClient>> Build(const Layout& layout, const LabPlan& plan,
                                                        const files::ResourceFile& file,
                                                        const std::string& text, const Programs& programs,
                                                        Responders responders);

// Starts the controller alone, on the store that it had. Any thread.
absl::Status StartController(const Layout& layout, const Programs& programs);

// The lab of this name is up, or was left over by one that failed.
bool Exists(const std::string& lab);

}  // namespace kasane::lab
