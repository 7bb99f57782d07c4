// Bubblewrap: the command that runs a task in the root file system of an image.
// POSIX alone. One thread.
#pragma once

#include <string>
#include <vector>

#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// In place of a folder: muster-shim, within an image, becomes a command.
//   muster-shim --run DIRECTORY COMMAND...
inline constexpr char kRun[] = "--run";
// Where muster-shim is within an image.
inline constexpr char kShimInImage[] = "/.muster/shim";

// The command of a spec with an image. The image is only read. The machine's
// /dev, /proc and /sys are there, /tmp and /var/tmp are in memory and empty,
// and the image's binds are where they say; later ones hide earlier ones. No
// rights but those of the process are needed where the kernel gives its user a
// user namespace. `shim`: the path of muster-shim. False: errno says why and
// `where` of what. O(entries of the directories in which places are made).
bool BubblewrapCommand(const ShimSpec& spec, const std::string& shim,
                       std::vector<std::string>* command, std::string* where);

// The part of muster-shim within the image: becomes the command, whose signals
// are as usual. Bubblewrap has SIGTERM blocked, for a stop is the command's to
// heed. Returns the exit code if it cannot, when it has said why: 127, there is
// no such command; 126.
int RunInImage(char** directory_and_command);

}  // namespace muster::local
