// Step 11: a journal keeps what happened, and becomes the scheduler again.
#include "host.h"
#include "muster/wire/journal.h"
#include "muster/wire/replay.h"

int main() {
  // [write]
  Host host({.resources = {"gpu"}});
  std::string bytes;  // A host would give JournalWriter::Create a path.
  muster::wire::JournalWriter journal(host.scheduler().State(), &bytes);
  host.scheduler().SetJournal(&journal);

  host.Report(muster::NodeChanged{NodeWith("node-1", 4)});
  host.Report(muster::QueueChanged{{.key = "lab"}});
  host.Report(muster::GangSubmitted{Workers("train", "lab", 2, 2)});
  host.Run();
  host.scheduler().SetJournal(nullptr);
  Must(journal.status());
  // [write]

  // [replay]
  auto reader = muster::wire::JournalReader::OfBytes(bytes);
  Must(reader.status());
  auto replayed =
      muster::wire::Replay(&*reader, muster::wire::ReplayMode::kVerify);
  Must(replayed.status());
  std::cout << replayed->stats.events << " events, " << replayed->stats.plans
            << " plans, " << replayed->stats.decisions << " decision\n";
  const bool same =
      replayed->scheduler.StateHash() == host.scheduler().StateHash();
  std::cout << (same ? "the same state\n" : "another state!\n");
  // [replay]

  // [reconcile]
  muster::Reconciled truth{.nodes = {NodeWith("node-1", 4)}};
  truth.tasks = {{.gang = "train", .task = {0, 0}, .node = "node-1"}};
  const auto report =
      replayed->scheduler.Reconcile(host.now() + muster::kSecond, truth);
  Must(report.status());
  std::cout << report->tasks_confirmed << " task runs, " << report->tasks_lost
            << " is lost\n";
  // [reconcile]
}
