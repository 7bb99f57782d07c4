// VolumePlaces: where the volumes of manifests are on this machine.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "adapters/local/controller/turn.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// A value. All paths are absolute.
struct VolumePlaces {
  // Directories of persistent volume claims, by the claim's name. Others are in
  // the data folder of the task's user: $XDG_DATA_HOME/muster/claims, or
  // ~/.local/share/muster/claims.
  std::map<std::string, std::string> claims{};
  // Folders with NAME/KEY for each key of a config map or secret; empty: none.
  std::string config_maps{};
  std::string secrets{};
  bool mounts = false;  // Tasks can have mounts.
};

// Gives the process the volumes that the task mounts, at their places if it can
// have mounts or has an image, and MUSTER_VOLUME_NAME for each. Its output goes
// where it would go by these mounts. `folder`: of the attempt.
// FAILED_PRECONDITION: a claim has no place, for want of a home. O(volumes x
// mounts), and a question about the user.
absl::Status AddVolumes(const TaskStart& start, const VolumePlaces& places,
                        const std::string& folder, ShimSpec* spec);

// Gives the process the variables of secrets and config maps, whose values its
// shim reads: they are kept nowhere. INVALID_ARGUMENT: a name is none.
// O(variables), and a question about the user.
absl::Status AddVariables(const TaskStart& start, const VolumePlaces& places,
                          ShimSpec* spec);

}  // namespace muster::local
