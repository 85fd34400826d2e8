#include "tests/lab/programs.h"

#include "base/status.h"
#include "tests/lab/process.h"

namespace kasane::lab {

absl::StatusOr<Programs> FindPrograms() {
  Programs programs;
  std::string missing;
  const auto find = [&missing](const char* name, std::string& path) {
    auto found = FindProgram(name);
    if (found.ok()) {
      path = *found;
    } else {
      missing += fmt::format("{}{}", missing.empty() ? "" : "\n", Message(found.status()));
    }
  };
  find("ip", programs.ip);
  find("ovsdb-tool", programs.ovsdb_tool);
  find("ovsdb-server", programs.ovsdb_server);
  find("ovs-vswitchd", programs.ovs_vswitchd);
  find("ovs-vsctl", programs.ovs_vsctl);
  find("kasaned", programs.agent);
  find("kasane-controller", programs.controller);
  find("kasane-lab", programs.lab);
  if (missing.empty()) return programs;
  return absl::NotFoundError(Absl(missing));
}

}  // namespace kasane::lab
