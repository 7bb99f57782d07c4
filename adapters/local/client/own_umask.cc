#include "adapters/local/client/own_umask.h"

#include <fstream>

namespace muster::local {

std::string OwnUmask() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "Umask:" && status >> word) return word;
  }
  return "";
}

}  // namespace muster::local
