#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "fatal-signal.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "timeval.h"
#include "vswitch/ovs/shim/ovs_shim.h"

static void init_once(void) {
  // fatal_signal_init() takes over the signals whose disposition is the default: what a process does at
  // SIGTERM or at a crash is not a library's business.
  static const int kSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGALRM, SIGSEGV};
  enum { kCount = sizeof kSignals / sizeof kSignals[0] };
  struct sigaction saved[kCount];
  for (size_t i = 0; i < kCount; ++i) sigaction(kSignals[i], NULL, &saved[i]);
  vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
  fatal_signal_init();
  for (size_t i = 0; i < kCount; ++i) sigaction(kSignals[i], &saved[i], NULL);

  // The library writes to sockets whose other end may be gone.
  struct sigaction pipe_action;
  sigaction(SIGPIPE, NULL, &pipe_action);
  if (pipe_action.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

void kovs_init(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, init_once);
}

void kovs_free(void* text) { free(text); }

void kovs_poll_fd(int fd) { poll_fd_wait(fd, POLLIN); }

void kovs_poll_timer(int delay_ms) { poll_timer_wait(delay_ms); }

void kovs_poll_block(void) { poll_block(); }

int64_t kovs_now_ms(void) { return time_msec(); }
