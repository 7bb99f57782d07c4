#include "adapters/local/controller/submitter.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/controller/device_names.h"
#include "adapters/local/controller/job_maker.h"
#include "adapters/local/controller/task_folder.h"
#include "muster/workload/to_gang.h"

namespace muster::local {
namespace {

// The message names the job, where there are several.
absl::Status OfJob(const absl::Status& s, const JobRow& row) {
  return absl::Status(s.code(), absl::StrCat(row.name, ": ", s.message()));
}

// `no_mounts`: why it is not at the mount; `no_memory`: it is on a disk.
void AddVolumeNotes(const workload::Volume& volume,
                    const workload::Mount& mount, const std::string& no_mounts,
                    bool no_memory, std::set<std::string>* notes) {
  const std::string name = absl::StrCat("volume '", volume.name, "' ");
  const bool is_there = volume.kind == workload::VolumeKind::kHostPath &&
                        volume.source == mount.path && mount.sub_path.empty();
  if (!no_mounts.empty() && !is_there) {
    notes->insert(absl::StrCat(name, "is not mounted (", no_mounts,
                               "): tasks find the machine's own '", mount.path,
                               "', and the volume at $",
                               VolumeVariable(volume.name)));
  }
  const bool in_memory = volume.in_memory && !no_memory;
  if (volume.in_memory && !in_memory) {
    notes->insert(name + "lies on a disk, not in memory");
  }
  if (volume.size_limit > 0 && !in_memory) {
    notes->insert(name + "is held to no size");
  }
}

// Ascending; empty: it is no array.
absl::StatusOr<std::vector<uint32_t>> IndexesOf(const Submission& submission,
                                                const workload::Job& job) {
  std::vector<uint32_t> indexes =
      submission.array.empty() ? job.array.indexes : submission.array;
  std::ranges::sort(indexes);
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  const ParameterGrid& grid = submission.parameters;
  if (grid.empty()) return indexes;
  if (indexes.empty()) {
    for (uint32_t i = 0; i < grid.size(); ++i) indexes.push_back(i);
  } else if (indexes.back() >= grid.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("array: ", indexes.back(), ": the parameters have ",
                     grid.size(), " points, from 0 on"));
  }
  return indexes;
}

// What of its tasks' surroundings is not as the manifest has it, once each.
std::set<std::string> UnlikeSurroundings(const ControllerConfig& config,
                                         const workload::Job& job) {
  std::set<std::string> notes;
  const bool images = config.images.Use(job);
  for (const workload::Role& role : job.roles) {
    const workload::TaskTemplate& t = role.task;
    const bool in_image = images && !t.image.empty();
    if (!in_image && !t.image.empty()) {
      notes.insert(absl::StrCat(
          "image '", t.image,
          "' is not used: tasks run in the machine's own file system"));
    }
    for (const workload::Mount& mount : t.mounts) {
      const auto volume =
          std::ranges::find(t.volumes, mount.volume, &workload::Volume::name);
      if (volume == t.volumes.end()) continue;
      const bool no_memory =
          !config.no_mounts.empty() || (in_image && !config.images.memory);
      AddVolumeNotes(*volume, mount, in_image ? "" : config.no_mounts,
                     no_memory, &notes);
    }
  }
  return notes;
}

}  // namespace

