#include "adapters/kubernetes/controller/job_book.h"

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/object_refs.h"
#include "adapters/kubernetes/model/unix_time.h"

namespace muster::kubernetes {

void JobBook::Set(const api::Owner& job) {
  constexpr int32_t kDefaultLimit = 6;
  Job& entry = jobs_[{job.meta.namespace_name, job.meta.uid}];
  entry.name = job.meta.name;
  entry.created = ToTime(job.meta.creation);
  entry.counts_preemptions = !job.ignores_disruption;
  entry.backoff_limit = job.backoff_limit.value_or(kDefaultLimit);
  entry.told &= entry.counts_preemptions;
}

std::optional<Time> JobBook::CreatedAt(const std::string& namespace_name,
                                       const std::string& uid) const {
  const auto it = jobs_.find({namespace_name, uid});
  if (it == jobs_.end()) return std::nullopt;
  return it->second.created;
}

std::optional<EventRequest> JobBook::TakeWarning(
    const std::string& namespace_name, const std::string& uid) {
  const auto it = jobs_.find({namespace_name, uid});
  if (it == jobs_.end()) return std::nullopt;
  Job& job = it->second;
  if (!job.counts_preemptions || job.told) return std::nullopt;
  job.told = true;
  return EventRequest{
      .object = ToReference(api::kJobs, namespace_name, job.name, uid),
      .warning = true,
      .reason = "PreemptionCountsAsFailure",
      .action = "Preempting",
      .note = absl::StrCat(
          "spec.podFailurePolicy: no rule ignores DisruptionTarget, so each "
          "pod that is stopped for others counts against spec.backoffLimit, ",
          job.backoff_limit)};
}

}  // namespace muster::kubernetes
