// The preemptor against all subsets of victims, on random small clusters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/preempt/victim_search.h"
#include "test/preempt/preempt_world.h"

namespace muster {
namespace {

struct Instance {
  ClusterSpec cluster;
  Gang gang;
  bool allowed = false;  // Queues have floors.
  std::vector<QueuePolicy::Queue> queues{};
  int64_t limit = int64_t{1} << 40;  // Of queue 0, the preemptor's.
  int64_t gpus = 0;                  // What the preemptor asks for.
};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  uint32_t From(uint32_t low, uint32_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

 private:
  std::mt19937_64 random_;
};

// A gang of up to four tasks, each on a node drawn if that has room.
RunningSpec Draw(Dice& dice, std::vector<uint32_t>& free,
                 const ClusterSpec& spec, uint32_t cost_scale) {
  RunningSpec gang;
  gang.priority = static_cast<int32_t>(dice.Below(3));
  gang.cost = dice.Below(cost_scale);
  gang.queue = dice.Below(3);
  gang.candidate = !dice.OneIn(6);
  const uint32_t tasks = dice.From(1, 4);
  const uint32_t gpus = dice.From(1, 2);
  for (uint32_t t = 0; t < tasks; ++t) {
    const uint32_t n = dice.Below(static_cast<uint32_t>(free.size()));
    if (free[n] < gpus) continue;
    free[n] -= gpus;
    gang.tasks.push_back(
        {NodeKey(n / spec.nodes_per_rack, n % spec.nodes_per_rack), gpus});
  }
  if (gang.tasks.size() > 1 && dice.OneIn(3)) {
    gang.surplus = dice.From(1, static_cast<uint32_t>(gang.tasks.size()) - 1);
    int64_t cost = 0;
    for (uint32_t t = 0; t < gang.surplus; ++t) {
      gang.surplus_costs.push_back(cost += dice.Below(cost_scale / 2 + 1));
    }
    gang.stoppable = !dice.OneIn(4);
    if (dice.OneIn(2)) {
      for (uint32_t size = 1; size < gang.surplus; ++size) {
        if (dice.OneIn(2)) gang.shrink_sizes.push_back(size);
      }
      gang.shrink_sizes.push_back(gang.surplus);
    }
  }
  return gang;
}

// `cost_scale` 0: one of several.
Instance MakeInstance(uint64_t seed, uint32_t most_running,
                      uint32_t cost_scale = 0) {
  Dice dice(seed);
  Instance instance;
  ClusterSpec& spec = instance.cluster;
  spec.racks = dice.From(1, 3);
  spec.nodes_per_rack = dice.From(1, most_running / 3);
  spec.gpus_per_node = dice.From(2, 4);
  std::vector<uint32_t> free(spec.racks * spec.nodes_per_rack,
                             spec.gpus_per_node);
  const uint32_t any_scale = dice.OneIn(4) ? 1 : dice.OneIn(2) ? 4 : 50;
  if (cost_scale == 0) cost_scale = any_scale;
  const uint32_t running = dice.From(most_running / 2, most_running);
  for (uint32_t i = 0; i < running; ++i) {
    RunningSpec gang = Draw(dice, free, spec, cost_scale);
    if (gang.tasks.empty()) continue;
    gang.key = "g" + std::to_string(dice.Below(1000)) + "-" + std::to_string(i);
    spec.running.push_back(gang);
  }
  const std::string levels[] = {"", "rack", "host"};
  const uint32_t gpus = dice.From(1, spec.gpus_per_node);
  const uint32_t level = dice.Below(3);
  const uint32_t nodes = level == 2   ? 1
                         : level == 1 ? spec.nodes_per_rack
                                      : spec.racks * spec.nodes_per_rack;
  const uint32_t most = nodes * (spec.gpus_per_node / gpus);
  instance.gang =
      MakeGang(dice.From(1, std::min(most + 1, 8u)), gpus, levels[level]);
  const Role& role = instance.gang.roles[0];
  instance.gpus = int64_t{role.min_tasks} * role.shape.devices.count;
  instance.queues.resize(3);
  for (const RunningSpec& gang : spec.running) {
    for (const TaskSpec& task : gang.tasks) {
      instance.queues[gang.queue].used += task.gpus;
    }
  }
  instance.allowed = dice.OneIn(2);
  for (QueuePolicy::Queue& queue : instance.queues) {
    if (!instance.allowed || queue.used == 0) continue;
    queue.floor = dice.Below(static_cast<uint32_t>(queue.used) + 1);
    queue.soft = dice.OneIn(2);
  }
  if (instance.allowed && dice.OneIn(2)) {
    instance.limit = dice.From(1, 8) + instance.gpus;
  }
  return instance;
}

using Value = std::tuple<int32_t, int64_t, uint32_t>;  // Top, cost, broken.

// Whether so many of its tasks may be taken.
bool MayTake(const VictimCandidate& c, uint32_t tasks) {
  if (tasks == c.tasks.size()) return true;
  if (tasks > c.surplus) return false;
  return c.shrink_sizes.empty() ||
         std::find(c.shrink_sizes.begin(), c.shrink_sizes.end(), tasks) !=
             c.shrink_sizes.end();
}

// The most, below so many, that may be taken; 0: none.
uint32_t Fewer(const VictimCandidate& c, uint32_t tasks) {
  do {
    --tasks;
  } while (tasks > 0 && !MayTake(c, tasks));
  return tasks;
}

Value ValueOf(const std::vector<VictimCandidate>& candidates,
              const std::vector<Victim>& victims) {
  Value value{INT32_MIN, 0, 0};
  for (const Victim& v : victims) {
    const VictimCandidate& c = candidates[v.candidate];
    const bool whole = c.stoppable && v.tasks == c.tasks.size();
    auto& [top, cost, broken] = value;
    top = std::max(top, c.priority);
    cost += whole ? c.cost : c.surplus_costs[v.tasks - 1];
    broken += whole;
  }
  return value;
}

// One world with its question, and the slow answers to it.
class Trial {
 public:
  Trial(const Instance& instance, uint64_t shuffle)
      : world_(instance.cluster, shuffle),
        prepared_(world_.Prepare(instance.gang)),
        policy_(world_, instance.queues),
        solver_(NewGangSolver()) {
    policy_.Limit(0, instance.limit, instance.gpus);
    request_.placement.gang = &prepared_;
    request_.placement.ledger = Ledger::kLater;
    request_.candidates = world_.candidates();
    request_.rules = &policy_;
  }

