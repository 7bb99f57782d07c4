#include "adapters/translate/gang_builder.h"

#include <algorithm>
#include <utility>

namespace muster::translate {

bool RequireTasks(std::span<const uint32_t> roles, int64_t minimum,
                  uint32_t group, Gang* gang) {
  int64_t all = 0;
  for (uint32_t r : roles) all += gang->roles[r].desired_tasks;
  if (minimum >= all) {
    for (uint32_t r : roles) {
      gang->roles[r].min_tasks = gang->roles[r].desired_tasks;
    }
  } else if (roles.size() == 1) {
    gang->roles[roles[0]].min_tasks = static_cast<uint32_t>(minimum);
  }
  if (minimum > all || (roles.size() > 1 && minimum < all)) {
    gang->groups[group].min_tasks = static_cast<uint32_t>(minimum);
  }
  return minimum <= all;
}

uint32_t GangBuilder::AddGroup(std::string name, uint32_t parent) {
  gang_.groups.push_back({.name = std::move(name), .parent = parent});
  return static_cast<uint32_t>(gang_.groups.size() - 1);
}

TaskId GangBuilder::AddTask(const Role& model, uint32_t group,
                            std::vector<uint32_t>* roles) {
  const auto like = std::ranges::find_if(
      *roles, [&](uint32_t r) { return models_[r] == model; });
  uint32_t r = 0;
  if (like != roles->end()) {
    r = *like;
  } else {
    r = static_cast<uint32_t>(gang_.roles.size());
    roles->push_back(r);
    models_.push_back(model);
    Role& role = gang_.roles.emplace_back(model);
    role.name = "role" + std::to_string(r);
    role.group = group;
    role.min_tasks = 0;
    role.desired_tasks = 0;
  }
  return {r, gang_.roles[r].desired_tasks++};
}

void GangBuilder::RequireAnyTask() {
  uint32_t least = 0;
  for (const Role& role : gang_.roles) least += role.min_tasks;
  for (const Group& group : gang_.groups) least += group.min_tasks;
  if (least == 0) gang_.groups[0].min_tasks = 1;
}

}  // namespace muster::translate
