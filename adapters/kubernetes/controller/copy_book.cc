#include "adapters/kubernetes/controller/copy_book.h"

#include <utility>

#include "adapters/kubernetes/model/owner_kind.h"

namespace muster::kubernetes {

void CopyBook::Set(const GroupRef& owner, GroupSpec spec) {
  specs_[owner] = std::move(spec);
}

std::optional<GroupSpec> CopyBook::SpecOf(const GroupRef& ref) const {
  if (CopyOf(ref).empty()) return std::nullopt;
  const auto it = specs_.find(OwnerOfCopy(ref));
  if (it == specs_.end()) return std::nullopt;
  return ToSpecOfCopy(it->second, ref);
}

}  // namespace muster::kubernetes
