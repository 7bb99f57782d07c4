#include "adapters/local/controller/scheduler_link.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/controller/device_names.h"
#include "muster/wire/replay.h"

namespace muster::local {
namespace {

constexpr uint64_t kMinJournalBytes = uint64_t{1} << 20;
constexpr uint64_t kJournalGrowth = 4;  // Times its beginning.
constexpr size_t kMostClasses = 1000;

absl::Status Of(const std::string& field, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(field, ": ", status.message()));
}

}  // namespace

std::vector<Queue> QueuesOf(const ControllerConfig& config) {
  if (!config.queues.empty()) return config.queues;
  return {Queue{.key = config.default_queue}};
}

absl::StatusOr<std::unique_ptr<SchedulerLink>> SchedulerLink::Begin(
    const ControllerConfig& config, Time now) {
  absl::StatusOr<Scheduler> scheduler = Scheduler::Create(config.scheduler);
  if (!scheduler.ok()) return Of("scheduler", scheduler.status());
  std::unique_ptr<SchedulerLink> link(new SchedulerLink(*std::move(scheduler)));
  link->SetNow(now);
  absl::Status s = link->TellConfig(config);
  if (!s.ok()) return s;
  link->BeginJournal();
  return link;
}

absl::StatusOr<std::unique_ptr<SchedulerLink>> SchedulerLink::Restore(
    const ControllerConfig& config, std::string_view journal, Time now) {
  absl::StatusOr<wire::JournalReader> reader =
      wire::JournalReader::OfBytes(journal);
  if (!reader.ok()) return absl::DataLossError(reader.status().message());
  absl::StatusOr<wire::Replayed> replayed =
      wire::Replay(&*reader, wire::ReplayMode::kFollow);
  if (!replayed.ok()) return absl::DataLossError(replayed.status().message());
  if (reader->torn_tail()) {
    return absl::DataLossError("journal: its last record is not whole");
  }
  std::unique_ptr<SchedulerLink> link(
      new SchedulerLink(std::move(replayed->scheduler)));
  link->SetNow(std::max(now, link->scheduler_.now()));
  // Records do not depend on those before them: the journal goes on behind its
  // bytes as they are.
  link->BeginJournal();
  link->sink_.clear();
  link->begins_ = false;
  link->journal_bytes_ = journal.size();
  absl::Status s = link->TellConfig(config);
  if (!s.ok()) return s;
  return link;
}

SchedulerLink::~SchedulerLink() { scheduler_.SetJournal(nullptr); }

void SchedulerLink::BeginJournal() {
  sink_.clear();
  scheduler_.SetJournal(nullptr);
  writer_ = std::make_unique<wire::JournalWriter>(scheduler_.State(), &sink_);
  scheduler_.SetJournal(writer_.get());
  begins_ = true;
  snapshot_bytes_ = sink_.size();
  journal_bytes_ = 0;
}

absl::Status SchedulerLink::TellNode(const SchedulerState& state,
                                     const Node& node) {
  bool known = false;
  for (const NodeState& there : state.nodes) {
    if (there.node.key != node.key) {
      MustTell(NodeRemoved{there.node.key});
    } else {
      known = there.node == node;
    }
  }
  return known ? absl::OkStatus() : Of("node", Tell(NodeChanged{node}));
}

absl::Status SchedulerLink::TellQueues(const SchedulerState& state,
                                       const ControllerConfig& config) {
  const std::vector<Queue> queues = QueuesOf(config);
  for (const Queue& queue : queues) {
    if (std::ranges::find(state.queues, queue) != state.queues.end()) continue;
    absl::Status s = Tell(QueueChanged{queue});
    if (!s.ok()) return Of(absl::StrCat("queues '", queue.key, "'"), s);
  }
  for (const Queue& there : state.queues) {
    if (std::ranges::find(queues, there.key, &Queue::key) == queues.end()) {
      Tell(QueueRemoved{there.key}).IgnoreError();  // It may have jobs.
    }
  }
  return absl::OkStatus();
}

absl::Status SchedulerLink::TellConfig(const ControllerConfig& config) {
  const SchedulerState state = scheduler_.State();
  if (state.config != config.scheduler) {
    absl::Status s = Tell(ConfigChanged{config.scheduler});
    if (!s.ok()) return Of("scheduler", s);
  }
  absl::Status s = TellNode(state, WithDeviceNames(config.node));
  if (s.ok()) s = TellQueues(state, config);
  if (!s.ok()) return s;
  for (const PriorityClass& c : state.priority_classes) classes_.insert(c.key);
  for (const PriorityClass& c : config.classes) {
    classes_.insert(c.key);
    if (std::ranges::find(state.priority_classes, c) !=
        state.priority_classes.end()) {
      continue;
    }
    s = Tell(PriorityClassChanged{c});
    if (!s.ok()) return Of(absl::StrCat("classes '", c.key, "'"), s);
  }
  return absl::OkStatus();
}

void SchedulerLink::SetNow(Time now) {
  now_ = std::clamp<Time>(now, now_, kMaxTime);
}

absl::Status SchedulerLink::Tell(EventBody what) {
  absl::Status status = scheduler_.Apply({now_, std::move(what)});
  told_ |= status.ok();
  return status;
}

void SchedulerLink::MustTell(EventBody what) {
  const absl::Status status = Tell(std::move(what));
  if (!status.ok()) AddDefect(status.ToString());
}

absl::Status SchedulerLink::CheckQueue(const std::string& name) const {
  if (scheduler_.FindQueue(name).valid()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("queue: there is no queue '", name, "'"));
}

absl::Status SchedulerLink::CheckClass(const std::string& name) const {
  if (name.empty() || classes_.contains(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "priority: there is no class '", name, "'; there ",
      classes_.empty() ? "are none" : "are: " + absl::StrJoin(classes_, ", ")));
}

absl::Status SchedulerLink::AddClass(const PriorityClass& priority_class) {
  if (classes_.contains(priority_class.key)) return absl::OkStatus();
  if (classes_.size() >= kMostClasses) {
    return absl::ResourceExhaustedError(
        absl::StrCat("priority: there are ", classes_.size(),
                     " different ones already, which is the most"));
  }
  absl::Status s = Tell(PriorityClassChanged{priority_class});
  if (s.ok()) classes_.insert(priority_class.key);
  return s;
}

bool SchedulerLink::Decide() {
  if (!told_ && now_ < plan_.next_wakeup) return false;
  told_ = false;
  ++passes_;
  scheduler_.Schedule(now_, &plan_);
  return true;
}

void SchedulerLink::TakeJournal(TurnSave* save) {
  const uint64_t bytes = journal_bytes_ + sink_.size();
  const uint64_t most =
      std::max(kMinJournalBytes, kJournalGrowth * snapshot_bytes_);
  if (!writer_->status().ok()) {
    AddDefect(writer_->status().ToString());
    BeginJournal();
  } else if (bytes > most) {
    BeginJournal();
  }
  save->journal_begins = begins_;
  save->journal = std::exchange(sink_, {});
  journal_bytes_ += save->journal.size();
  begins_ = false;
}

void SchedulerLink::AddDefect(std::string what) {
  constexpr size_t kMost = 100;
  if (defects_.size() < kMost) defects_.push_back(std::move(what));
}

}  // namespace muster::local
