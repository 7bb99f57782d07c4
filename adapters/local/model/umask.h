// The umask of a job: what its files are not, when they are made.
#pragma once

#include <cstdint>
#include <string>

namespace muster::local {

// Of a submission that names none, as of most systems.
inline constexpr uint32_t kDefaultUmask = 022;
inline constexpr uint32_t kMostUmask = 0777;

// "0022". Any thread.
inline std::string UmaskText(uint32_t umask) {
  std::string text = "0000";
  for (size_t i = text.size(); i-- > 0; umask >>= 3U) {
    text[i] = static_cast<char>('0' + (umask & 7U));
  }
  return text;
}

}  // namespace muster::local
