// Signals of the daemon: taken by one thread that waits for them, never by a handler.
#pragma once

namespace kasane::agent {

// Blocks SIGTERM, SIGINT and SIGHUP in this thread and all that it will start, and ignores SIGPIPE. Call it
// before any other thread is there and before the first call into libopenvswitch, which takes over every
// one of them that still has its default disposition.
void TakeOverSignals();

// Waits for SIGTERM or SIGINT; returns it. Afterwards a second one ends the process at once.
int WaitForStopSignal();

}  // namespace kasane::agent
