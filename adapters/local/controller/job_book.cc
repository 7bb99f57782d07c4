#include "adapters/local/controller/job_book.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/job_maker.h"
#include "adapters/local/controller/life_codec.h"
#include "muster/enum_names.h"

namespace muster::local {

std::string JoinZeros(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += text;
    all += '\0';
  }
  return all;
}

std::vector<std::string> SplitZeros(std::string_view text) {
  std::vector<std::string> texts;
  while (!text.empty()) {
    const size_t end = text.find('\0');
    texts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return texts;
}

JobRecord* JobBook::Add(std::unique_ptr<JobRecord> record) {
  JobRecord* added = record.get();
  if (added->life) ++loaded_;
  ++of_user_[added->row.uid];
  jobs_.emplace(added->row.id, std::move(record));
  return added;
}

size_t JobBook::CountOf(uint32_t uid) const {
  const auto it = of_user_.find(uid);
  return it == of_user_.end() ? 0 : it->second;
}

JobRecord* JobBook::Find(uint64_t job) {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : it->second.get();
}

const JobRecord* JobBook::Find(uint64_t job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : it->second.get();
}

absl::Status JobBook::MakeLife(JobRecord* record) {
  const auto submitted =
      manifests_.ReadJob(record->manifest, record->row.document);
  if (!submitted.ok()) return submitted.status();
  absl::StatusOr<workload::Job> job =
      MakeJob(config_, record->row, **submitted);
  if (!job.ok()) return job.status();
  absl::StatusOr<workload::Life> life = workload::Life::Make(*std::move(job));
  if (!life.ok()) return life.status();
  record->life.emplace(*std::move(life));
  record->state = record->life->Begin();
  return MakeForm(record);
}

absl::Status JobBook::MakeForm(JobRecord* record) {
  absl::StatusOr<workload::GangForm> form = MakeGang(config_, *record);
  if (!form.ok()) return form.status();
  record->requests.clear();
  for (const Role& role : form->gang.roles) {
    std::vector<DeviceRequest>& of = record->requests.emplace_back();
    of.push_back(role.shape.devices);
    for (const TaskShape& other : role.alternatives) {
      of.push_back(other.devices);
    }
  }
  record->form = *std::move(form);
  record->form.gang = {};
  return absl::OkStatus();
}

absl::Status JobBook::Load(JobRecord* record) {
  if (record->life) return absl::OkStatus();
  absl::Status s = MakeLife(record);
  workload::LifeOutput output;
  for (const LifeRow& row : record->events) {
    if (!s.ok()) break;
    const auto event = LifeEventFromJson(row.event);
    s = event.ok() ? record->life->Step(*event, row.at, &record->state, &output)
                   : event.status();
    if (!s.ok()) continue;
    if (const auto* resize = std::get_if<workload::ResizeAsked>(&*event)) {
      record->sizes.resize(record->job().roles.size(), 0);
      record->sizes[resize->role] = resize->size;
    }
  }
  if (s.ok() && !record->sizes.empty()) s = MakeForm(record);
  if (!s.ok()) {
    record->life.reset();
    return absl::Status(
        s.code(), absl::StrCat("job ", record->row.id, ": ", s.message()));
  }
  ++loaded_;
  if (!record->events.empty()) SetWake(record, output.wake_at);
  if (record->events.size() > kMostEvents) {
    record->events = {};
    record->has_all_events = false;
  }
  return absl::OkStatus();
}

void JobBook::Trim(JobRecord* record) {
  if (!record->life || loaded_ <= kMostLoaded || !record->has_all_events ||
      !record->places.empty() || !record->tasks.empty() ||
      record->wake_at != kForever || record->ended) {
    return;
  }
  record->life.reset();
  record->state = {};
  record->form = {};
  record->requests = {};
  record->rendezvous.reset();
  --loaded_;
}

void JobBook::AddEvent(JobRecord* record, const workload::LifeEvent& event,
                       Time at) {
  LifeRow row{.job = record->row.id,
              .seq = record->next_seq++,
              .at = at,
              .event = ToJson(event)};
  if (record->events.size() >= kMostEvents) {
    record->events = {};
    record->has_all_events = false;
  }
  if (record->has_all_events) record->events.push_back(row);
  events_.push_back(std::move(row));
}

JobRow JobBook::RowOf(const JobRecord& record) const {
  JobRow row = record.row;
  if (record.manifest) row.manifest = *record.manifest;
  if (record.environment) row.environment = SplitZeros(*record.environment);
  row.endpoints = ToJson(record.meeting);
  row.cpus = ToJson(record.cpus);
  return row;
}

void JobBook::SetWake(JobRecord* record, Time at) {
  if (record->wake_at == at) return;
  if (record->wake_at != kForever) {
    wakes_.erase({record->wake_at, record->row.id});
  }
  record->wake_at = at;
  if (at != kForever) wakes_.emplace(at, record->row.id);
}

JobRecord* JobBook::NextDue(Time now) {
  return next_wake() <= now ? Find(wakes_.begin()->second) : nullptr;
}

void JobBook::Save(TurnSave* save) {
  save->life = std::exchange(events_, {});
  for (const uint64_t id : std::exchange(changed_, {})) {
    JobRecord* record = Find(id);
    save->jobs.push_back(RowOf(*record));
    if (record->ended) {
      SetWake(record, kForever);
      if (record->life) --loaded_;
      const auto of_user = of_user_.find(record->row.uid);
      if (--of_user->second == 0) of_user_.erase(of_user);
      jobs_.erase(id);
    } else {
      Trim(record);
    }
  }
}

}  // namespace muster::local