  World& world() { return world_; }
  QueuePolicy& policy() { return policy_; }
  PreemptionRequest& request() { return request_; }

  PreemptionResult Choose() {
    PreemptionResult result;
    NewVictimSearch()->Choose(world_.cluster(), *solver_, request_, &result);
    return result;
  }

  // Whether the policy allows the set, in the order in which it allows most,
  // and the gang then fits.
  bool Works(std::vector<Victim> victims) {
    std::stable_sort(victims.begin(), victims.end(),
                     [&](const Victim& a, const Victim& b) {
                       return world_.Gpus(a.candidate, a.tasks) <
                              world_.Gpus(b.candidate, b.tasks);
                     });
    size_t added = 0;
    while (added < victims.size() &&
           policy_.Add(victims[added].candidate, victims[added].tasks)) {
      ++added;
    }
    const bool allowed = added == victims.size() && policy_.QuotaSuffices();
    const bool works = allowed && FitsWithout(victims);
    for (size_t i = 0; i < added; ++i) policy_.Remove(victims[i].candidate);
    return works;
  }

  // The least value over all sets of victims, without one candidate if that is
  // left out; nothing if none works.
  std::optional<Value> BruteForce(std::optional<uint32_t> left_out = {}) {
    best_.reset();
    left_out_ = left_out;
    std::vector<Victim> victims;
    Try(0, &victims);
    return best_;
  }

  // How many sets BruteForce looks at.
  uint64_t Combinations() const {
    uint64_t product = 1;
    for (const VictimCandidate& c : world_.candidates()) {
      product *= c.surplus + 2;
    }
    return product;
  }

