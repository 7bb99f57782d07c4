#include "muster/preemptor.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/fraction.h"
#include "lib/base/status_macros.h"
#include "lib/base/string_map.h"
#include "lib/preempt/victim_search.h"
#include "lib/scheduler/surplus.h"
#include "lib/standalone/solver_rep.h"

namespace muster {
namespace {

// The caller's policy, asked by the search, which has the candidates in another
// order.
class Reordered final : public VictimPolicy {
 public:
  Reordered(VictimPolicy* policy, const std::vector<uint32_t>& order)
      : policy_(policy), order_(order) {}

  bool Add(uint32_t i, uint32_t tasks) override {
    return policy_->Add(order_[i], tasks);
  }
  void Remove(uint32_t i) override { policy_->Remove(order_[i]); }
  bool QuotaSuffices() const override { return policy_->QuotaSuffices(); }
  bool GivesQuota(uint32_t i) const override {
    return policy_->GivesQuota(order_[i]);
  }

 private:
  VictimPolicy* policy_;
  const std::vector<uint32_t>& order_;
};

}  // namespace

class Preemptor::Rep {
 public:
  // A candidate's part of the question.
  struct Part {
    std::vector<Assignment> tasks{};
    std::vector<uint32_t> shrink_sizes{};
    std::vector<int64_t> costs{};
  };

  void Sort(std::span<const PreemptibleGang> candidates);
  // Of sorted ones.
  absl::Status Check(const PlacementSolver::Rep& solver,
                     std::span<const PreemptibleGang> candidates) const;
  void PrepareAll(const PlacementSolver::Rep& solver,
                  std::span<const PreemptibleGang> candidates);
  static VictimCandidate Prepare(const PreemptibleGang& from,
                                 const PlacementSolver::Rep& solver,
                                 Part& part);
  VictimChoice ToChoice(const PlacementSolver::Rep& solver,
                        const GangSpec& spec) const;

  std::unique_ptr<VictimSearch> search = NewVictimSearch();
  std::vector<uint32_t> order{};  // Of the candidates: by priority and key.
  std::vector<Part> parts{};      // By candidate.
  std::vector<VictimCandidate> question{};  // In that order.
  PreemptionResult result{};
};

void Preemptor::Rep::Sort(std::span<const PreemptibleGang> candidates) {
  order.resize(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](uint32_t i) {
    return std::pair(candidates[i].priority,
                     std::string_view(candidates[i].gang));
  });
}

absl::Status Preemptor::Rep::Check(
    const PlacementSolver::Rep& solver,
    std::span<const PreemptibleGang> candidates) const {
  StringSet seen;
  Wide sum = 0;
  for (const uint32_t i : order) {
    const PreemptibleGang& c = candidates[i];
    const std::string field = absl::StrCat("candidates[", i, "]");
    if (!solver.gangs.contains(c.gang)) {
      return NotFound(field, ".gang: '", c.gang, "' has no places");
    }
    if (!seen.insert(c.gang).second) {
      return Invalid(field, ".gang: '", c.gang, "' twice");
    }
    sum += c.cost;
    if (c.cost < 0 || sum > Resources::kMaxTotal) {
      return Invalid(field, ".cost: ", c.cost,
                     "; costs are not negative and add up to 2^62 at most");
    }
  }
  return absl::OkStatus();
}

// One that may not be stopped and has nothing to spare is no candidate.
void Preemptor::Rep::PrepareAll(const PlacementSolver::Rep& solver,
                                std::span<const PreemptibleGang> candidates) {
  question.clear();
  parts.assign(candidates.size(), {});
  std::erase_if(order, [&](uint32_t i) {
    const VictimCandidate c = Prepare(candidates[i], solver, parts[i]);
    if (!c.tasks.empty()) question.push_back(c);
    return c.tasks.empty();
  });
}

