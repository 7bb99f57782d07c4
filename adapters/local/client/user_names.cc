#include "adapters/local/client/user_names.h"

#include <pwd.h>

#include "absl/strings/str_cat.h"

namespace muster::local {

const std::string& UserNames::Of(uint32_t uid) {
  const auto [it, added] = names_.try_emplace(uid);
  if (added) {
    const passwd* user = getpwuid(uid);
    it->second = user == nullptr ? absl::StrCat(uid) : user->pw_name;
  }
  return it->second;
}

}  // namespace muster::local