 private:
  bool FitsWithout(const std::vector<Victim>& victims) {
    Cluster& cluster = world_.cluster();
    const Cluster::Mark mark = cluster.Begin();
    for (const Victim& v : victims) {
      for (const Assignment& a :
           world_.candidates()[v.candidate].tasks.last(v.tasks)) {
        cluster.Credit(a.at, Ledger::kLater);
      }
    }
    PlacementResult placed;
    solver_->Place(cluster, request_.placement, &placed);
    cluster.Rollback(mark);
    return placed.fit == Fit::kFits;
  }

  void Try(uint32_t next, std::vector<Victim>* victims) {
    if (next == world_.candidates().size()) {
      const Value value = ValueOf(world_.candidates(), *victims);
      if ((!best_ || value < *best_) && Works(*victims)) best_ = value;
      return;
    }
    Try(next + 1, victims);
    if (next == left_out_) return;
    const VictimCandidate& c = world_.candidates()[next];
    for (uint32_t tasks = 1; tasks <= c.tasks.size(); ++tasks) {
      if (!MayTake(c, tasks)) continue;
      victims->push_back({next, tasks});
      Try(next + 1, victims);
      victims->pop_back();
    }
  }

  World world_;
  PreparedGang prepared_;
  QueuePolicy policy_;
  std::unique_ptr<GangSolver> solver_;
  PreemptionRequest request_;
  std::optional<Value> best_;
  std::optional<uint32_t> left_out_;
};

// What must hold of any answer.
void CheckSound(Trial& trial, const PreemptionResult& result) {
  const auto& candidates = trial.world().candidates();
  if (result.fit != Fit::kFits) {
    EXPECT_TRUE(result.victims.empty());
    for (uint32_t c = 0; c < candidates.size(); ++c) {
      EXPECT_EQ(trial.policy().entered(c), 0u);
    }
    return;
  }
  std::vector<uint32_t> entered(candidates.size(), 0);
  for (const Victim& v : result.victims) entered[v.candidate] = v.tasks;
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    EXPECT_EQ(trial.policy().entered(c), entered[c]);
    EXPECT_TRUE(entered[c] == 0 || MayTake(candidates[c], entered[c]));
    if (entered[c] > 0) trial.policy().Remove(c);
  }
  EXPECT_EQ(result.cost, std::get<1>(ValueOf(candidates, result.victims)));
  EXPECT_TRUE(trial.Works(result.victims));
  for (size_t i = 0; i < result.victims.size(); ++i) {
    std::vector<Victim> fewer = result.victims;
    const uint32_t c = fewer[i].candidate;
    const uint32_t less = Fewer(candidates[c], fewer[i].tasks);
    if (less == 0) {
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    } else {
      fewer[i].tasks = less;
      if (ValueOf(candidates, fewer) > ValueOf(candidates, result.victims)) {
        continue;  // A shrink would cost more than a stop.
      }
    }
    EXPECT_FALSE(trial.Works(fewer)) << "superfluous: " << c;
  }
}

// Chooses in a transaction, checks that undoing it leaves nothing behind, and
// that the answer keeps to the policy.
PreemptionResult ChooseAndCheck(Trial& trial) {
  Cluster& cluster = trial.world().cluster();
  const uint64_t before = cluster.Hash();
  const Cluster::Mark mark = cluster.Begin();
  PreemptionResult result = trial.Choose();
  if (result.fit != Fit::kFits) {
    EXPECT_EQ(cluster.Hash(), before);
  }
  EXPECT_TRUE(cluster.Validate().ok());
  cluster.Rollback(mark);
  EXPECT_EQ(cluster.Hash(), before);
  CheckSound(trial, result);
  return result;
}

// What is told of how good it is.
void CheckBound(Trial& trial, const PreemptionResult& result,
                const Value& best) {
  const Value value = ValueOf(trial.world().candidates(), result.victims);
  EXPECT_LE(result.bound, result.cost);
  EXPECT_TRUE(!result.optimal || result.gap() == 0);
  if (std::get<0>(value) == std::get<0>(best)) {
    EXPECT_LE(result.bound, std::get<1>(best));
  }
}

// What is told of runners-up: whether one is there, was found, is the best.
struct RunnersUp {
  int exist = 0;
  int found = 0;
  int best = 0;

