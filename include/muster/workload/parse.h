// Parse: manifests and batch scripts to jobs.
#ifndef MUSTER_WORKLOAD_PARSE_H_
#define MUSTER_WORKLOAD_PARSE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/export.h"
#include "muster/workload/job.h"

namespace muster::workload {

// A field that has no effect here.
struct IgnoredField {
  std::string path{};  // "spec.template.spec.containers[0].livenessProbe".
  int line = 0;        // From 1.
  std::string why{};

  friend bool operator==(const IgnoredField&, const IgnoredField&) = default;
};

struct ParsedJob {
  Job job{};
  // Every field of the manifest that decides nothing, in its order.
  std::vector<IgnoredField> ignored{};
  // What a submitter should know besides, each a sentence.
  std::vector<std::string> notes{};

  friend bool operator==(const ParsedJob&, const ParsedJob&) = default;
};

// What one file may have.
inline constexpr size_t kMaxManifestBytes = size_t{4} << 20;

// The jobs of a file: a batch script if it begins with "#!", else documents of
// YAML or JSON, one or more jobs. Documents of other kinds are InvalidArgument,
// but for the runtimes of TrainJobs, which may stand beside these.
//
// InvalidArgument names line, field and what is allowed; Unimplemented, what is
// known and cannot be done. Whatever the bytes are, it ends in time and memory
// in proportion to them. Any thread; a pure function.
MUSTER_API absl::StatusOr<std::vector<ParsedJob>> Parse(std::string_view bytes);

// A job of its own for one index of job.array, named NAME_INDEX.
// InvalidArgument if the array has no such index. O(job).
MUSTER_API absl::StatusOr<Job> ArrayElement(const Job& job, uint32_t index);

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_PARSE_H_
