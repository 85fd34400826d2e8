// `kasane-lab run`: cases on datapaths, several at a time.
#pragma once

#include <string>
#include <vector>

namespace kasane::lab {

struct RunOptions {
  std::vector<std::string> files;
  std::vector<std::string> datapaths = {"sim"};  // "sim", "ovs", "ovs-kernel".
  unsigned jobs = 0;                             // 0: as many as there are processors.
  bool json = false;
  bool lines = false;  // A line of JSON as each case ends, and no summary.
};

// Cases on ovs-kernel run here if this kernel has Open vSwitch loaded, else one behind the other in one boot of
// user-mode Linux. Prints a line per case and datapath, and a summary. The program's exit status: 0 if all
// passed, 1 if one failed, 130 if it was interrupted. Leaves no lab behind either way.
int RunCases(const RunOptions& options);

// One case on a lab of the given name, in a process of its own, since its sockets must be opened in that lab's
// namespaces. `datapath` is "ovs" or "ovs-kernel". Prints the result as one line of JSON.
int RunCaseInLab(const std::string& file, const std::string& lab, const std::string& datapath);

}  // namespace kasane::lab
