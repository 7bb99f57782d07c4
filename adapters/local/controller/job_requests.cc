#include "adapters/local/controller/job_requests.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/job_maker.h"

namespace muster::local {

using workload::LifePhase;

absl::StatusOr<JobRecord*> JobRequests::Find(uint64_t job) const {
  JobRecord* record = s_.jobs.Find(job);
  if (record == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("job ", job, ": is not there, or has finished"));
  }
  if (record->ended) {
    return absl::NotFoundError(absl::StrCat("job ", job, ": has finished"));
  }
  absl::Status s = s_.jobs.Load(record);
  if (!s.ok()) return s;
  return record;
}

absl::Status JobRequests::Cancel(uint64_t job) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  lives_.Delete(*record, "Cancelled");
  return absl::OkStatus();
}

void JobRequests::SetHeld(JobRecord* job, bool held) {
  if (job->row.held == held) return;
  job->row.held = held;
  s_.jobs.Change(*job);
  lives_.TellHeld(*job);
  s_.Tell(job->row.id, held ? "held" : "released");
}

absl::Status JobRequests::Hold(uint64_t job) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  SetHeld(*record, true);
  return absl::OkStatus();
}

absl::Status JobRequests::Release(uint64_t job) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  SetHeld(*record, false);
  const bool never_ran = (*record)->row.started == kForever;
  return never_ran ? LetGoOn(*record) : absl::OkStatus();
}

absl::Status JobRequests::Reprioritize(uint64_t job,
                                       const std::string& priority,
                                       bool bounded) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  const auto of = submitter_.ClassOf(priority, bounded);
  if (!of.ok()) return of.status();
  absl::Status s = s_.link->CheckClass(of->key).ok() ? absl::OkStatus()
                                                     : s_.link->AddClass(*of);
  if (!s.ok()) return s;
  JobRow& row = (*record)->row;
  const std::string key = GangKey(job);
  if (s_.link->scheduler().FindGang(key).valid()) {
    s = s_.link->Tell(GangReprioritized{key, of->key});
    if (!s.ok()) return s;
  }
  row.priority_class = of->key;
  s_.jobs.Change(**record);
  s_.Tell(job, "changed", absl::StrCat("priority ", priority));
  return absl::OkStatus();
}

absl::Status JobRequests::Move(uint64_t job, const std::string& queue) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  absl::Status s = s_.link->CheckQueue(queue);
  if (!s.ok()) return s;
  const std::string key = GangKey(job);
  if (s_.link->scheduler().FindGang(key).valid()) {
    s = s_.link->Tell(GangMoved{key, queue});
    if (!s.ok()) return s;
  }
  (*record)->row.queue = queue;
  s_.jobs.Change(**record);
  s_.Tell(job, "changed", absl::StrCat("queue ", queue));
  return absl::OkStatus();
}

absl::Status JobRequests::Resize(uint64_t job, std::string_view role,
                                 uint32_t size) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  const workload::Job& of = (*record)->job();
  uint32_t r = role.empty() ? 0 : FindRole(of, role);
  if (role.empty()) {
    while (r < of.roles.size() &&
           of.roles[r].min_replicas == of.roles[r].max_replicas) {
      ++r;
    }
  }
  if (r >= of.roles.size()) {
    return role.empty() ? absl::FailedPreconditionError("the job has one size")
                        : absl::InvalidArgumentError(absl::StrCat(
                              "role: there is no '", std::string(role), "'"));
  }
  absl::Status s = lives_.Tell(*record, workload::ResizeAsked{r, size});
  if (s.ok()) {
    s_.Tell(job, "changed", absl::StrCat(size, " tasks of ", of.roles[r].name));
  }
  return s;
}

absl::Status JobRequests::Suspend(uint64_t job) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  return lives_.Tell(*record, workload::SuspendAsked{});
}

absl::Status JobRequests::LetGoOn(JobRecord* job) {
  if (!job->state.suspend) return absl::OkStatus();
  if (job->state.phase == LifePhase::kSuspended) {
    absl::Status s = lives_.Reserve(job);  // A refusal is the asker's to know.
    if (!s.ok()) return s;
  }
  return lives_.Tell(job, workload::ResumeAsked{});
}

absl::Status JobRequests::Resume(uint64_t job) {
  const auto record = Find(job);
  if (!record.ok()) return record.status();
  return LetGoOn(*record);
}

}  // namespace muster::local
