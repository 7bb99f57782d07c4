// Sets of signals.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace muster::local::slurm {

// Any thread.
inline sigset_t SignalsOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

}  // namespace muster::local::slurm
