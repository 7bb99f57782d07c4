// Step 7: priorities, preemption, and going on from a checkpoint.
#include "host.h"

int main() {
  Host host({.resources = {"gpu"}});
  for (const char* key : {"node-1", "node-2"}) {
    host.Report(muster::NodeChanged{NodeWith(key, 4)});
  }
  host.Report(muster::QueueChanged{{.key = "lab"}});
  // [classes]
  host.Report(muster::PriorityClassChanged{
      {.key = "batch",
       .value = 0,
       .on_preempted = muster::OnPreempted::kRequeue,
       .min_runtime = 60 * muster::kSecond,
       .grace = 30 * muster::kSecond}});
  host.Report(muster::PriorityClassChanged{{.key = "urgent", .value = 100}});
  // [classes]

  // [preempt]
  for (const char* key : {"saved", "unsaved"}) {
    muster::Gang gang = Workers(key, "lab", 1, 4);
    gang.priority_class = "batch";
    host.Report(muster::GangSubmitted{gang});
  }
  host.Run();
  host.At(300);
  host.Report(muster::CheckpointTaken{.gang = "saved", .at = host.now()});
  host.At(310);
  muster::Gang serve = Workers("serve", "lab", 1, 4);
  serve.priority_class = "urgent";
  host.Report(muster::GangSubmitted{serve});
  host.Run();
  // [preempt]

  // [requeue]
  const auto saved = host.scheduler().Find("saved");
  Must(saved.status());
  std::cout << "saved is " << Name(saved->phase) << ", its work is safe up to "
            << saved->checkpoint / muster::kSecond << " s\n";
  host.At(900);
  host.Report(muster::GangFinished{"serve"});
  host.Run();
  // [requeue]
}
