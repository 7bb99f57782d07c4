// How a host comes back after a crash (docs/wire.md): it goes on with its
// journal, and tells the scheduler what is really there.
#pragma once

#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/muster.h"
#include "muster/wire/journal.h"
#include "muster/wire/replay.h"

// A host that cannot go on ends as if it were killed: the next one comes back.
inline void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << std::endl;
  _exit(1);
}

// [begin]
struct Host {
  // Before the scheduler, so that it is destroyed after it.
  std::unique_ptr<muster::wire::JournalWriter> journal;
  muster::Scheduler scheduler;
};

// The first start: there is no journal.
inline absl::StatusOr<Host> Begin(const std::string& path,
                                  const muster::SchedulerConfig& config) {
  auto scheduler = muster::Scheduler::Create(config);
  if (!scheduler.ok()) return scheduler.status();
  auto journal = muster::wire::JournalWriter::Create(path, scheduler->State());
  if (!journal.ok()) return journal.status();
  Host host{*std::move(journal), *std::move(scheduler)};
  host.scheduler.SetJournal(host.journal.get());
  return host;
}
// [begin]

// [recover]
inline absl::StatusOr<Host> Recover(const std::string& path) {
  // First the lock: from here on no other writer adds to the journal.
  auto journal = muster::wire::JournalWriter::Continue(path);
  if (!journal.ok()) return journal.status();
  auto reader = muster::wire::JournalReader::Open(path);
  if (!reader.ok()) return reader.status();
  auto replayed =
      muster::wire::Replay(&*reader, muster::wire::ReplayMode::kFollow);
  if (!replayed.ok()) return replayed.status();
  Host host{*std::move(journal), std::move(replayed->scheduler)};
  host.scheduler.SetJournal(host.journal.get());
  return host;
}
// [recover]

// [found]
// One task of which the host finds a trace: a process, or its exit code.
struct Found {
  muster::RealTask task{};  // Its gang, number and node: labels of the process.
  uint32_t attempt = 0;     // PlannedTask::attempt, likewise; 0: not known.
  std::optional<muster::TaskOutcome> ended{};  // Empty: it runs.
};
// [found]

// [ended]
// What ended while the host was away, and how.
inline absl::Status ReportWhatEnded(muster::Scheduler& scheduler,
                                    muster::Time now,
                                    const std::vector<Found>& found) {
  for (const Found& f : found) {
    if (!f.ended) continue;
    const muster::TaskAnswer answer{
        .task = f.task.task, .attempt = f.attempt, .outcome = *f.ended};
    absl::Status status =
        scheduler.Apply({now, muster::TasksAnswered{f.task.gang, {answer}}});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}
// [ended]

// [strays]
// Tasks that run and belong to no gang that the scheduler knows.
inline std::vector<muster::RealTask> Strays(const muster::Scheduler& scheduler,
                                            const std::vector<Found>& found) {
  std::vector<muster::RealTask> strays;
  for (const Found& f : found) {
    const bool known = scheduler.FindGang(f.task.gang).valid();
    if (!known && !f.ended) strays.push_back(f.task);
  }
  return strays;
}
// [strays]

// [runs]
// All nodes, and every task that runs.
inline absl::StatusOr<muster::ReconcileReport> ReportWhatRuns(
    muster::Scheduler& scheduler, muster::Time now,
    const std::vector<muster::Node>& nodes, const std::vector<Found>& found) {
  muster::Reconciled whole{.nodes = nodes};
  for (const Found& f : found) {
    if (!f.ended) whole.tasks.push_back(f.task);
  }
  return scheduler.Reconcile(now, whole);
}
// [runs]
