// FGD, against its definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "test/scoring/policy_world.h"

namespace muster::policy_test {
namespace {

using testing::ElementsAre;

// --- The definition, as plainly as can be ------------------------------------

struct Machine {
  std::string model{};
  int64_t cpu = 0;
  std::vector<int32_t> milli{};
};

struct Ask {
  std::string model{};  // Empty: any.
  int64_t cpu = 0;
  uint32_t gpus = 0;
  int32_t milli = kWholeDevice;
  int64_t weight = 1;

  Role AsRole() const {
    return model.empty() ? Task(cpu, gpus, milli)
                         : TaskOn({model}, cpu, gpus, milli);
  }
  bool Fits(const Machine& m) const {
    if (m.cpu < cpu) return false;
    if (gpus == 0) return true;
    if (!model.empty() && model != m.model) return false;
    return std::ranges::count_if(
               m.milli, [&](int32_t free) { return free >= milli; }) >= gpus;
  }
};

double Fragment(const Machine& m, const std::vector<Ask>& typical_tasks) {
  double weights = 0;
  double sum = 0;
  for (const Ask& ask : typical_tasks) {
    weights += static_cast<double>(ask.weight);
    const bool useless = ask.gpus == 0 || !ask.Fits(m);
    for (const int32_t free : m.milli) {
      if (useless || free < ask.milli) {
        sum += static_cast<double>(ask.weight) * free;
      }
    }
  }
  return sum / weights;
}

// The score before it is rounded down.
double Score(const Machine& before, const Machine& after,
             const std::vector<Ask>& typical_tasks) {
  const double gain =
      Fragment(before, typical_tasks) - Fragment(after, typical_tasks);
  return 100 / (1 + std::exp(-gain / 1000));
}

double BestScore(const Machine& m, const Ask& ask,
                 const std::vector<Ask>& typical_tasks) {
  Machine after = m;
  after.cpu -= ask.cpu;
  if (ask.gpus != 1 || ask.milli == kWholeDevice) {
    uint32_t left = ask.gpus;
    for (int32_t& free : after.milli) {
      if (left == 0 || free < kWholeDevice) continue;
      free = 0;
      --left;
    }
    return Score(m, after, typical_tasks);
  }
  double best = 0;
  for (size_t d = 0; d < m.milli.size(); ++d) {
    if (m.milli[d] < ask.milli) continue;
    Machine shared = after;
    shared.milli[d] -= ask.milli;
    best = std::max(best, Score(m, shared, typical_tasks));
  }
  return best;
}

// --- Random states -----------------------------------------------------------

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  template <class T>
  T Of(const std::vector<T>& values) {
    return values[static_cast<size_t>(
        Below(static_cast<int64_t>(values.size())))];
  }

