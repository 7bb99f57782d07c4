#include "adapters/local/controller/job_editor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/controller/device_names.h"
#include "adapters/local/controller/job_maker.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/workload/life.h"

namespace muster::local {
namespace {

Duration LimitOf(const JobRecord& job) {
  return job.state.limit.value_or(job.job().active_deadline);
}

// An element of an array keeps its index: "x" is "x-3".
std::string NameOf(const JobRecord& job, const std::string& name) {
  if (!job.row.array_index) return name;
  const std::string end = ElementName("", job.job(), *job.row.array_index);
  return name.ends_with(end) ? name : name + end;
}

// For people.
std::string TextOf(const JobChange& change) {
  std::vector<std::string> parts;
  if (change.name) parts.push_back(absl::StrCat("name ", *change.name));
  if (change.queue) parts.push_back(absl::StrCat("queue ", *change.queue));
  if (change.priority) {
    parts.push_back(absl::StrCat("priority ", *change.priority));
  }
  if (change.edits.limit) {
    parts.push_back(absl::StrCat("time ", *change.edits.limit / kSecond, " s"));
  }
  for (const auto& [name, role] : change.edits.roles) {
    for (const auto& [resource, quantity] : role.requests) {
      parts.push_back(absl::StrCat(resource, " ", quantity));
    }
    if (!role.command.empty()) parts.emplace_back("command");
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const workload::Job>> JobEditor::SubmittedJob(
    const JobRecord& record) const {
  return s_.jobs.manifests().ReadJob(record.manifest, record.row.document);
}

absl::StatusOr<EditableJob> JobEditor::Read(uint64_t job) const {
  const auto record = requests_.Find(job);
  if (!record.ok()) return record.status();
  const auto submitted = SubmittedJob(**record);
  if (!submitted.ok()) return submitted.status();
  workload::Job of = **submitted;
  const auto edits = JobEditsFromJson((*record)->row.edits);
  if (!edits.ok()) return edits.status();
  EditRoles(*edits, &of);
  EditableJob editable{.row = (*record)->row,
                       .job = std::move(of),
                       .limit = LimitOf(**record),
                       .waits = OnlyWaits(**record)};
  s_.jobs.Trim(*record);
  return editable;
}

absl::Status JobEditor::CheckTime(const JobRecord& record,
                                  const JobChange& change) const {
  if (!change.edits.limit || OnlyWaits(record) || change.may_all) {
    return absl::OkStatus();
  }
  const Duration now = LimitOf(record);
  const Duration limit = *change.edits.limit;
  if (limit > 0 ? now == 0 || limit <= now : now == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      "time: the limit of a job that runs is raised by root, or the daemon's "
      "own user, alone");
}

absl::StatusOr<JobRow> JobEditor::RowOf(const JobRecord& record,
                                        const JobChange& change) const {
  JobRow row = record.row;
  if (change.name) row.name = NameOf(record, *change.name);
  if (change.queue) {
    absl::Status s = s_.link->CheckQueue(*change.queue);
    if (!s.ok()) return s;
    row.queue = *change.queue;
  }
  if (change.priority) {
    const auto of = submitter_.ClassOf(*change.priority, !change.may_all);
    if (!of.ok()) return of.status();
    row.priority_class = of->key;
  }
  const auto job = SubmittedJob(record);
  if (!job.ok()) return job.status();
  const auto before = JobEditsFromJson(row.edits);
  if (!before.ok()) return before.status();
  const auto edits = WithLater(*before, change.edits, **job);
  if (!edits.ok()) return edits.status();
  row.edits = ToJson(*edits);
  if (row.edits.size() > s_.config.limits.manifest_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("edits: have ", row.edits.size(), " bytes; at most ",
                     s_.config.limits.manifest_bytes));
  }
  return row;
}

absl::Status JobEditor::TellGang(JobRecord* record, const JobRow& before) {
  const absl::StatusOr<GangState> now =
      s_.link->scheduler().Find(GangKey(before.id));
  if (!now.ok()) return absl::OkStatus();  // It is told when it is resumed.
  absl::StatusOr<workload::GangForm> form = MakeGang(s_.config, *record);
  if (!form.ok()) return form.status();
  Gang& gang = form->gang;
  gang.queue = before.queue;
  gang.held_why = now->gang.held_why;
  // Whatever the configuration says by now.
  if (!OnlyWaits(*record)) KeepShapes(now->gang, &gang);
  if (record->row.queue == before.queue) {
    return s_.link->Tell(GangChanged{std::move(gang)});
  }
  // Both events are taken, or none.
  const std::vector<Event> events{
      {s_.now(), GangChanged{std::move(gang)}},
      {s_.now(), GangMoved{GangKey(before.id), record->row.queue}}};
  Plan ignored;
  absl::Status s = s_.link->WhatIf(events, &ignored);
  if (!s.ok()) return s;
  for (const Event& event : events) s_.link->MustTell(event.what);
  return s;
}

absl::Status JobEditor::Become(JobRecord* record, JobRow row) {
  const auto submitted = SubmittedJob(*record);
  if (!submitted.ok()) return submitted.status();
  absl::StatusOr<workload::Job> job = MakeJob(s_.config, row, **submitted);
  if (!job.ok()) return job.status();
  absl::StatusOr<workload::Life> life = workload::Life::Make(*std::move(job));
  if (!life.ok()) return life.status();
  absl::Status s = CheckTasks(s_.config, life->job());
  if (!s.ok()) return s;
  // Its events are those of either life: it has the same tasks.
  std::swap(record->row, row);
  std::swap(*record->life, *life);
  s = s_.jobs.MakeForm(record);
  if (s.ok()) s = CheckChosenDevices(s_.config.node, *record);
  if (s.ok()) s = TellGang(record, row);
  if (s.ok()) {
    record->rendezvous.reset();
    return s;
  }
  std::swap(record->row, row);
  std::swap(*record->life, *life);
  const absl::Status again = s_.jobs.MakeForm(record);
  if (!again.ok()) s_.link->AddDefect(again.ToString());
  return s;
}

absl::Status JobEditor::Edit(uint64_t job, const JobChange& change) {
  const auto found = requests_.Find(job);
  if (!found.ok()) return found.status();
  JobRecord* record = *found;
  if (record->row.exit_code) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job, ": has ended, and tasks of it still run"));
  }
  if (!change.edits.roles.empty() && !OnlyWaits(*record)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", job,
        ": runs: its command and what it asks for can be changed while it "
        "waits alone; its name, queue, priority and time limit now, too"));
  }
  absl::Status s = CheckTime(*record, change);
  if (!s.ok()) return s;
  absl::StatusOr<JobRow> row = RowOf(*record, change);
  if (!row.ok()) return row.status();
  const bool other_limit =
      change.edits.limit && *change.edits.limit != LimitOf(*record);
  if (*row == record->row && !other_limit) return absl::OkStatus();
  if (change.priority) {
    s = s_.link->AddClass(*submitter_.ClassOf(*change.priority, false));
    if (!s.ok()) return s;
  }
  s = Become(record, *std::move(row));
  if (!s.ok()) return s;
  s_.jobs.Change(*record);
  s_.Tell(job, "changed", TextOf(change));
  if (other_limit) {
    lives_.MustTell(record, workload::LimitChanged{*change.edits.limit});
  }
  return absl::OkStatus();
}

}  // namespace muster::local
