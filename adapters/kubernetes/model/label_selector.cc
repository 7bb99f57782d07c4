#include "adapters/kubernetes/model/label_selector.h"

#include "adapters/translate/selectors.h"

namespace muster::kubernetes {

bool Selects(const api::LabelSelector& selector, const api::StringMap& labels) {
  for (const auto& [key, value] : selector.match_labels) {
    const auto it = labels.find(key);
    if (it == labels.end() || it->second != value) return false;
  }
  for (const api::SelectorRequirement& r : selector.match_expressions) {
    const auto requirement = translate::ToRequirement(r.key, r.op, r.values);
    if (!requirement.ok() || !translate::Matches(*requirement, labels)) {
      return false;
    }
  }
  return true;
}

}  // namespace muster::kubernetes
