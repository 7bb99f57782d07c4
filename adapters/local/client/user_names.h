// Names of users by their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace muster::local {

// Each is looked up once: there may be many jobs. Not synchronised.
class UserNames {
 public:
  // The number itself where the system knows no such user.
  const std::string& Of(uint32_t uid);

 private:
  std::map<uint32_t, std::string> names_{};
};

}  // namespace muster::local
