// Pods that start together, as a gang.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "muster/gang.h"

namespace muster::translate {

// At least so many tasks of these roles run, whichever: of a role if all of
// them are meant or it is the only one, else of the group, in which nothing
// else may be. False: there are fewer, so that the gang never starts. O(roles).
bool RequireTasks(std::span<const uint32_t> roles, int64_t minimum,
                  uint32_t group, Gang* gang);

// Writes groups and roles of a gang, pod by pod: like pods of a set become the
// tasks of one role. One thread at a time; the gang is not owned.
class GangBuilder {
 public:
  // The gang has neither groups nor roles yet.
  explicit GangBuilder(Gang* gang) : gang_(*gang) {}

  // Below `parent`, which was added before; the first is the root, its own
  // parent. Returns its position.
  uint32_t AddGroup(std::string name, uint32_t parent);

  // A pod of the set whose roles these are: a task of the one with this model,
  // or of a new role of the group, which joins the set and may run without any
  // of its tasks. `model` says all of the role but its name, group and numbers.
  // O(roles of the set).
  TaskId AddTask(const Role& model, uint32_t group,
                 std::vector<uint32_t>* roles);

  // As the function, of this gang.
  bool RequireTasks(std::span<const uint32_t> roles, int64_t minimum,
                    uint32_t group) {
    return translate::RequireTasks(roles, minimum, group, &gang_);
  }

  // To be called last. A gang of which nothing is required would be there
  // without a task: it starts as soon as one of them can. O(roles + groups).
  void RequireAnyTask();

 private:
  Gang& gang_;
  std::vector<Role> models_;  // By role.
};

}  // namespace muster::translate
