// The whole search for victims: which priorities, which region, which victims.
#include "lib/preempt/victim_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/preempt/exchange.h"
#include "lib/preempt/exhaustive.h"
#include "lib/preempt/greedy.h"
#include "lib/preempt/preemption_problem.h"
#include "lib/preempt/region_slots.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/swap_search.h"
#include "lib/preempt/victim_set.h"

namespace muster {
namespace preempt {
namespace {

// Of the steps, what each search has in one region: for something better, for
// anything, for all sets where they are so many a step at the most (most are
// cut off).
constexpr uint64_t kSwapPart = 4;
constexpr uint64_t kExchangePart = 16;
constexpr uint64_t kTriedPart = 12;
// And what a runner-up has in all of them: no decision rests on it.
constexpr uint64_t kRunnerUpPart = 400;
constexpr uint64_t kSetsPerStep = 8;
// All sets of so few are looked at before others search for something better.
constexpr size_t kFewCandidates = 12;

// Runs inside a transaction that its owner rolls back.
class PrioritySearch {
 public:
  // What is kept between searches, by node.
  struct Scratch {
    std::vector<uint32_t> positions{};  // RegionSlots'.
    std::vector<uint32_t> region_of{};  // Regions'.
  };

  // `fit`: whether the gang fits with no victim.
  PrioritySearch(PreemptionProblem& problem, Fit fit, Scratch& scratch);

  // Fills in the solution if there is one.
  void Run();
  // The first others that are found. The solution stays.
  RunnerUp FindRunnerUp();
  const Solution& solution() const { return best_; }
  // No better solution exists; or none at all, if none was found.
  bool proven() const { return proven_; }
  // No solution with its top priority costs less.
  int64_t Bound() const;
  // Releases the solution's victims, and enters them with the policy, which has
  // none. False if it refuses them now.
  bool TakeSolution();
  // Takes that back.
  void LeaveSolution() { victims_.Clear(); }

 private:
  std::vector<uint32_t> Thresholds() const;
  size_t LowestFeasible(const std::vector<uint32_t>& ends);
  size_t LowestFeasibleIn(const VictimRegion& region,
                          const std::vector<uint32_t>& ends, size_t from,
                          size_t to);
  std::vector<const VictimRegion*> RegionsBelow(uint32_t count);
  void SearchBelow(uint32_t count);
  void SearchRegion(const VictimRegion& region);
  void TryAnyBelow(uint32_t count, uint64_t last_step);
  bool IsPossible(const VictimRegion& region);
  void TryGreedy(const VictimRegion& region);
  void TryGreedy(const VictimRegion& region, uint32_t alternative,
                 bool quota_first);
  void TryExchange(const VictimRegion& region, uint32_t alternative);
  void TrySwaps(const VictimRegion& region);
  std::span<const uint32_t> ChoiceIn(const VictimRegion& region) const;
  bool TryAllOf(const VictimRegion& region);
  void OfferSet(const VictimRegion& region);
  bool Beyond(const VictimCost& bound) const;

  void KeepTouched();
  void Reduce();
  bool ReduceTo(uint32_t c, uint32_t tasks);
  void Settle();
  bool SettleOnce();
  std::vector<uint32_t> WorthSettling() const;