  void Check(Trial& trial, const PreemptionResult& result) {
    if (result.fit != Fit::kFits || result.victims.empty()) {
      EXPECT_EQ(result.runner_up.victims, 0u);
      return;
    }
    const auto& candidates = trial.world().candidates();
    const auto out = std::ranges::max_element(
        result.victims, {},
        [&](const Victim& v) { return std::get<1>(ValueOf(candidates, {v})); });
    const std::optional<Value> others = trial.BruteForce(out->candidate);
    exist += others.has_value();
    if (result.runner_up.victims == 0) return;
    ++found;
    ASSERT_TRUE(others.has_value());
    const std::pair told(result.runner_up.priority, result.runner_up.cost);
    const std::pair least(std::get<0>(*others), std::get<1>(*others));
    EXPECT_GE(told, least);
    best += told == least;
  }
};

TEST(PreemptorPropertyTest, SmallClustersAgainstAllSubsets) {
  constexpr uint64_t kFirst = 1, kLast = 4000;
  int with_victims = 0;
  RunnersUp runners_up;
  for (uint64_t seed = kFirst; seed <= kLast; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Trial trial(MakeInstance(seed, 9), 0);
    if (trial.Combinations() > 3000) continue;
    const PreemptionResult result = ChooseAndCheck(trial);
    const std::optional<Value> best = trial.BruteForce();
    ASSERT_EQ(result.fit == Fit::kFits, best.has_value());
    runners_up.Check(trial, result);
    if (!best) continue;
    with_victims += !result.victims.empty();
    const Value value = ValueOf(trial.world().candidates(), result.victims);
    EXPECT_EQ(value, *best);
    EXPECT_TRUE(result.optimal);
    if (HasFailure()) return;
  }
  EXPECT_GE(with_victims, 1'200);  // Else they tell little.
  EXPECT_GE(runners_up.exist, 500);
  std::printf("runners-up: %d exist, %d found, %d of them the best\n",
              runners_up.exist, runners_up.found, runners_up.best);
  EXPECT_GE(runners_up.found, runners_up.exist * 9 / 10);
  EXPECT_GE(runners_up.best, runners_up.found * 8 / 10);
}

// Two roles, of which sometimes one is enough; alternatives; role levels.
TEST(PreemptorPropertyTest, GangsOfTwoRolesAgainstAllSubsets) {
  constexpr uint64_t kFirst = 500'001, kLast = 502'000;
  int compared = 0, with_victims = 0;
  for (uint64_t seed = kFirst; seed <= kLast; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Instance instance = MakeInstance(seed, 9);
    Dice dice(~seed);
    Gang& gang = instance.gang;
    Role& first = gang.roles[0];
    first.name = "first";
    first.min_tasks = std::min(first.min_tasks, 3u);
    first.desired_tasks = first.min_tasks + dice.Below(2);
    if (dice.OneIn(4)) {
      first.alternatives.push_back(first.shape);
      first.alternatives[0].devices.count = dice.From(1, 2);
    }
    gang.roles.push_back(
        MakeGang(dice.From(1, 2), dice.From(1, 2), "").roles[0]);
    gang.roles[1].name = "second";
    if (dice.OneIn(4)) gang.roles[1].topology.required = "rack";
    if (dice.OneIn(4)) gang.groups[0].min_children = 1;
    if (dice.OneIn(4)) gang.groups[0].min_tasks = 3;
    Trial trial(instance, 0);
    if (trial.Combinations() > 1000) continue;
    const PreemptionResult result = ChooseAndCheck(trial);
    const std::optional<Value> best = trial.BruteForce();
    ++compared;
    ASSERT_EQ(result.fit == Fit::kFits, best.has_value());
    EXPECT_TRUE(result.optimal);
    if (!best) continue;
    with_victims += !result.victims.empty();
    EXPECT_EQ(ValueOf(trial.world().candidates(), result.victims), *best);
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 1'800);
  EXPECT_GE(with_victims, 400);
}

// What stopping costs: nothing, a little (many ties), anything.
struct CostModel {
  const char* name = "";
  uint32_t scale = 1;
};
constexpr CostModel kCostModels[] = {
    {"no cost", 1}, {"many ties", 4}, {"any cost", 1000}};

// MUSTER_INSTANCES: how many of each.
uint32_t InstanceCount() {
  const char* text = std::getenv("MUSTER_INSTANCES");
  return text != nullptr ? static_cast<uint32_t>(std::atoi(text)) : 200;
}

// Nine to eighteen candidates: nearly always the best, and with more steps
// always. A no that is wrong is told as unproven.
TEST(PreemptorPropertyTest, MediumClustersAgainstAllSubsets) {
  for (const CostModel& model : kCostModels) {
    uint32_t compared = 0, found = 0, best_found = 0, proven = 0;
    double sum = 0;
    for (uint64_t seed = 100'001; compared < InstanceCount(); ++seed) {
      SCOPED_TRACE(testing::Message() << model.name << ", seed " << seed);
      Trial trial(MakeInstance(seed, 24, model.scale), 0);
      const size_t candidates = trial.world().candidates().size();
      if (candidates < 9 || candidates > 18) continue;
      if (trial.Combinations() > 300'000) continue;
      const PreemptionResult result = ChooseAndCheck(trial);
      const std::optional<Value> best = trial.BruteForce();
      if (!best) {
        EXPECT_NE(result.fit, Fit::kFits);
        continue;
      }
      ++compared;
      proven += result.optimal;
      bool same = false;
      if (result.fit == Fit::kFits) {
        ++found;
        double cost = 2;  // A higher priority loses something.
        CheckBound(trial, result, *best);
        const Value value = ValueOf(trial.world().candidates(), result.victims);
        same = value == *best;
        if (std::get<0>(value) == std::get<0>(*best)) {
          cost = static_cast<double>(std::get<1>(value) + 1) /
                 static_cast<double>(std::get<1>(*best) + 1);
        }
        sum += cost;
      }
      best_found += same;
      EXPECT_TRUE(same || !result.optimal);
      if (!same) {
        trial.request().victim_steps *= 1000;
        const PreemptionResult more = ChooseAndCheck(trial);
        ASSERT_EQ(more.fit, Fit::kFits);
        EXPECT_EQ(ValueOf(trial.world().candidates(), more.victims), *best);
        EXPECT_TRUE(more.optimal);
      }
      if (HasFailure()) return;
    }
    std::printf(
        "%s: %u compared, %u found, %u best, %u proven, mean cost %.4f\n",
        model.name, compared, found, best_found, proven, sum / found);
    EXPECT_GE(best_found * 100, compared * 99);
    EXPECT_LE(sum / found, 1.01);
  }
}

// Too large for brute force: soundness, and nothing but keys decides.
TEST(PreemptorPropertyTest, TheOrderOfArrivalDecidesNothing) {
  constexpr uint64_t kFirst = 200'001, kLast = 201'500;
  for (uint64_t seed = kFirst; seed <= kLast; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Instance instance = MakeInstance(seed, 30);
    Trial one(instance, 0), two(instance, seed);
    const PreemptionResult a = ChooseAndCheck(one);
    const PreemptionResult b = ChooseAndCheck(two);
    EXPECT_EQ(a.fit, b.fit);
    EXPECT_EQ(a.victims, b.victims);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.optimal, b.optimal);
    ASSERT_EQ(a.tasks.size(), b.tasks.size());
    for (size_t t = 0; t < a.tasks.size(); ++t) {
      EXPECT_EQ(one.world().cluster().node(a.tasks[t].at.node).key,
                two.world().cluster().node(b.tasks[t].at.node).key);
      EXPECT_EQ(a.tasks[t].at.devices, b.tasks[t].at.devices);
    }
    if (HasFailure()) return;
  }
}

TEST(PreemptorPropertyTest, ASmallBudgetNeverMakesAnAnswerUnsound) {
  constexpr uint64_t kFirst = 300'001, kLast = 306'000;
  for (uint64_t seed = kFirst; seed <= kLast; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Trial trial(MakeInstance(seed, 9), 0);
    if (trial.Combinations() > 1000) continue;
    trial.request().victim_steps = seed % 60;
    const PreemptionResult result = ChooseAndCheck(trial);
    if (!result.optimal) continue;
    const std::optional<Value> best = trial.BruteForce();
    ASSERT_EQ(result.fit == Fit::kFits, best.has_value());
    if (best) {
      EXPECT_EQ(ValueOf(trial.world().candidates(), result.victims), *best);
    }
    if (HasFailure()) return;
  }
}

// Racks of single-GPU jobs, with free GPUs here and there. There the cheapest
// victims are known: of each rack the cheapest nodes, or the cheapest GPUs.
class LargeCluster {
 public:
  static constexpr uint32_t kRacks = 24, kNodes = 16, kGpus = 8;

  explicit LargeCluster(uint64_t seed) : dice_(seed) {
    spec_ = {.racks = kRacks, .nodes_per_rack = kNodes, .gpus_per_node = kGpus};
    for (uint32_t n = 0; n < kRacks * kNodes; ++n) {
      const std::string node = NodeKey(n / kNodes, n % kNodes);
      const uint32_t busy = dice_.OneIn(3) ? dice_.Below(kGpus + 1) : kGpus;
      for (uint32_t i = 0; i < busy; ++i) {
        const int64_t cost = dice_.Below(1000);
        costs_[n].push_back(cost);
        spec_.running.push_back({.key = node + "/" + std::to_string(i),
                                 .cost = cost,
                                 .tasks = {{node}}});
      }
      std::sort(costs_[n].begin(), costs_[n].end());
    }
  }

  const ClusterSpec& spec() const { return spec_; }

  // The least cost of `tasks` tasks of `gpus` GPUs in one rack: exact where
  // gpus is 1 or all of a node.
  int64_t Least(uint32_t tasks, uint32_t gpus) const {
    int64_t least = INT64_MAX;
    for (uint32_t rack = 0; rack < kRacks; ++rack) {
      std::vector<int64_t> places;
      for (uint32_t n = rack * kNodes; n < (rack + 1) * kNodes; ++n) {
        const std::vector<int64_t>& costs = costs_[n];
        if (gpus == kGpus) {
          places.push_back(std::accumulate(costs.begin(), costs.end(), 0l));
        } else {
          places.insert(places.end(), costs.begin(), costs.end());
          places.insert(places.end(), kGpus - costs.size(), 0);
        }
      }
      std::sort(places.begin(), places.end());
      least = std::min(
          least, std::accumulate(places.begin(), places.begin() + tasks, 0l));
    }
    return least;
  }

 private:
  Dice dice_;
  ClusterSpec spec_;
  std::vector<int64_t> costs_[kRacks * kNodes];
};

TEST(PreemptorPropertyTest, LargeClustersOfSmallJobsAgainstTheFormula) {
  constexpr uint64_t kFirst = 400'001, kLast = 400'030;
  for (uint64_t seed = kFirst; seed <= kLast; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const LargeCluster large(seed);
    for (const auto& [tasks, gpus] : {std::pair(8, 8), std::pair(64, 1)}) {
      Instance instance{.cluster = large.spec(),
                        .gang = MakeGang(tasks, gpus, "rack"),
                        .queues = {{.used = INT32_MAX}}};
      Trial trial(instance, 0);
      const PreemptionResult result = ChooseAndCheck(trial);
      ASSERT_EQ(result.fit, Fit::kFits);
      EXPECT_EQ(result.cost, large.Least(tasks, gpus));
    }
  }
}

}  // namespace
}  // namespace muster