 private:
  std::mt19937_64 random_;
};

Ask RandomAsk(Dice* dice) {
  Ask ask;
  ask.model = dice->Of<std::string>({"", "", "", "A", "B"});
  ask.cpu = 1000 * dice->Below(12);
  ask.gpus = dice->Of<uint32_t>({0, 1, 1, 1, 1, 2, 4});
  if (ask.gpus == 0) ask.model.clear();
  if (ask.gpus == 1) ask.milli = dice->Of<int32_t>({150, 300, 470, 810, 1000});
  ask.weight = 1 + dice->Below(1000);
  return ask;
}

Machine RandomMachine(Dice* dice) {
  Machine m;
  m.model = dice->Of<std::string>({"A", "B", "C"});
  m.cpu = 1000 * dice->Below(40);
  const size_t devices = static_cast<size_t>(1 + dice->Below(8));
  for (size_t d = 0; d < devices; ++d) {
    m.milli.push_back(
        dice->Of<int32_t>({0, 0, 190, 350, 530, 700, 1000, 1000}));
  }
  return m;
}

PlacementOptions OptionsOf(PlacementPolicy policy,
                           const std::vector<Ask>& typical_tasks) {
  PlacementOptions options{.policy = policy};
  for (const Ask& ask : typical_tasks) {
    options.typical_tasks.push_back(Typical(ask.AsRole(), ask.weight));
  }
  return options;
}

TEST(FragmentationTest, TheCostIsTheDefinitionsScore) {
  int compared = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    std::vector<Ask> typical_tasks;
    for (int64_t i = 1 + dice.Below(20); i > 0; --i) {
      typical_tasks.push_back(RandomAsk(&dice));
    }
    PolicyWorld w;
    w.Use(OptionsOf(PlacementPolicy::kFragmentation, typical_tasks));
    std::vector<Machine> machines;
    for (int n = 0; n < 12; ++n) {
      machines.push_back(RandomMachine(&dice));
      const Machine& m = machines.back();
      w.Add("n" + std::to_string(n), m.cpu, m.milli, m.model);
    }
    for (int t = 0; t < 10; ++t) {
      const Ask ask = RandomAsk(&dice);
      for (size_t n = 0; n < machines.size(); ++n) {
        if (!ask.Fits(machines[n])) continue;
        const double score = BestScore(machines[n], ask, typical_tasks);
        const double cost = w.NodeCost("n" + std::to_string(n), ask.AsRole());
        // Floating point is not sure of whole numbers.
        EXPECT_NEAR(cost, 100 - std::floor(score + 1e-9), 1e-9)
            << "score " << score << " on n" << n;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 3000);
}

TEST(FragmentationTest, AShareGoesWhereItLeavesAFit) {
  PolicyWorld w;
  w.Add("n", 64'000, {700, 900, 1000});
  const std::vector<Ask> typical_tasks{{.cpu = 1000, .gpus = 1, .milli = 600},
                                       {.cpu = 1000, .gpus = 1, .milli = 400}};
  w.Use(OptionsOf(PlacementPolicy::kFragmentation, typical_tasks));
  EXPECT_THAT(w.Devices("n", Task(1000, 1, 300)), ElementsAre(1))
      << "900 - 300 still serves both, and so does 700 no more";
  EXPECT_THAT(w.Devices("n", Task(1000, 1, 1000)), ElementsAre(2));
}

TEST(FragmentationTest, WholeDevicesAreTheFirstFreeOnes) {
  PolicyWorld w;
  w.Add("n", 64'000, {500, 1000, 0, 1000, 1000});
  w.Use(OptionsOf(PlacementPolicy::kFragmentation,
                  {{.cpu = 1000, .gpus = 1, .milli = 600}}));
  EXPECT_THAT(w.Devices("n", Task(1000, 2)), ElementsAre(1, 3));
}

TEST(FragmentationTest, AModelThatIsRarelyAskedForIsUsedFirst) {
  PolicyWorld w;
  w.Add("much", 64'000, {1000}, "A").Add("rare", 64'000, {1000}, "B");
  w.Use(OptionsOf(PlacementPolicy::kFragmentation,
                  {{.cpu = 1000, .gpus = 1, .weight = 50},
                   {.model = "A", .cpu = 1000, .gpus = 1, .weight = 40},
                   {.model = "B", .cpu = 1000, .gpus = 1, .weight = 10}}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "rare much");
}

TEST(FragmentationTest, WithoutAWorkloadAllNodesAreEqual) {
  PolicyWorld w;
  w.Add("a", 64'000, {1000}).Add("b", 64'000, {0, 1000});
  w.Use({.policy = PlacementPolicy::kFragmentation});
  EXPECT_EQ(w.Order(Task(1000, 1)), "a=b");
}

// What a policy remembers must not be seen: one that has met thousands of
// states answers as one that has met none.
TEST(FragmentationTest, AFreshPolicyGivesTheSameCostsAndDevices) {
  for (const PlacementPolicy p :
       {PlacementPolicy::kFragmentation, PlacementPolicy::kMuster}) {
    for (uint64_t seed = 100; seed < 104; ++seed) {
      SCOPED_TRACE(std::string(Name(p)) + ", seed " + std::to_string(seed));
      Dice dice(seed);
      std::vector<Ask> typical_tasks;
      for (int i = 0; i < 12; ++i) typical_tasks.push_back(RandomAsk(&dice));
      PlacementOptions options = OptionsOf(p, typical_tasks);
      options.supply = {{"A", 20}, {"B", 30}, {"C", 50}};
      PolicyWorld w;
      w.Use(options);
      for (int n = 0; n < 30; ++n) {
        const Machine m = RandomMachine(&dice);
        w.Add("n" + std::to_string(n), m.cpu, m.milli, m.model);
      }
      const std::unique_ptr<scoring::NodePolicy> old = std::move(w.policy);
      for (int step = 0; step < 400; ++step) {
        const Ask ask = RandomAsk(&dice);
        const ShapeId shape = w.cluster.Intern(ask.AsRole(), 0);
        const scoring::NodeQuestion question{shape, "g"};
        const NodeIndex n = static_cast<NodeIndex>(dice.Below(30));
        if (w.cluster.Slots(n, shape, Ledger::kBoth, 1) == 0) {
          // Make room, and change what the node is.
          const Machine m = RandomMachine(&dice);
          w.cluster.Remove(n);
          w.Add("n" + std::to_string(n), m.cpu, m.milli, m.model);
          continue;
        }
        w.Use(options);
        const scoring::NodeLedger view{w.cluster, n, Ledger::kBoth};
        ASSERT_EQ(old->NodeCost(view, question),
                  w.policy->NodeCost(view, question));
        const Allocation at = old->Choose(view, question);
        ASSERT_EQ(at, w.policy->Choose(view, question));
        ASSERT_TRUE(w.cluster.Fits(at, Ledger::kBoth));
        w.cluster.Charge(at, Ledger::kBoth);
      }
    }
  }
}

}  // namespace
}  // namespace muster::policy_test
