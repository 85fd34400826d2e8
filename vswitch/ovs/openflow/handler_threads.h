// Whether ovs-vswitchd takes the packets that the kernel's datapath hands up to it.
#pragma once

#include <optional>
#include <string>

namespace kasane::ovs {

// The number of its handler threads, by the pid file in its run directory and their names in /proc (proc(5)).
// Nothing if that cannot be told: no pid file, or a process of another namespace. Any thread.
std::optional<int> CountHandlerThreads(const std::string& run_dir);

}  // namespace kasane::ovs
