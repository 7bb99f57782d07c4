// Step 4: the host does as it is asked, and tells how that went.
#include "host.h"

// [report]
static void Report(const muster::Scheduler& scheduler) {
  const auto why = scheduler.Explain("train");
  std::cout << "train is " << (why.ok() ? Name(why->phase) : "gone") << "\n";
}
// [report]

int main() {
  auto created = muster::Scheduler::Create({.resources = {"gpu"}});
  Must(created.status());
  muster::Scheduler& scheduler = *created;
  Must(scheduler.Apply({0, muster::NodeChanged{NodeWith("node-1", 4)}}));
  Must(scheduler.Apply({0, muster::QueueChanged{{.key = "lab"}}}));
  Must(scheduler.Apply(
      {0, muster::GangSubmitted{Workers("train", "lab", 2, 2)}}));

  // [answers]
  muster::Plan plan;
  scheduler.Schedule(0, &plan);
  Report(scheduler);

  const muster::Decision& start = plan.decisions.front();
  muster::TasksAnswered answer{.gang = std::string(plan.Text(start.gang_key))};
  for (const muster::PlannedTask& task : plan.TasksOf(start)) {
    answer.tasks.push_back({.task = task.task,
                            .attempt = task.attempt,
                            .outcome = muster::TaskOutcome::kStarted});
  }
  Must(scheduler.Apply({2 * muster::kSecond, answer}));
  Report(scheduler);

  Must(scheduler.Apply({2 * muster::kSecond, answer}));  // Twice: no matter.
  Report(scheduler);
  // [answers]

  // [finished]
  Must(scheduler.Apply({60 * muster::kSecond, muster::GangFinished{"train"}}));
  Report(scheduler);
  // [finished]
}
