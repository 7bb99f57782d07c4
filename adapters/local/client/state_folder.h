// Where this user's programs keep what is to outlive them.
#pragma once

#include <string>

#include "adapters/local/model/socket_path.h"

namespace muster::local {

// $XDG_STATE_HOME/muster/NAME or ~/.local/state/muster/NAME; "": there is no
// home. Reads the environment.
inline std::string StateFolder(const std::string& name) {
  const std::string state = EnvironmentText("XDG_STATE_HOME");
  if (state.starts_with('/')) return state + "/muster/" + name;
  const std::string home = EnvironmentText("HOME");
  return home.starts_with('/') ? home + "/.local/state/muster/" + name : "";
}

}  // namespace muster::local
