#include "muster/reason.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "muster/ids.h"

namespace muster {
namespace {

std::string Moment(Time at) {
  return at % kSecond == 0 ? absl::StrCat(at / kSecond, " s")
                           : absl::StrCat(at / kMillisecond, " ms");
}

}  // namespace

std::string ToText(const NamedReason& reason) {
  std::string text(Name(reason.code));
  const std::string what =
      reason.resource.empty() ? std::string("tasks") : reason.resource;
  if (!reason.object.empty()) {
    absl::StrAppend(&text, " (", std::string(Name(reason.object_kind)), " ",
                    reason.object, ")");
  }
  if (reason.code == ReasonCode::kNotBefore ||
      reason.code == ReasonCode::kBackoff) {
    absl::StrAppend(&text, ": until ", Moment(reason.needed), ", now ",
                    Moment(reason.available));
  } else if (reason.needed != 0 || reason.available != 0) {
    absl::StrAppend(&text, ": needs ", reason.needed, " ", what, ", ",
                    reason.available, " available");
  }
  return text;
}

}  // namespace muster
