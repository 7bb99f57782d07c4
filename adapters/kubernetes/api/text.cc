#include "adapters/kubernetes/api/text.h"

namespace muster::kubernetes::api {

std::string_view Truncated(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  constexpr size_t kMostContinuation = 3;  // Bytes behind a character's first.
  size_t end = most;
  while (end > 0 && most - end < kMostContinuation &&
         (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  if ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end = most;
  return text.substr(0, end);
}

}  // namespace muster::kubernetes::api
