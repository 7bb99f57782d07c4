// Jobs as JSON: docs/local-api.yaml has their members. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/controller/submission.h"
#include "adapters/local/controller/views.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/removed_row.h"
#include "adapters/local/model/task_row.h"
#include "muster/ids.h"

namespace muster::local {

// Times are seconds since 1970, rounded to microseconds. What there is not,
// such as the end of a job that runs, is left out. Strings that are no UTF-8
// have U+FFFD there once they are written by ToText.

double SecondsOf(Time time);

// Who a job is told to.
enum class Reader : uint8_t { kOwner, kOther };

// What the reader may know of a job, as one line; with `why` it waits, if that
// is not empty. O(bytes).
std::string JobLine(const JobRow& row, Reader reader,
                    std::string_view why = "");
nlohmann::ordered_json JobJson(const JobRow& row, Reader reader);

// What is left of a job that is kept no more.
nlohmann::ordered_json RemovedJson(const RemovedRow& row);

// A task's state and what it holds. `name`: "ROLE-INDEX".
nlohmann::ordered_json TaskJson(const TaskRow& row, const std::string& name);

// JobJson, and with it what only its owner may know: what it runs, where, with
// which tasks. `tasks`: the last attempt of each task.
// `alive`: what is known of those that are.
nlohmann::ordered_json WholeJobJson(const JobRow& row,
                                    const std::vector<TaskRow>& tasks,
                                    const std::vector<TaskView>& alive = {});

// Adds what a job that has not finished is doing.
void AddDetails(const JobDetails& details, nlohmann::ordered_json* job);

// "worker-0": names of the roles as the job's manifest has them; where it
// cannot be read, their numbers.
class TaskNames {
 public:
  explicit TaskNames(const JobRow& row);
  std::string Of(const TaskKey& key) const;
  // The role and index of such a name, or of "worker", "0-1" and "1": a role
  // by its number, or the first role's index. False: there is no such role.
  bool Find(const std::string& name, uint32_t* role, uint32_t* index) const;
  // By role, of those that name one.
  const std::map<std::string, std::string>& images() const { return images_; }

 private:
  std::vector<std::string> roles_{};
  std::map<std::string, std::string> images_{};
};

// Of all attempts, by key, the last one of each task.
std::vector<TaskRow> LastAttempts(const std::vector<TaskRow>& tasks);

// One line.
std::string ToText(const nlohmann::ordered_json& json);

}  // namespace muster::local
