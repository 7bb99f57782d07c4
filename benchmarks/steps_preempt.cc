// Questions to the preemptor, on a cluster that small gangs fill.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/random.h"
#include "benchmarks/step_search.h"
#include "benchmarks/step_world.h"
#include "lib/preempt/victim_search.h"

namespace muster::bench {
namespace {

struct Case {
  std::string name{};
  uint32_t tasks = 1, devices = 1;
  TopologyConstraint where{};
  uint32_t candidates = 0xffffffff;  // At most.
  bool fits = true;
  bool mixed = false;  // A second role, so that the solver is asked.
};

class Preemption : public StepSearch {
 public:
  Preemption(const Case& c, uint32_t nodes)
      : case_(c), cluster_(StepCluster(nodes, Load::kEmpty)) {
    Random random(1);
    const ShapeId one = cluster_.Intern(StepRole("", 1, 1), 0);
    uint32_t left = 0;
    for (const NodeIndex n : cluster_.nodes()) {
      for (uint32_t d = 0; d < kStepDevices; ++d, --left) {
        if (left == 0) {
          left = 1 + static_cast<uint32_t>(random.Below(4));
          tasks_.emplace_back();
        }
        Assignment& task = tasks_.back().emplace_back();
        task.task.index = static_cast<uint32_t>(tasks_.back().size() - 1);
        cluster_.Take(n, one, Ledger::kBoth, &task.at);
      }
    }
    for (uint32_t g = 0; g < std::min<size_t>(tasks_.size(), c.candidates);
         ++g) {
      candidates_.push_back(
          {.gang = {.index = g},
           .priority = static_cast<int32_t>(random.Below(3)),
           .cost = static_cast<int64_t>(1 + random.Below(14'400'000)),
           .tasks = tasks_[g]});
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const VictimCandidate& a, const VictimCandidate& b) {
                       return a.priority < b.priority;
                     });
  }

  void Prepare(uint32_t count) override {
    gangs_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      PreparedGang& gang = gangs_.emplace_back();
      gang.gang = StepGang(case_.tasks, case_.devices);
      gang.gang.groups[0].topology = case_.where;
      if (case_.mixed) gang.gang.roles.push_back(StepRole("ps", 2, 1));
      for (Role& role : gang.gang.roles) {
        role.shape.resources.Set(0, role.shape.resources[0] + ++made_ % 1000);
        gang.shapes.push_back({cluster_.Intern(role, 0)});
      }
    }
  }

  uint64_t Ask(uint32_t number) override {
    PreemptionRequest request;
    request.placement.gang = &gangs_[number];
    request.placement.ledger = Ledger::kLater;
    request.candidates = candidates_;
    const Cluster::Mark mark = cluster_.Begin();
    preemptor_->Choose(cluster_, *solver_, request, &result_);
    cluster_.Rollback(mark);
    good_ &= (result_.fit == Fit::kFits) == case_.fits;
    return result_.steps;
  }

  bool Finish() override { return good_; }

 private:
  const Case case_;
  Cluster cluster_;
  const std::unique_ptr<GangSolver> solver_ = NewGangSolver();
  const std::unique_ptr<VictimSearch> preemptor_ = NewVictimSearch();
  std::vector<std::vector<Assignment>> tasks_;
  std::vector<VictimCandidate> candidates_;
  std::vector<PreparedGang> gangs_;
  PreemptionResult result_;
  uint32_t made_ = 0;
  bool good_ = true;
};

[[maybe_unused]] const bool kRegistered = [] {
  const TopologyConstraint rack{.required = "rack"};
  const Case cases[] = {
      {.name = "victims-one", .tasks = 1, .devices = 8},
      {.name = "victims-few", .tasks = 2, .devices = 8, .candidates = 11},
      {.name = "victims-8", .tasks = 8, .devices = 8},
      {.name = "victims-64", .tasks = 64, .devices = 1},
      {.name = "victims-rack", .tasks = 8, .devices = 8, .where = rack},
      {.name = "victims-rack-64", .tasks = 64, .devices = 1, .where = rack},
      {.name = "victims-mixed", .tasks = 8, .devices = 1, .mixed = true},
      {.name = "victims-no",
       .tasks = 8,
       .devices = 8,
       .candidates = 20,
       .fits = false},
  };
  constexpr uint32_t kNodes[] = {100, 1'000};
  for (const Case& c : cases) {
    RegisterSearch(c.name, kNodes, [c](uint32_t nodes) {
      return std::make_unique<Preemption>(c, nodes);
    });
  }
  return true;
}();

}  // namespace
}  // namespace muster::bench
