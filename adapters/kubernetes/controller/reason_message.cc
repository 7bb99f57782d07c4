#include "adapters/kubernetes/controller/reason_message.h"

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/unix_time.h"
#include "adapters/kubernetes/api/writers.h"
#include "muster/ids.h"

namespace muster::kubernetes {

std::string ToMessage(NamedReason reason, const ResourceKinds& kinds) {
  if (reason.object_kind == ReasonObject::kRole) {
    reason.object_kind = ReasonObject::kNone;  // Its pods are told, no others.
    reason.object.clear();
  }
  if (reason.code == ReasonCode::kBackoff) {
    return absl::StrCat("a start failed: tried again at ",
                        api::FormatTime(reason.needed / kMillisecond));
  }
  if (reason.resource.empty()) return ToText(reason);
  const auto quantity = [&](int64_t amount) {
    return api::FormatQuantity(kinds.ToThousandths(reason.resource, amount));
  };
  const std::string where =
      reason.object.empty() ? "" : absl::StrCat(" (", reason.object, ")");
  return absl::StrCat(std::string(Name(reason.code)), where, ": ",
                      quantity(reason.needed), " ", reason.resource,
                      " needed, ", quantity(reason.available), " there");
}

}  // namespace muster::kubernetes
