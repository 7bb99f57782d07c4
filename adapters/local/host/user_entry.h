// UserEntry: what this machine's database says of a user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster::local {

struct UserEntry {
  std::string name{};
  std::string home{};
};

// Nothing: it does not know him. Any thread; a question about the user.
std::optional<UserEntry> FindUser(uint32_t uid);

}  // namespace muster::local
