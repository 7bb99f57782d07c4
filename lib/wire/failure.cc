#include "lib/wire/failure.h"

#include "absl/strings/str_cat.h"

namespace muster::wire::internal {

void Failure::Within(const char* member) {
  const bool dot = !path.empty() && path[0] != '[';
  path = absl::StrCat(member, dot ? "." : "", path);
}

void Failure::WithinElement(size_t i) {
  const bool dot = !path.empty() && path[0] != '[';
  path = absl::StrCat("[", i, "]", dot ? "." : "", path);
}

std::string Failure::ToString() const {
  return path.empty() ? what : absl::StrCat(path, ": ", what);
}

}  // namespace muster::wire::internal