absl::Status Submitter::CheckLimits(const Submission& submission) const {
  const ControllerLimits& limits = s_.config.limits;
  if (submission.manifest.size() > limits.manifest_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("manifest: has ", submission.manifest.size(),
                     " bytes; at most ", limits.manifest_bytes));
  }
  if (!submission.directory.empty() && submission.directory[0] != '/') {
    return absl::InvalidArgumentError("directory: is not absolute");
  }
  if (submission.directory.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("directory: has a byte 0");
  }
  if (submission.name && std::ranges::any_of(*submission.name, [](char c) {
        return absl::ascii_iscntrl(static_cast<unsigned char>(c));
      })) {
    return absl::InvalidArgumentError("name: has a control character");
  }
  if (submission.umask > kMostUmask) {
    return absl::InvalidArgumentError("umask: expected at most 0777");
  }
  size_t bytes = 0;
  for (const std::string& variable : submission.environment) {
    bytes += variable.size() + 1;
    if (variable.find('=') == std::string::npos || variable[0] == '=' ||
        variable.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "environment: '", variable.substr(0, 40), "' is not NAME=VALUE"));
    }
  }
  if (bytes > limits.environment_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("environment: has ", bytes,
                                                     " bytes; at most ",
                                                     limits.environment_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<PriorityClass> Submitter::ClassOf(const std::string& priority,
                                                 bool bounded) const {
  if (const auto numbered = NumberedClass(priority)) {
    int32_t highest = 0;  // Where there are no classes.
    if (!s_.config.classes.empty()) {
      highest =
          std::ranges::max_element(s_.config.classes, {}, &PriorityClass::value)
              ->value;
    }
    if (!bounded || numbered->value <= highest) return *numbered;
    return absl::PermissionDeniedError(absl::StrCat(
        "priority: ", numbered->value, ": at most ", highest,
        ", as the highest class; above it, for root and the daemon's user"));
  }
  absl::Status s = s_.link->CheckClass(priority);
  if (!s.ok()) return s;
  return PriorityClass{.key = priority};
}

absl::Status Submitter::SetClass(const Submission& submission,
                                 const workload::Job& job, JobRow* row,
                                 Draft* draft) const {
  const workload::SchedulingPolicy& policy = job.scheduling;
  std::string priority = submission.priority.value_or(policy.priority_class);
  if (priority.empty() && policy.priority) {
    priority = absl::StrCat(*policy.priority);
  }
  if (priority.empty()) {
    // That of jobs that name none.
    const std::string& key = s_.config.default_class;
    row->priority_class = s_.link->CheckClass(key).ok() ? key : "";
    return absl::OkStatus();
  }
  absl::StatusOr<PriorityClass> of =
      ClassOf(priority, s_.config.IsBounded(submission.uid));
  if (!of.ok()) return of.status();
  row->priority_class = of->key;
  if (!s_.link->CheckClass(of->key).ok()) {
    draft->classes.push_back(*std::move(of));
  }
  return absl::OkStatus();
}

void Submitter::AddNotes(const workload::ParsedJob& parsed,
                         Draft* draft) const {
  draft->notes.insert(draft->notes.end(), parsed.notes.begin(),
                      parsed.notes.end());
  draft->ignored.insert(draft->ignored.end(), parsed.ignored.begin(),
                        parsed.ignored.end());
  const workload::Job& job = parsed.job;
  for (const std::string& note : UnlikeSurroundings(s_.config, job)) {
    draft->notes.push_back(absl::StrCat(job.name, ": ", note));
  }
  if (job.ttl >= 0) {
    draft->notes.push_back(absl::StrCat(job.name, ": what is kept of it goes ",
                                        job.ttl / kSecond,
                                        " seconds after its end"));
  }
  const bool has_servers = std::ranges::any_of(
      job.roles, [](const workload::Role& role) { return role.name == "ps"; });
  if (job.kind == workload::Kind::kTFJob && has_servers &&
      job.clean == workload::CleanPolicy::kNone) {
    draft->notes.push_back(absl::StrCat(
        job.name,
        ": its parameter servers run on, and keep their places, when its "
        "workers have succeeded, unless it has cleanPodPolicy: Running"));
  }
  if (job.kind == workload::Kind::kJobSet && job.roles.size() > 0 &&
      job.roles[0].tasks() > 1) {
    draft->notes.push_back(
        absl::StrCat(job.name,
                     ": names of tasks do not resolve here; all of them are on "
                     "127.0.0.1"));
  }
}

absl::Status Submitter::AddJobs(const Submission& submission,
                                const workload::ParsedJob& parsed,
                                uint32_t document, size_t elements,
                                const JobRow& like, Draft* draft) {
  JobRow row = like;
  row.document = document;
  row.ttl = parsed.job.ttl;
  row.cron = submission.cron;
  row.name = submission.name.value_or(parsed.job.name);
  row.queue = submission.queue.value_or(parsed.job.scheduling.queue);
  if (row.queue.empty()) row.queue = s_.config.default_queue;
  absl::Status s = s_.link->CheckQueue(row.queue);
  if (s.ok()) s = SetClass(submission, parsed.job, &row, draft);
  if (!s.ok()) return s;
  const auto of_array = IndexesOf(submission, parsed.job);
  if (!of_array.ok()) return of_array.status();
  const std::vector<uint32_t>& indexes = *of_array;
  const size_t count = std::min(elements, std::max<size_t>(1, indexes.size()));
  const SharedText manifest = s_.jobs.texts().Keep(submission.manifest);
  const SharedText environment =
      s_.jobs.texts().Keep(JoinZeros(submission.environment));
  if (!indexes.empty()) {
    row.array = s_.next_job + draft->jobs.size();
    row.array_limit = submission.array_limit > 0 ? submission.array_limit
                                                 : parsed.job.array.at_once;
  } else if (submission.array_limit > 0) {
    return absl::InvalidArgumentError("array_limit: there is no array");
  }
  for (size_t i = 0; i < count; ++i) {
    auto record = std::make_unique<JobRecord>();
    record->row = row;
    record->row.id = s_.next_job + draft->jobs.size();
    if (s_.jobs.all().size() + draft->jobs.size() >= s_.config.limits.jobs) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "jobs: there are ", s_.config.limits.jobs, ", which is the most"));
    }
    if (s_.config.IsBounded(row.uid) &&
        s_.jobs.CountOf(row.uid) + draft->jobs.size() >=
            s_.config.limits.jobs_of_user) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "jobs: user ", row.uid, " has ", s_.config.limits.jobs_of_user,
          " with these, which is the most of one user"));
    }
    if (!indexes.empty()) {
      record->row.array_index = indexes[i];
      if (!submission.parameters.empty()) {
        record->row.parameters = ToJson(submission.parameters.At(indexes[i]));
      }
      record->row.name = ElementName(row.name, parsed.job, indexes[i]);
    }
    // As the book will say of it.
    record->throttled = row.array_limit > 0 && i >= row.array_limit;
    record->manifest = manifest;
    record->environment = environment;
    s = s_.jobs.MakeLife(record.get());
    if (s.ok()) s = CheckTasks(s_.config, record->job());
    if (s.ok()) s = CheckChosenDevices(s_.config.node, *record);
    if (!s.ok()) return s;
    draft->jobs.push_back(std::move(record));
  }
  return absl::OkStatus();
}