VictimCandidate Preemptor::Rep::Prepare(const PreemptibleGang& from,
                                        const PlacementSolver::Rep& solver,
                                        Part& part) {
  const PlacementSolver::Rep::PlacedGang& placed =
      solver.gangs.find(from.gang)->second;
  const GangSpec& spec = solver.specs.at(placed.spec);
  part.tasks = placed.tasks;
  VictimCandidate candidate{.priority = from.priority, .cost = from.cost};
  if (from.shrinkable) {
    std::vector<uint32_t> counts(spec.gang().roles.size());
    for (const Assignment& a : placed.tasks) ++counts[a.task.role];
    candidate.surplus =
        PutSurplusLast(spec, counts, &part.tasks, &part.shrink_sizes);
  }
  const auto all = static_cast<int64_t>(part.tasks.size());
  for (int64_t i = 1; i <= candidate.surplus; ++i) {
    part.costs.push_back(
        static_cast<int64_t>((Wide{from.cost} * i + all - 1) / all));
  }
  candidate.surplus_costs = part.costs;
  candidate.shrink_sizes = part.shrink_sizes;
  candidate.stoppable = from.stoppable;
  candidate.tasks = part.tasks;
  if (!from.stoppable) {
    candidate.tasks = candidate.tasks.last(candidate.surplus);
  }
  return candidate;
}

VictimChoice Preemptor::Rep::ToChoice(const PlacementSolver::Rep& solver,
                                      const GangSpec& spec) const {
  VictimChoice choice{.fit = result.fit,
                      .cost = result.cost,
                      .bound = result.bound,
                      .runner_up = result.runner_up,
                      .optimal = result.optimal,
                      .cut_short = result.cut_short};
  if (result.fit != Fit::kFits) return choice;
  choice.tasks = solver.ToTasks(spec, result.tasks);
  for (const Victim& victim : result.victims) {
    const VictimCandidate& candidate = question[victim.candidate];
    VictimChoice::Victim& chosen = choice.victims.emplace_back();
    chosen.candidate = order[victim.candidate];
    chosen.whole =
        candidate.stoppable && victim.tasks == candidate.tasks.size();
    for (const Assignment& a : candidate.tasks.last(victim.tasks)) {
      chosen.tasks.push_back(a.task);
    }
    std::ranges::sort(chosen.tasks);
  }
  std::ranges::sort(choice.victims, {}, &VictimChoice::Victim::candidate);
  return choice;
}

Preemptor::Preemptor() : rep_(std::make_unique<Rep>()) {}
Preemptor::Preemptor(Preemptor&&) noexcept = default;
Preemptor& Preemptor::operator=(Preemptor&&) noexcept = default;
Preemptor::~Preemptor() = default;

absl::StatusOr<VictimChoice> Preemptor::Choose(
    const PlacementSolver& placement_solver, const Gang& gang,
    std::span<const PreemptibleGang> candidates, VictimPolicy* policy,
    uint64_t victim_steps) {
  PlacementSolver::Rep& solver = *placement_solver.rep_;
  MUSTER_RETURN_IF_ERROR(solver.CheckNew(gang));
  rep_->Sort(candidates);
  MUSTER_RETURN_IF_ERROR(rep_->Check(solver, candidates));
  rep_->PrepareAll(solver, candidates);
  const SpecIndex spec = solver.specs.Intern(gang, solver.cluster);
  PreemptionRequest request;
  request.placement = solver.RequestFor(gang.key, spec);
  request.placement.ledger = Ledger::kLater;
  request.candidates = rep_->question;
  request.victim_steps = victim_steps;
  Reordered reordered(policy, rep_->order);
  if (policy != nullptr) request.rules = &reordered;
  const Cluster::Mark mark = solver.cluster.Begin();
  rep_->search->Choose(solver.cluster, *solver.solver, request, &rep_->result);
  solver.cluster.Rollback(mark);
  VictimChoice choice = rep_->ToChoice(solver, solver.specs.at(spec));
  solver.specs.Unref(spec, solver.cluster);
  return choice;
}

}  // namespace muster
