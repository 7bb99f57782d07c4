// What a process needs to become another program. POSIX alone.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace muster::local {

// Words or variables as exec(3) takes them. Valid while `texts` is.
inline std::vector<char*> ExecList(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) {
    list.push_back(const_cast<char*>(text.c_str()));
  }
  list.push_back(nullptr);
  return list;
}

// All signals do what they usually do, and none is blocked but `blocked`; 0:
// none. The shim has blocked all, and might have inherited some as ignored.
inline void ResetSignals(int blocked = 0) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t set;
  sigemptyset(&set);
  if (blocked != 0) sigaddset(&set, blocked);
  sigprocmask(SIG_SETMASK, &set, nullptr);
}

}  // namespace muster::local
