#include "muster/reason.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace muster {

std::string ToText(const NamedReason& reason) {
  std::string text(Name(reason.code));
  const std::string what =
      reason.resource.empty() ? std::string("tasks") : reason.resource;
  if (!reason.object.empty()) {
    absl::StrAppend(&text, " (", std::string(Name(reason.object_kind)), " ",
                    reason.object, ")");
  }
  if (reason.needed != 0 || reason.available != 0) {
    absl::StrAppend(&text, ": needs ", reason.needed, " ", what, ", ",
                    reason.available, " available");
  }
  return text;
}

}  // namespace muster