  PreemptionProblem& problem_;
  const Fit fit_;
  Regions regions_;
  RegionSlots region_slots_;
  VictimSet victims_;
  Greedy greedy_;
  Exchange exchange_;
  SwapSearch swaps_;
  uint32_t count_ = 0;               // Candidates below the threshold.
  std::vector<uint32_t> all_below_;  // The same, one by one.
  uint32_t alternatives_ = 1;        // The most a role has.
  bool quota_lacks_ = false;         // With no victim.
  Solution best_;
  Solution here_;          // The best in the region that is searched,
  uint32_t here_for_ = 0;  // for this alternative.
  bool reduced_ = true;    // In its region the best needs all its victims.
  std::vector<VictimCost> open_;  // Bounds of regions that were not searched to
                                  // the end.
  bool proven_ = true;
};

struct Step {
  uint32_t candidate = 0;
  uint32_t tasks = 0;
  uint32_t before = 0;  // Entered before the step was taken.
  VictimCost added{};
  int64_t amount = 0;
};

// Every shrink of the fewest surplus tasks and every stop of a whole gang, by
// cost for the amount given back.
std::vector<Step> StepsOf(const PreemptionProblem& problem, uint32_t count) {
  std::vector<Step> steps;
  for (uint32_t c = 0; c < count; ++c) {
    if (problem.Size(c) == 0) continue;
    Step stop{.candidate = c,
              .tasks = problem.Size(c),
              .added = problem.CostOf(c, problem.Size(c))};
    Step shrink{.candidate = c};
    for (uint32_t back = 0; back < problem.Size(c); ++back) {
      const int64_t amount =
          std::max<int64_t>(1, problem.Amount(problem.Task(c, back)));
      stop.amount += amount;
      shrink.amount += amount;
      if (problem.AtLeast(c, back + 1) > back + 1) continue;
      if (back + 1 == problem.Size(c)) break;
      const uint32_t before = std::exchange(shrink.tasks, back + 1);
      shrink.added = problem.CostBeyond(c, before, shrink.tasks);
      steps.push_back(shrink);
      shrink.amount = 0;
    }
    steps.push_back(stop);
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) {
                     const Wide left = Wide{a.added.cost} * b.amount;
                     const Wide right = Wide{b.added.cost} * a.amount;
                     if (left != right) return left < right;
                     return a.added.broken < b.added.broken;
                   });
  return steps;
}

// Adds releases of those of the first `count` candidates that give quota,
// cheapest first and wherever they run, until the preemptor's quota has room,
// then leaves out those that do not help. False, with the set of no use, if the
// policy allows no such set that was found.
bool CoverQuota(const PreemptionProblem& problem, uint32_t count,
                VictimSet& victims) {
  std::vector<Step> taken;
  for (Step& step : StepsOf(problem, count)) {
    if (victims.QuotaSuffices()) break;
    step.before = victims.entered(step.candidate);
    if (step.before >= step.tasks) continue;
    if (!victims.GivesQuota(step.candidate)) continue;
    if (victims.Enter(step.candidate, step.tasks)) taken.push_back(step);
  }
  if (!victims.QuotaSuffices()) return false;
  for (auto step = taken.rbegin(); step != taken.rend(); ++step) {
    if (victims.entered(step->candidate) != step->tasks) continue;
    const size_t mark = victims.Mark();
    const bool left = victims.Enter(step->candidate, step->before);
    if (left && !victims.QuotaSuffices()) victims.RevertTo(mark);
  }
  victims.ReleaseEntered();
  return true;
}

PrioritySearch::PrioritySearch(PreemptionProblem& problem, Fit fit,
                               Scratch& scratch)
    : problem_(problem),
      fit_(fit),
      regions_(problem, fit, scratch.region_of),
      region_slots_(problem, scratch.positions),
      victims_(problem, region_slots_),
      greedy_(problem, regions_, region_slots_, victims_),
      exchange_(problem, region_slots_, victims_, greedy_),
      swaps_(problem, region_slots_, victims_, greedy_) {
  for (const std::vector<ShapeId>& shapes : problem.gang().shapes) {
    alternatives_ =
        std::max(alternatives_, static_cast<uint32_t>(shapes.size()));
  }
}

// For each distinct priority: how many candidates are at or below it.
std::vector<uint32_t> PrioritySearch::Thresholds() const {
  std::vector<uint32_t> ends;
  const auto count = static_cast<uint32_t>(problem_.candidate_count());
  for (uint32_t c = 0; c < count; ++c) {
    const bool last = c + 1 == count || problem_.candidate(c + 1).priority !=
                                            problem_.candidate(c).priority;
    if (last) ends.push_back(c + 1);
  }
  return ends;
}

void PrioritySearch::Run() {
  quota_lacks_ = !victims_.QuotaSuffices();
  if (fit_ == Fit::kFits && !quota_lacks_) {
    best_.found = true;
    return;
  }
  const std::vector<uint32_t> ends = Thresholds();
  size_t t = fit_ == Fit::kFits ? 0 : LowestFeasible(ends);
  for (; t < ends.size() && !best_.found && !problem_.Exhausted(); ++t) {
    SearchBelow(ends[t]);
    proven_ = proven_ && open_.empty();
  }
  if (problem_.Exhausted() && !best_.found) proven_ = false;
  if (best_.found) Settle();
}

int64_t PrioritySearch::Bound() const {
  int64_t bound = best_.victim_cost.cost;
  for (const VictimCost& open : open_) bound = std::min(bound, open.cost);
  return bound;
}

// The first threshold at which the gang fits some region with all candidates
// gone, whatever the policy allows; ends.size() if there is none.
size_t PrioritySearch::LowestFeasible(const std::vector<uint32_t>& ends) {
  std::vector<const VictimRegion*> order;
  for (const VictimRegion& region : regions_.all()) {
    if (region.enough != Regions::kNowhere) order.push_back(&region);
  }
  std::ranges::stable_sort(order, {}, &VictimRegion::enough);
  size_t lowest = ends.size();
  for (const VictimRegion* region : order) {
    const size_t from =
        std::ranges::lower_bound(ends, region->enough) - ends.begin();
    if (from >= lowest || problem_.Exhausted()) break;
    lowest = LowestFeasibleIn(*region, ends, from, lowest);
  }
  return lowest;
}

// The same for one region, in [from, to); `to` if there is none.
size_t PrioritySearch::LowestFeasibleIn(const VictimRegion& region,
                                        const std::vector<uint32_t>& ends,
                                        size_t from, size_t to) {
  region_slots_.Watch(region.nodes);
  const auto fits = [&](size_t t) {
    problem_.Spend();
    for (uint32_t c : region.members) {
      victims_.Release(c, c < ends[t] ? problem_.Size(c) : 0);
    }
    return region_slots_.Fits();
  };
  size_t low = from;  // Does not fit below.
  size_t high = to;   // Fits there, or is the end.
  for (size_t step = 0; low < high; step = 2 * step + 1) {
    const size_t t =
        high < to ? std::midpoint(low, high) : std::min(low + step, to - 1);
    if (fits(t)) {
      high = t;
    } else {
      low = t + 1;
    }
  }
  victims_.TakeBackAll(region.members);
  return high;
}

// Whether nothing within the bound can be better than the best.
bool PrioritySearch::Beyond(const VictimCost& bound) const {
  return best_.found && best_.victim_cost.Reaches(bound);
}

// Those in which as many of all candidates are enough, by bound.
std::vector<const VictimRegion*> PrioritySearch::RegionsBelow(uint32_t count) {
  count_ = count;
  all_below_.resize(count);
  std::iota(all_below_.begin(), all_below_.end(), 0);
  regions_.Threshold(count);
  std::vector<const VictimRegion*> order;
  for (const VictimRegion& region : regions_.all()) {
    if (region.enough <= count) order.push_back(&region);
  }
  std::ranges::stable_sort(order, {}, &VictimRegion::bound);
  return order;
}

void PrioritySearch::SearchBelow(uint32_t count) {
  open_.clear();
  for (const VictimRegion* region : RegionsBelow(count)) {
    if (Beyond(region->bound)) break;
    if (problem_.Exhausted()) {
      open_.push_back(region->bound);
      break;
    }
    SearchRegion(*region);
  }
  std::erase_if(open_, [&](const VictimCost& bound) { return Beyond(bound); });
}

void PrioritySearch::SearchRegion(const VictimRegion& region) {
  if (!IsPossible(region)) return;
  TryGreedy(region);
  if (Beyond(region.bound)) return;
  const bool few = ChoiceIn(region).size() <= kFewCandidates;
  if (few && TryAllOf(region)) return;
  if (here_.found && swaps_.MayImprove(region)) TrySwaps(region);
  if (Beyond(region.bound) || (!few && TryAllOf(region))) return;
  for (uint32_t a = 0; a < alternatives_ && !best_.found; ++a) {
    TryExchange(region, a);
  }
  open_.push_back(region.bound);
}

RunnerUp PrioritySearch::FindRunnerUp() {
  if (best_.victims.empty()) return {};
  Solution solution = std::exchange(best_, {});
  const auto out =
      std::ranges::max_element(solution.victims, {}, [&](const Victim& v) {
        return problem_.CostOf(v.candidate, v.tasks).cost;
      });
  victims_.LeaveOut(out->candidate);
  const uint64_t last_step =
      problem_.searched() + problem_.request().victim_steps / kRunnerUpPart;
  for (const uint32_t end : Thresholds()) {
    if (end >= count_ && !best_.found) TryAnyBelow(end, last_step);
  }
  victims_.LeaveOut(VictimSet::kNobody);
  const Solution others = std::exchange(best_, std::move(solution));
  if (others.victims.empty()) return {};
  return {
      .victims = static_cast<uint32_t>(others.victims.size()),
      .priority = problem_.candidate(others.victims.back().candidate).priority,
      .cost = others.victim_cost.cost};
}

void PrioritySearch::TryAnyBelow(uint32_t count, uint64_t last_step) {
  for (const VictimRegion* region : RegionsBelow(count)) {
    if (best_.found || problem_.searched() >= last_step) return;
    // Each of its nodes takes a step.
    const uint64_t least = problem_.searched() + region->nodes.size();
    if (least <= last_step && IsPossible(*region)) TryGreedy(*region);
  }
}

// Whether the gang fits there with all candidates gone; watches the region.
bool PrioritySearch::IsPossible(const VictimRegion& region) {
  region_slots_.Watch(region.nodes);
  victims_.ReleaseAll(region.candidates);
  const bool possible = region_slots_.Fits();
  victims_.TakeBackAll(region.candidates);
  return possible;
}

// Those of whom victims may be taken for the region.
std::span<const uint32_t> PrioritySearch::ChoiceIn(
    const VictimRegion& region) const {
  if (quota_lacks_) return all_below_;
  return region.candidates;
}

// Whether all sets that could be the best have been looked at.
bool PrioritySearch::TryAllOf(const VictimRegion& region) {
  const std::span<const uint32_t> choice = ChoiceIn(region);
  const uint64_t steps = std::max(problem_.request().victim_steps, kTriedPart);
  if (!FewSets(problem_, choice, steps * kSetsPerStep)) return false;
  victims_.ReleaseAll(choice);
  const bool complete = TryAll(problem_, region_slots_, victims_, region,
                               choice, steps / kTriedPart, &best_);
  victims_.TakeBackAll(choice);
  reduced_ = reduced_ && complete;
  return complete;
}

void PrioritySearch::TryGreedy(const VictimRegion& region) {
  here_.found = false;
  for (uint32_t a = 0; a < alternatives_; ++a) {
    TryGreedy(region, a, false);
    if (quota_lacks_) TryGreedy(region, a, true);
  }
}

void PrioritySearch::TryGreedy(const VictimRegion& region, uint32_t alternative,
                               bool quota_first) {
  victims_.Clear();
  region_slots_.Aim(alternative);
  const bool covered = !quota_first || CoverQuota(problem_, count_, victims_);
  if (covered && greedy_.Build(region)) OfferSet(region);
  victims_.Clear();
}

void PrioritySearch::TryExchange(const VictimRegion& region,
                                 uint32_t alternative) {
  victims_.Clear();
  region_slots_.Aim(alternative);
  const uint64_t steps = problem_.request().victim_steps / kExchangePart;
  if (exchange_.Build(region, steps)) OfferSet(region);
  victims_.Clear();
}

void PrioritySearch::TrySwaps(const VictimRegion& region) {
  victims_.Clear();
  region_slots_.Aim(here_for_);
  std::vector<Victim> found = here_.victims;
  const uint64_t steps = problem_.request().victim_steps / kSwapPart;
  if (swaps_.Improve(region, steps, &found) && victims_.EnterAll(found)) {
    victims_.ReleaseEntered();
    if (region_slots_.Fits()) OfferSet(region);
  }
  victims_.Clear();
}

// The set makes room in the region; its quota may lack some.
void PrioritySearch::OfferSet(const VictimRegion& region) {
  // Where slots decide, leaving victims out one by one costs no question.
  if (!quota_lacks_ && !problem_.SlotsDecide()) KeepTouched();
  if (victims_.QuotaSuffices() || CoverQuota(problem_, count_, victims_)) {
    Reduce();
    best_.Offer(victims_, region);
    if (here_.Offer(victims_, region)) here_for_ = region_slots_.aim();
  }
}

// Lets go of victims that give nothing to the placement just found.
void PrioritySearch::KeepTouched() {
  std::vector<bool> used(problem_.cluster().node_limit(), false);
  for (const Assignment& a : problem_.placed()) used[a.at.node] = true;
  for (const Victim& victim : victims_.Victims()) {
    bool touches = false;
    for (uint32_t back = 0; back < victim.tasks && !touches; ++back) {
      touches = used[problem_.Task(victim.candidate, back).node];
    }
    if (!touches) victims_.Take(victim.candidate, 0);
  }
}

// Reverse delete: drops victims the gang does not need, most expensive first.
void PrioritySearch::Reduce() {
  std::vector<Victim> order = victims_.Victims();
  std::ranges::sort(order, std::greater<>(), [&](const Victim& v) {
    return std::pair(problem_.CostOf(v.candidate, v.tasks), v.candidate);
  });
  for (const Victim& victim : order) {
    const uint32_t c = victim.candidate;
    if (ReduceTo(c, 0)) continue;
    uint32_t most = problem_.ShrinkSizeCount(c);  // Sizes below what is taken.
    while (problem_.ShrinkSize(c, most) >= victim.tasks) --most;
    if (most == 0 || !ReduceTo(c, problem_.ShrinkSize(c, most))) continue;
    for (uint32_t least = 1; least < most;) {
      const uint32_t size = std::midpoint(least, most);
      if (ReduceTo(c, problem_.ShrinkSize(c, size))) {
        most = size;
      } else {
        least = size + 1;
      }
    }
  }
}

// Releases and enters only `tasks` of c's if that is enough, costs no more and
// is allowed.
bool PrioritySearch::ReduceTo(uint32_t c, uint32_t tasks) {
  const uint32_t before = victims_.entered(c);
  if (problem_.CostOf(c, tasks) > problem_.CostOf(c, before)) return false;
  victims_.Release(c, tasks);
  if (region_slots_.Fits()) {
    std::vector<Victim> old;
    if (quota_lacks_) old = victims_.InOrder();
    if (victims_.Enter(c, tasks) || victims_.Reorder(c, tasks)) {
      if (!quota_lacks_ || victims_.QuotaSuffices()) return true;
      victims_.Reenter(old);
    }
  }
  victims_.Release(c, before);
  return false;
}

// A victim that is needed in its region may yet give room in another where it
// makes the rest superfluous: then that is the better solution.
void PrioritySearch::Settle() {
  while (SettleOnce()) continue;
  victims_.Clear();
}

bool PrioritySearch::TakeSolution() {
  return std::ranges::all_of(best_.in_order, [&](const Victim& victim) {
    return victims_.Take(victim.candidate, victim.tasks);
  });
}

bool PrioritySearch::SettleOnce() {
  victims_.Clear();
  if (!TakeSolution()) return false;
  for (uint32_t r : WorthSettling()) {
    const VictimRegion& region = regions_.all()[r];
    if (&region == best_.region && reduced_) continue;
    region_slots_.Watch(region.nodes);
    if (!region_slots_.Fits()) continue;
    Reduce();
    if (victims_.cost() >= best_.victim_cost) continue;
    best_.Offer(victims_, region);
    reduced_ = true;
    return true;
  }
  return false;
}

// The regions that may have room without some of the best's victims: those in
// which one of them is; for the quota's sake it may be one anywhere.
std::vector<uint32_t> PrioritySearch::WorthSettling() const {
  std::vector<uint32_t> worth;
  if (quota_lacks_ || !reduced_) {
    worth.resize(regions_.all().size());
    std::iota(worth.begin(), worth.end(), 0);
    return worth;
  }
  for (const Victim& victim : best_.victims) {
    for (uint32_t back = 0; back < victim.tasks; ++back) {
      const uint32_t region =
          regions_.Of(problem_.Task(victim.candidate, back).node);
      if (region != Regions::kNowhere) worth.push_back(region);
    }
  }
  std::sort(worth.begin(), worth.end());
  worth.erase(std::unique(worth.begin(), worth.end()), worth.end());
  return worth;
}

}  // namespace
}  // namespace preempt

