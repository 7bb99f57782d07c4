// Whose rights a task's process has, before its program runs. POSIX and Linux
// alone. One thread.
#pragma once

#include <optional>

#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// For good. False: errno says why not.
bool BecomeUser(const ShimUser& user);

// Has the rights of the user, his groups' too, until its end. Only of a process
// that is root and may be again; else it does nothing.
class AsUser {
 public:
  explicit AsUser(const std::optional<ShimUser>& user);
  ~AsUser();
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

 private:
  bool switched_ = false;
};

}  // namespace muster::local
