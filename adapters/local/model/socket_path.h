// Where musterd is asked, unless somebody says otherwise.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace muster::local {

inline constexpr char kSystemSocket[] = "/run/muster/musterd.sock";

// What the environment has for the name; empty: nothing.
inline std::string EnvironmentText(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// $MUSTER_SOCKET; of root, the system's; of others, their own, in the folder of
// their session if they have one. Reads the environment.
inline std::string DefaultSocket() {
  std::string said = EnvironmentText("MUSTER_SOCKET");
  if (!said.empty()) return said;
  const std::string session = EnvironmentText("XDG_RUNTIME_DIR");
  if (geteuid() == 0 || session.empty()) return kSystemSocket;
  return session + "/muster/musterd.sock";
}

}  // namespace muster::local
