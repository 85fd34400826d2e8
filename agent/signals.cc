#include "agent/signals.h"

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace kasane::agent {
namespace {

// Only marks the disposition as taken; the signals are blocked.
void Nothing(int /*signal*/) {}

sigset_t SetOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

}  // namespace

void TakeOverSignals() {
  struct sigaction action {};
  action.sa_handler = Nothing;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGALRM}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = SetOf({SIGTERM, SIGINT, SIGHUP});
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int WaitForStopSignal() {
  const sigset_t set = SetOf({SIGTERM, SIGINT});
  int received = 0;
  while (sigwait(&set, &received) != 0) {
  }
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return received;
}

}  // namespace kasane::agent
