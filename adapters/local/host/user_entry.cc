#include "adapters/local/host/user_entry.h"

#include <pwd.h>

#include <array>

namespace muster::local {

std::optional<UserEntry> FindUser(uint32_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return std::nullopt;
  }
  return UserEntry{found->pw_name, found->pw_dir};
}

}  // namespace muster::local