absl::StatusOr<Submitter::Draft> Submitter::Read(const Submission& submission,
                                                 size_t elements) {
  absl::Status s = CheckLimits(submission);
  if (!s.ok()) return s;
  const auto parsed =
      s_.jobs.manifests().Read(s_.jobs.texts().Keep(submission.manifest));
  if (!parsed.ok()) return parsed.status();
  Draft draft;
  JobRow like;
  like.uid = submission.uid;
  like.gid = submission.gid;
  like.submitted = s_.now();
  like.directory = submission.directory;
  like.umask = submission.umask;
  like.held = submission.held;
  like.phase = Name(workload::LifePhase::kNew);
  for (uint32_t d = 0; d < (*parsed)->size(); ++d) {
    const workload::ParsedJob& one = (**parsed)[d];
    if (submission.cron != 0 && d != submission.document) continue;
    s = AddJobs(submission, one, d, elements, like, &draft);
    if (!s.ok()) return s;
    AddNotes(one, &draft);
    if (submission.cron == 0 && !one.job.cron.schedule.empty()) {
      if (!submission.parameters.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "parameters: calendar '", one.job.name, "' cannot have any"));
      }
      if (submission.array_limit > 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "array_limit: calendar '", one.job.name, "' cannot have one"));
      }
      draft.crons.emplace_back(MakeCron(submission, one, d), one.job.cron);
    }
  }
  return draft;
}

absl::Status Submitter::ReserveAll(const Draft& draft) {
  for (size_t i = 0; i < draft.jobs.size(); ++i) {
    JobRecord* job = draft.jobs[i].get();
    absl::Status s = lives_.Reserve(job);
    const bool waits = job->job().suspend;  // It is told again then.
    for (size_t k = 0; k <= i; ++k) {
      if (s.ok() && !(waits && k == i)) continue;
      const std::string key = GangKey(draft.jobs[k]->row.id);
      if (!s_.link->scheduler().FindGang(key).valid()) continue;
      s_.link->MustTell(GangFinished{key, GangOutcome::kCancelled});
    }
    if (!s.ok()) return OfJob(s, job->row);
  }
  return absl::OkStatus();
}

CronRow Submitter::MakeCron(const Submission& submission,
                            const workload::ParsedJob& parsed,
                            uint32_t document) {
  return {.uid = submission.uid,
          .gid = submission.gid,
          .name = submission.name.value_or(parsed.job.name),
          .queue = submission.queue.value_or(""),
          .priority = submission.priority.value_or(""),
          .array = submission.array,
          .held = submission.held,
          .manifest = submission.manifest,
          .document = document,
          .directory = submission.directory,
          .environment = submission.environment,
          .umask = submission.umask};
}

// Of documents with a calendar no job is submitted now.
absl::Status Submitter::LeaveCronsJobs(Draft* draft) const {
  if (draft->crons.empty()) return absl::OkStatus();
  std::set<uint32_t> documents;
  for (const auto& [row, policy] : draft->crons) documents.insert(row.document);
  absl::Status room =
      s_.crons.CheckRoom(documents.size(), draft->crons.front().first.uid,
                         s_.config.IsBounded(draft->crons.front().first.uid));
  if (!room.ok()) return room;
  std::vector<std::unique_ptr<JobRecord>> jobs;
  for (auto& job : draft->jobs) {
    if (!documents.contains(job->row.document)) {
      jobs.push_back(std::move(job));
      continue;
    }
    const auto gang = MakeGang(s_.config, *job);
    if (!gang.ok()) return OfJob(gang.status(), job->row);
  }
  draft->jobs = std::move(jobs);
  return absl::OkStatus();
}

