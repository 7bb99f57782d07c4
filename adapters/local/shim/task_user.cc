#include "adapters/local/shim/task_user.h"

#include <grp.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace muster::local {
namespace {

bool SetGroups(const ShimUser& user) {
  const std::vector<gid_t> groups(user.groups.begin(), user.groups.end());
  return setgroups(groups.size(), groups.data()) == 0;
}

}  // namespace

bool BecomeUser(const ShimUser& user) {
  return (geteuid() != 0 || SetGroups(user)) &&
         setresgid(user.gid, user.gid, user.gid) == 0 &&
         setresuid(user.uid, user.uid, user.uid) == 0;
}

AsUser::AsUser(const std::optional<ShimUser>& user) {
  if (!user || geteuid() != 0) return;
  // Capabilities go with the effective user, and come back with it.
  if (!SetGroups(*user) || setegid(user->gid) != 0 || seteuid(user->uid) != 0) {
    _exit(126);  // It must not go on with other rights.
  }
  switched_ = true;
}

AsUser::~AsUser() {
  if (!switched_) return;
  const int error = errno;  // What was done may have failed.
  if (seteuid(0) != 0 || setegid(0) != 0) _exit(126);
  errno = error;
}

}  // namespace muster::local
