#include "adapters/kubernetes/controller/composite_book.h"

#include "adapters/kubernetes/model/group_objects.h"

namespace muster::kubernetes {

void CompositeBook::Set(const api::CompositePodGroup& composite) {
  composites_[{composite.meta.namespace_name, composite.meta.name}] = composite;
}

void CompositeBook::SetPart(const api::PodGroup& group) {
  parts_[{group.meta.namespace_name, group.meta.name}] = group;
}

std::string CompositeBook::RemovePart(const Name& group) {
  const auto part = parts_.extract(group);
  return part.empty() ? "" : part.mapped().parent;
}

std::string CompositeBook::ParentOf(const Name& group) const {
  const auto it = parts_.find(group);
  return it == parts_.end() ? "" : it->second.parent;
}

std::optional<GroupSpec> CompositeBook::SpecOf(const Name& composite) const {
  const auto it = composites_.find(composite);
  if (it == composites_.end()) return std::nullopt;
  GroupSpec spec = ToSpec(it->second);
  for (auto part = parts_.lower_bound({composite.first, ""});
       part != parts_.end() && part->first.first == composite.first; ++part) {
    if (part->second.parent == composite.second) {
      AddSubgroup(part->second, &spec);
    }
  }
  return spec;
}

}  // namespace muster::kubernetes