absl::StatusOr<SubmitResult> Submitter::Submit(const Submission& submission) {
  absl::StatusOr<Draft> draft =
      Read(submission, std::numeric_limits<size_t>::max());
  if (!draft.ok()) return draft.status();
  absl::Status s = LeaveCronsJobs(&*draft);
  if (!s.ok()) return s;
  for (const PriorityClass& c : draft->classes) {
    s = s_.link->AddClass(c);
    if (!s.ok()) return s;
  }
  s = ReserveAll(*draft);
  if (!s.ok()) return s;
  if (!draft->jobs.empty()) s_.next_job = draft->jobs.back()->row.id + 1;
  s_.numbers.submitted += draft->jobs.size();
  s_.sync = true;
  SubmitResult result{.ignored = std::move(draft->ignored),
                      .notes = std::move(draft->notes)};
  for (auto& record : draft->jobs) {
    JobRecord* job = s_.jobs.Add(std::move(record));
    job->throttled = !s_.arrays.Add(job->row);
    s_.jobs.Change(*job);
    s_.Tell(job->row.id, "submitted");
    result.jobs.push_back(
        {job->row.id, job->row.name, job->row.array_index, job->row.array});
    lives_.MustTell(job, workload::Submitted{});
  }
  for (auto& [row, policy] : draft->crons) {
    const auto cron =
        s_.crons.Add(std::move(row), std::move(policy), s_.wall());
    if (!cron.ok()) return cron.status();  // Its manifest was read.
    result.crons.push_back(
        {(*cron)->row.id, (*cron)->row.name, CronBook::NextStart(**cron)});
  }
  return result;
}

// --- What if -----------------------------------------------------------------

absl::Status Submitter::ForeseeWaiting(const std::vector<Event>& events,
                                       const std::string& gang,
                                       Forecast* forecast) const {
  absl::StatusOr<Scheduler> fork = s_.link->scheduler().Fork();
  if (!fork.ok()) return fork.status();
  for (const Event& event : events) {
    absl::Status s = fork->Apply(event);
    if (!s.ok()) return s;
  }
  Plan plan;
  fork->Schedule(s_.now(), &plan);
  const auto why = fork->Explain(gang);
  if (!why.ok()) return why.status();
  forecast->reason = why->reason;
  forecast->why = ToText(why->reason);
  forecast->ahead = why->ahead;
  return absl::OkStatus();
}

absl::StatusOr<Forecast> Submitter::Foresee(const JobRecord& job,
                                            std::vector<Event> events) {
  Forecast forecast{.name = job.row.name};
  absl::StatusOr<workload::GangForm> form = MakeGang(s_.config, job);
  if (!form.ok()) return form.status();
  const std::string key = form->gang.key;
  events.push_back({s_.now(), GangSubmitted{std::move(form->gang)}});
  Plan plan;
  absl::Status s = s_.link->WhatIf(events, &plan);
  if (!s.ok()) return s;
  for (const Decision& d : plan.decisions) {
    const auto victim = JobOfGang(plan.Text(d.gang_key));
    if (plan.Text(d.on_behalf_key) == key && victim) {
      forecast.victims.push_back(*victim);
    }
    if (plan.Text(d.gang_key) != key) continue;
    const bool starts = d.kind == DecisionKind::kStart;
    if (!starts && d.kind != DecisionKind::kNominate) continue;
    forecast.outcome =
        starts ? Forecast::Outcome::kStarts : Forecast::Outcome::kMakesRoom;
    for (const PlannedTask& t : plan.TasksOf(d)) {
      const TaskId place = ToJobTask(job.form, t.task);
      forecast.places.push_back(
          {absl::StrCat(job.job().roles[place.role].name, "-", place.index),
           t.devices.ToList()});
    }
  }
  std::ranges::sort(forecast.victims);
  if (forecast.outcome == Forecast::Outcome::kWaits) {
    s = ForeseeWaiting(events, key, &forecast);
    if (!s.ok()) return s;
  }
  return forecast;
}

absl::StatusOr<ForecastResult> Submitter::WhatIf(const Submission& submission) {
  absl::StatusOr<Draft> draft = Read(submission, 1);
  if (!draft.ok()) return draft.status();
  ForecastResult result{.ignored = std::move(draft->ignored),
                        .notes = std::move(draft->notes)};
  std::vector<Event> events;
  for (const PriorityClass& c : draft->classes) {
    events.push_back({s_.now(), PriorityClassChanged{c}});
  }
  for (const auto& job : draft->jobs) {
    absl::StatusOr<Forecast> forecast = Foresee(*job, events);
    if (!forecast.ok()) return OfJob(forecast.status(), job->row);
    result.jobs.push_back(*std::move(forecast));
  }
  return result;
}

}  // namespace muster::local
