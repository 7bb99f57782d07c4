#include "adapters/kubernetes/controller/gang_minimum.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/translate_pod.h"
#include "adapters/translate/gang_builder.h"

namespace muster::kubernetes {
namespace {

uint32_t Less(uint32_t minimum, uint32_t finished) {
  return minimum > finished ? minimum - finished : 0;
}

// Tasks of the subgroup without which the gang is not to run.
uint32_t NeedOf(const Subgroup& subgroup, const PodTally& tally, bool placed) {
  const uint32_t need = Less(subgroup.min_pods, tally.finished);
  if (!subgroup.later) return need;
  if (placed) return std::min(need, tally.placed);
  return tally.tasks + tally.finished == 0 ? 0 : need;
}

class Writer {
 public:
  Writer(const GroupSpec& spec, const GangTally& tally,
         std::span<const size_t> subgroup_of, Gang* gang)
      : spec_(spec), tally_(tally), subgroup_of_(subgroup_of), gang_(*gang) {}

  void Write() {
    for (size_t s = 0; s < spec_.subgroups.size(); ++s) AddSubgroup(s);
    if (spec_.min_subgroups > 0) RequireSubgroups();
    RequireAll();
  }

 private:
  void Hold(std::string why) {
    if (!tally_.placed && gang_.held_why.empty())
      gang_.held_why = std::move(why);
  }

  void AddSubgroup(size_t s) {
    const Subgroup& subgroup = spec_.subgroups[s];
    const PodTally& tally = tally_.subgroups[s];
    const uint32_t need = NeedOf(subgroup, tally, tally_.placed);
    const bool whole = tally.tasks >= need;
    complete_ += whole ? 1 : 0;
    if (!whole && spec_.min_subgroups == 0) {
      Hold(absl::StrCat("group '", subgroup.name,
                        "': ", tally.tasks + tally.finished, " of ",
                        subgroup.min_pods, kPodsLack));
    }
    std::vector<uint32_t> roles;
    for (size_t r = 0; r < subgroup_of_.size(); ++r) {
      if (subgroup_of_[r] == s) roles.push_back(static_cast<uint32_t>(r));
    }
    if (roles.empty()) {
      through_ += whole ? 1 : 0;
      return;
    }
    const auto group = static_cast<uint32_t>(gang_.groups.size());
    gang_.groups.push_back(
        {.name = subgroup.name, .topology = subgroup.topology});
    for (const uint32_t r : roles) {
      gang_.roles[r].group = group;
      // Others may be enough to start with; it never starts in part.
      if (!whole && tally.placed == 0) {
        gang_.roles[r].shape.selector.any_of = {NoNode()};
      }
    }
    translate::RequireTasks(roles, std::min(need, tally.tasks), group, &gang_);
  }

  void RequireSubgroups() {
    if (complete_ < spec_.min_subgroups) {
      Hold(absl::StrCat(complete_, " of ", spec_.min_subgroups,
                        " PodGroups are complete, for others not all",
                        kPodsLack));
    }
    const auto children = static_cast<uint32_t>(gang_.groups.size() - 1);
    gang_.groups[0].min_children =
        std::min(std::max(Less(spec_.min_subgroups, through_), 1u), children);
  }

  void RequireAll() {
    const PodTally& all = tally_.all;
    uint32_t minimum = PodsNeeded(spec_, all);
    if (all.tasks < minimum) {
      Hold(absl::StrCat(all.tasks + all.finished, " of ", spec_.min_pods,
                        kPodsLack));
    }
    // What runs beyond the minimum is not taken by itself.
    if (spec_.whole) minimum = std::max(minimum, all.placed);
    minimum = std::min(minimum, all.tasks);
    if (!spec_.subgroups.empty()) {
      gang_.groups[0].min_tasks = minimum;
      return;
    }
    std::vector<uint32_t> roles(gang_.roles.size());
    std::iota(roles.begin(), roles.end(), 0);
    translate::RequireTasks(roles, minimum, 0, &gang_);
  }

  const GroupSpec& spec_;
  const GangTally& tally_;
  std::span<const size_t> subgroup_of_;
  Gang& gang_;
  uint32_t complete_ = 0;  // Subgroups.
  uint32_t through_ = 0;   // Of these: nothing of them is left.
};

}  // namespace

size_t FindSubgroup(const GroupSpec& spec, const std::string& name) {
  return static_cast<size_t>(
      std::ranges::find(spec.subgroups, name, &Subgroup::name) -
      spec.subgroups.begin());
}

uint32_t PodsNeeded(const GroupSpec& spec, const PodTally& all) {
  return std::max(Less(spec.min_pods, all.finished), 1u);
}

void RequirePods(const GroupSpec& spec, const GangTally& tally,
                 std::span<const size_t> subgroup_of, Gang* gang) {
  Writer(spec, tally, subgroup_of, gang).Write();
}

}  // namespace muster::kubernetes
