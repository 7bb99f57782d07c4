// The host of the tutorial (docs/tutorial.md): it does at once what it is
// asked, tells that it is done, and prints it.
#pragma once

#include <cstdlib>
#include <iostream>
#include <utility>

#include "muster/muster.h"

// [must]
inline void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << "\n";
  std::exit(1);
}
// [must]

// [host]
class Host {
 public:
  explicit Host(muster::SchedulerConfig config)
      : scheduler_(muster::Scheduler::Create(std::move(config))) {
    Must(scheduler_.status());
  }

  muster::Scheduler& scheduler() { return *scheduler_; }
  muster::Time now() const { return now_; }

  void At(int64_t seconds) { now_ = seconds * muster::kSecond; }

  void Report(muster::EventBody what) {
    Must(scheduler_->Apply({now_, std::move(what)}));
  }

  // Asks what to do and does it, until nothing is left to do.
  void Run() {
    do {
      scheduler_->Schedule(now_, &plan_);
      for (const auto& decision : scheduler_->Record(plan_).decisions) {
        Print(decision);
        Report(muster::DecisionApplied{decision.seq});
      }
    } while (!plan_.decisions.empty());
  }

  void Print(const muster::DecisionRecord& decision) const {
    std::cout << now_ / muster::kSecond << " s: " << Name(decision.kind) << " "
              << decision.gang << " (" << ToText(decision.reason) << ")";
    for (const auto& task : decision.tasks) std::cout << " " << task.node;
    std::cout << "\n";
  }

 private:
  absl::StatusOr<muster::Scheduler> scheduler_;
  muster::Plan plan_;
  muster::Time now_ = 0;
};
// [host]

// [node]
inline muster::Node NodeWith(const char* key, size_t devices,
                             muster::Labels labels = {}) {
  return {.key = key,
          .devices = std::vector<muster::Device>(devices),
          .labels = std::move(labels)};
}
// [node]

// [workers]
// A gang of `count` workers with `devices` devices each.
inline muster::Gang Workers(const char* key, const char* queue, uint32_t count,
                            uint32_t devices) {
  return {.key = key,
          .queue = queue,
          .roles = {{.name = "worker",
                     .min_tasks = count,
                     .desired_tasks = count,
                     .shape = {.devices = {.count = devices}}}}};
}
// [workers]
