#include "adapters/local/controller/task_folder.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace muster::local {

std::string JobFolder(std::string_view state, uint64_t job) {
  return absl::StrCat(std::string(state), "/jobs/", job);
}

std::string TaskFolder(std::string_view state, const TaskKey& task) {
  return absl::StrCat(JobFolder(state, task.job), "/", task.role, "-",
                      task.index, "/", task.attempt);
}

std::string VolumeVariable(std::string_view volume) {
  std::string name = "MUSTER_VOLUME_";
  for (const char c : volume) {
    const auto byte = static_cast<unsigned char>(c);
    name += absl::ascii_isalnum(byte) ? absl::ascii_toupper(byte) : '_';
  }
  return name;
}

}  // namespace muster::local
