// Whole passes: each of one question that was not asked before, and of what
// a scheduler does for it.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/step_search.h"
#include "benchmarks/step_world.h"
#include "muster/scheduler.h"

namespace muster::bench {
namespace {

void Must(Scheduler& scheduler, Time at, EventBody what) {
  if (!scheduler.Apply({at, std::move(what)}).ok()) std::abort();
}

void Answer(Scheduler& scheduler, const Plan& plan) {
  for (const Decision& d : plan.decisions) {
    Must(scheduler, plan.now, DecisionApplied{d.seq});
  }
}

struct Case {
  std::string name{};
  uint32_t tasks = 1, devices = 1, desired = 1, gangs = 1;
  std::string priority_class{};
  size_t decisions = 1;
};

// Nodes that gangs of four tasks of whole nodes hold, one in ten aside.
class PassQuestion : public StepSearch {
 public:
  PassQuestion(Case c, uint32_t nodes)
      : case_(std::move(c)),
        tasks_(case_.tasks > 0 ? case_.tasks : nodes / 10 + 10),
        base_(Make(nodes)) {}

  void Prepare(uint32_t count) override {
    asked_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      Scheduler& s = asked_.emplace_back(*base_.Fork());
      // The first question of a fork brings its tables up to date.
      Submit(s, "warm", 1, 7, 1, 1);
      s.Schedule(2, &plan_);
      Must(s, 2, GangCancelled{"warm"});
      s.Schedule(2, &plan_);
      for (uint32_t g = 0; g < case_.gangs; ++g) {
        Submit(s, Padded("g", g), tasks_, case_.devices, case_.desired,
               ++made_);
      }
    }
  }

  uint64_t Ask(uint32_t number) override {
    asked_[number].Schedule(3, &plan_);
    good_ &= plan_.decisions.size() >= case_.decisions;
    return plan_.steps;
  }

  bool Finish() override { return good_; }

 private:
  void Submit(Scheduler& s, std::string key, uint32_t tasks, uint32_t devices,
              uint32_t desired, uint32_t number) {
    Gang gang = StepGang(tasks, devices);
    gang.key = std::move(key);
    gang.queue = "q";
    gang.priority_class = case_.priority_class;
    gang.submitted = 3;
    Role& role = gang.roles[0];
    role.desired_tasks = std::max(tasks, desired);
    role.shape.resources.Set(0, 4'000 + number % 1000);
    Must(s, 3, GangSubmitted{std::move(gang)});
  }

  static Scheduler Make(uint32_t nodes) {
    SchedulerConfig config;
    config.topologies = {{"net", {"zone", "block", "rack"}}};
    config.partition_schemes = CommonPartitionSchemes();
    Scheduler s = *Scheduler::Create(std::move(config));
    for (uint32_t n = 0; n < nodes; ++n) Must(s, 0, NodeChanged{StepNode(n)});
    Must(s, 0, QueueChanged{{.key = "q"}});
    Must(s, 0, PriorityClassChanged{{.key = "high", .value = 1}});
    for (uint32_t g = 0; g < nodes * 9 / 40; ++g) {
      Gang gang = StepGang(4, kStepDevices);
      gang.key = Padded("filler", g);
      gang.queue = "q";
      Must(s, 0, GangSubmitted{std::move(gang)});
    }
    Plan plan;
    s.Schedule(0, &plan);
    Answer(s, plan);
    return s;
  }

  const Case case_;
  const uint32_t tasks_;
  const Scheduler base_;
  std::vector<Scheduler> asked_;
  Plan plan_;
  uint32_t made_ = 1;
  bool good_ = true;
};

[[maybe_unused]] const bool kRegistered = [] {
  const Case cases[] = {
      {.name = "pass-start", .tasks = 8},
      {.name = "pass-64", .tasks = 64},
      {.name = "pass-victims",
       .tasks = 0,
       .devices = 8,
       .priority_class = "high",
       .decisions = 2},
      {.name = "pass-16", .tasks = 4, .gangs = 16, .decisions = 16},
  };
  constexpr uint32_t kNodes[] = {100, 1'000};
  for (const Case& c : cases) {
    RegisterSearch(c.name, kNodes, [c](uint32_t nodes) {
      return std::make_unique<PassQuestion>(c, nodes);
    });
  }
  return true;
}();

}  // namespace
}  // namespace muster::bench
