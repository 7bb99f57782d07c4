// Jobs and gangs, made of rows. Pure functions: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/options.h"
#include "muster/device.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/priority_class.h"
#include "muster/workload/job.h"
#include "muster/workload/to_gang.h"

namespace muster::local {

// The gang of a job, and back; nothing for a key that is of none. Keys of later
// jobs are greater.
std::string GangKey(uint64_t job);
// Of an element of the array `job`: "x-3", and "x_3" of a script; other names
// are Kubernetes', which has no "_".
std::string ElementName(std::string_view name, const workload::Job& job,
                        uint32_t index);
std::optional<uint64_t> JobOfGang(std::string_view key);

// "-5" is the class "priority-5" with this value; nothing for what is no
// integer.
std::optional<PriorityClass> NumberedClass(std::string_view priority);

// The job of a row, of what its manifest says.
absl::StatusOr<workload::Job> MakeJob(const ControllerConfig& config,
                                      const JobRow& row,
                                      const workload::Job& parsed);
// The gang of a record whose life is there. The form has it.
absl::StatusOr<workload::GangForm> MakeGang(const ControllerConfig& config,
                                            const JobRecord& record);
// The tasks of its roles ask for what those of the same names did in `before`.
// O(roles^2).
void KeepShapes(const Gang& before, Gang* gang);
// What a place of the record, whose life is there, has of the node's devices.
// O(devices).
std::vector<DeviceShare> SharesOf(const ControllerConfig& config,
                                  const JobRecord& record, TaskId place);
// Whether each task of the job has something to run, and may have its image.
// INVALID_ARGUMENT: it has no command; and as ImageRules::check.
absl::Status CheckTasks(const ControllerConfig& config,
                        const workload::Job& job);

}  // namespace muster::local
