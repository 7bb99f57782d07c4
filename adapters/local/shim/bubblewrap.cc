#include "adapters/local/shim/bubblewrap.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "adapters/local/shim/exec.h"
#include "adapters/local/shim/image_tree.h"

namespace muster::local {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotRunnable = 126;

using Words = std::vector<std::string>;

// What every image has of the machine: the option and its words, of which the
// last is the place.
const std::vector<Words>& CommonMounts() {
  static const std::vector<Words> mounts = {
      {"--proc", "/proc"},
      {"--dev-bind", "/dev", "/dev"},
      {"--ro-bind", "/sys", "/sys"},
      {"--perms", "1777", "--tmpfs", "/tmp"},
      {"--perms", "1777", "--tmpfs", "/var/tmp"}};
  return mounts;
}

Words MountOf(const ShimBind& bind) {
  const std::string option = std::string("--") +
                             (bind.read_only ? "ro-bind" : "bind") +
                             (bind.optional ? "-try" : "");
  return {option, bind.source, bind.target};
}

int Fail(const char* field, const char* value) {
  const int error = errno;
  std::fprintf(stderr, "muster: %s: %s: %s\n", field, value,
               std::strerror(error));
  return error == ENOENT ? kNotFound : kNotRunnable;
}

}  // namespace

bool BubblewrapCommand(const ShimSpec& spec, const std::string& shim,
                       std::vector<std::string>* command, std::string* where) {
  std::vector<Words> mounts = CommonMounts();
  for (const ShimBind& bind : spec.image.binds) mounts.push_back(MountOf(bind));
  mounts.push_back({"--ro-bind", shim, kShimInImage});
  // What is mounted within another comes after it, also where links lead there.
  const auto sort = [&mounts] {
    std::ranges::stable_sort(
        mounts, {}, [](const Words& words) { return words.back().size(); });
  };
  sort();
  ImageTree tree(spec.image.root);
  *command = {spec.image.program};
  const auto add = [command](const Words& words) {
    command->insert(command->end(), words.begin(), words.end());
  };
  add(spec.image.options);
  bool good = true;
  for (Words& words : mounts) {
    std::string at;
    good = good && tree.Place(words.back(), &at);
    words.back() = at;
  }
  if (!good || !tree.Make(command)) {
    *where = tree.where();
    return false;
  }
  sort();
  for (const Words& words : mounts) add(words);
  add(tree.Close());
  add({"--", kShimInImage, kRun, spec.directory});
  add(spec.command);
  return true;
}

int RunInImage(char** directory_and_command) {
  const char* const directory = directory_and_command[0];
  if (chdir(directory) != 0) {
    Fail("directory", directory);
    return kNotRunnable;
  }
  setenv("PWD", directory, 1);
  ResetSignals();
  execvp(directory_and_command[1], directory_and_command + 1);
  return Fail("command", directory_and_command[1]);
}

}  // namespace muster::local
