// `kasane-lab trace-check`: in a running lab, random packets of VMs; for each, what `kasanectl trace` says will
// happen is what the wire then shows: the same VMs receive the same bytes, and the same hosts count the same
// drops.
#pragma once

#include <cstdint>
#include <string>

namespace kasane::lab {

struct TraceCheckOptions {
  std::string lab;       // Its name, which must be free.
  std::string topology;  // Resource file.
  int packets = 500;
  uint64_t seed = 1;
};

// Prints each packet of which the trace said something else, then a summary. Returns the program's exit status:
// 0 if there was none. Leaves no lab behind. Moves the calling thread into the lab's namespaces.
int RunTraceCheck(const TraceCheckOptions& options);

}  // namespace kasane::lab
