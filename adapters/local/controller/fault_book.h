// FaultBook: failures in a row that may be a device's or the node's fault.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "adapters/local/model/drain_row.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/task_row.h"
#include "muster/ids.h"
#include "muster/workload/life_event.h"

namespace muster::local {

// When a device, or the node, is taken out of service.
struct QuarantineRules {
  // Tasks of so many different jobs in a row, all within `window`, have failed
  // there; 0: never. The jobs of an array, or of a calendar, are one.
  uint32_t jobs = 3;
  Duration window = 600 * kSecond;
  // A failure counts that comes within this time of the start; what has run for
  // longer shows that the place works.
  Duration soon = 60 * kSecond;
  // Exit codes that count besides what workload::MayBeMachinesFault has.
  std::vector<int32_t> codes{};
};

// A task has its devices' failures, one without devices those of the node.
// Not synchronised; it forgets with the program.
class FaultBook {
 public:
  // The task has ended so, of itself. O(devices of it x failures in a row).
  void Note(const QuarantineRules& rules, const JobRow& job,
            const TaskRow& task, int32_t code, workload::ExitReason reason,
            Time now);
  // What is to go out of service now: device and reason alone are set.
  std::vector<DrainRow> Take();
  // It is in service anew.
  void Forget(int64_t device) { failures_.erase(device); }

 private:
  struct Failure {
    uint64_t job = 0;   // An id of the job, the array or the calendar:
    uint64_t same = 0;  // whose are one.
    Time at = 0;
  };

  std::map<int64_t, std::vector<Failure>> failures_;
  std::vector<DrainRow> found_;
};

}  // namespace muster::local
