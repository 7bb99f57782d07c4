#include "adapters/local/controller/task_folder.h"

#include "absl/strings/str_cat.h"

namespace muster::local {

std::string JobFolder(std::string_view state, uint64_t job) {
  return absl::StrCat(std::string(state), "/jobs/", job);
}

std::string TaskFolder(std::string_view state, const TaskKey& task) {
  return absl::StrCat(JobFolder(state, task.job), "/", task.role, "-",
                      task.index, "/", task.attempt);
}

}  // namespace muster::local
