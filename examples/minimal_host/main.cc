// The smallest program that embeds Muster. A host tells the scheduler what
// happened, asks for a plan, and carries it out; this one only prints it.
#include <cstdlib>
#include <iostream>

#include "muster/muster.h"

static void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << "\n";
  std::exit(1);
}

// A gang of workers that want four devices each.
static muster::Gang Workers(const char* key, uint32_t count) {
  return {.key = key,
          .queue = "lab",
          .roles = {{.min_tasks = count,
                     .desired_tasks = count,
                     .shape = {.devices = {.count = 4}}}}};
}

// Does all that is asked, until nothing is left to do.
static void Run(muster::Scheduler& scheduler, muster::Time now) {
  muster::Plan plan;
  do {
    scheduler.Schedule(now, &plan);
    for (const auto& decision : scheduler.DecisionsOf(plan)) {
      std::cout << now / muster::kSecond << " s: " << Name(decision.kind) << " "
                << decision.gang << " (" << ToText(decision.reason) << ")";
      for (const auto& task : decision.tasks) std::cout << " " << task.node;
      std::cout << "\n";
      Check(scheduler.Apply({now, muster::DecisionApplied{decision.seq}}));
    }
  } while (!plan.decisions.empty());
}

int main() {
  auto created = muster::Scheduler::Create({.resources = {"gpu"}});
  Check(created.status());
  muster::Scheduler& scheduler = *created;
  for (const char* key : {"node-1", "node-2"}) {
    muster::Node node{.key = key, .devices = std::vector<muster::Device>(4)};
    Check(scheduler.Apply({0, muster::NodeChanged{node}}));
  }
  Check(scheduler.Apply({0, muster::QueueChanged{{.key = "lab"}}}));
  Check(scheduler.Apply(
      {0, muster::PriorityClassChanged{{.key = "urgent", .value = 100}}}));

  Check(scheduler.Apply({0, muster::GangSubmitted{Workers("train", 2)}}));
  Run(scheduler, 0);

  const muster::Time later = 60 * muster::kSecond;
  muster::Gang serve = Workers("serve", 1);
  serve.priority_class = "urgent";
  Check(scheduler.Apply({later, muster::GangSubmitted{serve}}));
  Run(scheduler, later);
  std::cout << "train: " << ToText(scheduler.Explain("train")->reason) << "\n";
}
