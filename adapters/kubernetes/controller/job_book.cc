#include "adapters/kubernetes/controller/job_book.h"

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/object_refs.h"

namespace muster::kubernetes {

void JobBook::Set(const api::Owner& job) {
  // Objects in lists do not say their kind.
  if (!job.kind.empty() && job.kind != "Job") return;
  if (job.ignores_disruption) return Remove(job.meta.uid);
  constexpr int32_t kDefaultLimit = 6;
  Job& entry = jobs_[job.meta.uid];
  entry.object = JobRef(job.meta.namespace_name, job.meta.name, job.meta.uid);
  entry.backoff_limit = job.backoff_limit.value_or(kDefaultLimit);
}

std::optional<ObjectEventRequest> JobBook::TakeWarning(const std::string& uid) {
  const auto it = jobs_.find(uid);
  if (it == jobs_.end() || it->second.told) return std::nullopt;
  it->second.told = true;
  return ObjectEventRequest{
      .object = it->second.object,
      .warning = true,
      .reason = "PreemptionCountsAsFailure",
      .action = "Preempting",
      .note = absl::StrCat(
          "spec.podFailurePolicy: no rule ignores DisruptionTarget, so each "
          "pod that is stopped for others counts against spec.backoffLimit, ",
          it->second.backoff_limit)};
}

}  // namespace muster::kubernetes