namespace {

class LeastCostSearch final : public VictimSearch {
 public:
  void Choose(Cluster& cluster, GangSolver& solver,
              const PreemptionRequest& request,
              PreemptionResult* result) override {
    result->Clear();
    preempt::PreemptionProblem problem(cluster, solver, request);
    const Fit fit = problem.Ask({});
    if (fit == Fit::kNever) {
      result->fit = fit;
      result->optimal = true;
      result->steps = problem.steps();
      return;
    }
    const Cluster::Mark trial = cluster.Begin();
    preempt::PrioritySearch search(problem, fit, scratch_);
    search.Run();
    result->optimal = search.proven() && !problem.CutShort();
    result->cut_short = problem.Exhausted();
    result->runner_up = search.FindRunnerUp();
    cluster.Rollback(trial);
    const preempt::Solution& solution = search.solution();
    result->steps = problem.steps();
    if (!solution.found) return;

    const Cluster::Mark mark = cluster.Begin();
    placement_.Clear();
    if (search.TakeSolution()) {
      solver.Place(cluster, request.placement, &placement_);
    }
    if (placement_.fit != Fit::kFits) {
      search.LeaveSolution();
      cluster.Rollback(mark);
      result->optimal = false;
      return;
    }
    cluster.Commit(mark);
    result->steps += placement_.steps;
    result->fit = Fit::kFits;
    result->victims = solution.victims;
    result->tasks = placement_.tasks;
    result->cost = solution.victim_cost.cost;
    result->bound = search.Bound();
  }

 private:
  PlacementResult placement_;
  preempt::PrioritySearch::Scratch scratch_;
};

}  // namespace

std::unique_ptr<VictimSearch> NewVictimSearch() {
  return std::make_unique<LeastCostSearch>();
}

}  // namespace muster
