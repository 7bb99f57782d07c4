#include "adapters/kubernetes/model/plugin_group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/unix_time.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

GroupSpec SpecOf(const api::ObjectMeta& meta, int32_t min_member) {
  GroupSpec spec;
  spec.key = meta.uid;
  spec.display = absl::StrCat(meta.namespace_name, "/", meta.name);
  spec.submitted = ToTime(meta.creation);
  spec.min_pods = static_cast<uint32_t>(std::max(min_member, 1));
  return spec;
}

}  // namespace

GroupSpec ToSpec(const api::VolcanoPodGroup& group) {
  GroupSpec spec = SpecOf(group.meta, group.min_member);
  spec.queue = group.queue;
  spec.priority_class = group.priority_class_name;
  if (!group.not_understood.empty()) {
    spec.error = absl::StrCat(group.not_understood[0], " is not supported");
  } else if (group.min_task_member.size() >= Gang::kMaxGroups) {
    spec.error = absl::StrCat("spec.minTaskMember: expected at most ",
                              Gang::kMaxGroups - 1, " tasks");
  } else {
    for (const auto& [task, minimum] : group.min_task_member) {
      spec.subgroups.push_back(
          {.name = task,
           .min_pods = static_cast<uint32_t>(std::max(minimum, 0))});
    }
  }
  return spec;
}

GroupSpec ToSpec(const api::CoschedulingPodGroup& group) {
  return SpecOf(group.meta, group.min_member);
}

}  // namespace muster::kubernetes
