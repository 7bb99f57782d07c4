// Preemptor as a host uses it that has its own queues.
#include "muster/preemptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Gang GangOf(const std::string& key, uint32_t tasks, uint32_t gpus) {
  Role role{.name = "worker", .min_tasks = tasks, .desired_tasks = tasks};
  role.shape.devices.count = gpus;
  Gang gang;
  gang.key = key;
  gang.roles = {role};
  return gang;
}

PlacementSolver MakeSolver(int nodes) {
  PlacementSolver solver = *PlacementSolver::Create({});
  for (int i = 0; i < nodes; ++i) {
    Node node;
    node.key = "n" + std::to_string(i);
    node.devices.assign(4, Device{});
    EXPECT_TRUE(solver.SetNode(node).ok());
  }
  return solver;
}

std::vector<std::string> Keys(const VictimChoice& choice,
                              const std::vector<PreemptibleGang>& running) {
  std::vector<std::string> keys;
  for (const VictimChoice::Victim& v : choice.victims) {
    keys.push_back(running[v.candidate].gang +
                   (v.whole ? "" : " -" + std::to_string(v.tasks.size())));
  }
  return keys;
}

TEST(PreemptorTest, TakesTheCheapestOfTheLowestPriority) {
  PlacementSolver solver = MakeSolver(3);
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_EQ(solver.Place(GangOf(key, 1, 4))->fit, Fit::kFits);
  }
  const std::vector<PreemptibleGang> running = {
      {.gang = "a", .priority = 5, .cost = 1},
      {.gang = "b", .priority = 1, .cost = 90},
      {.gang = "c", .priority = 1, .cost = 80}};
  Preemptor preemptor;
  const auto choice = preemptor.Choose(solver, GangOf("p", 1, 4), running);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->fit, Fit::kFits);
  EXPECT_THAT(Keys(*choice, running), ElementsAre("c"));
  EXPECT_EQ(choice->cost, 80);
  EXPECT_EQ(choice->gap(), 0);
  EXPECT_TRUE(choice->optimal);
  // The solver is as it was, until the caller acts.
  EXPECT_EQ(solver.TasksOf("c").size(), 1u);
  ASSERT_TRUE(solver.Release("c").ok());
  ASSERT_TRUE(solver.Hold(GangOf("p", 1, 4), choice->tasks).ok());
  EXPECT_EQ(solver.TasksOf("p")[0].node, "n2");
}

TEST(PreemptorTest, TakesWhatAGangCanDoWithout) {
  PlacementSolver solver = MakeSolver(2);
  Gang elastic = GangOf("e", 1, 2);
  elastic.roles[0].desired_tasks = 3;
  ASSERT_TRUE(solver.Place(elastic).ok());
  ASSERT_EQ(solver.Grow("e")->tasks.size(), 2u);
  ASSERT_TRUE(solver.Place(GangOf("s", 1, 2)).ok());
  std::vector<PreemptibleGang> running = {{.gang = "e", .cost = 300},
                                          {.gang = "s", .cost = 150}};
  Preemptor preemptor;
  const Gang p = GangOf("p", 1, 2);
  EXPECT_THAT(Keys(*preemptor.Choose(solver, p, running), running),
              ElementsAre("e -1"));
  running[0].shrinkable = false;
  EXPECT_THAT(Keys(*preemptor.Choose(solver, p, running), running),
              ElementsAre("s"));
  running[1].stoppable = false;
  EXPECT_THAT(Keys(*preemptor.Choose(solver, p, running), running),
              ElementsAre("e"));
  running[0].stoppable = false;
  const auto none = preemptor.Choose(solver, p, running);
  EXPECT_EQ(none->fit, Fit::kNotNow);
  EXPECT_TRUE(none->optimal);
}

TEST(PreemptorTest, RefusesWhatIsWrong) {
  PlacementSolver solver = MakeSolver(1);
  ASSERT_TRUE(solver.Place(GangOf("a", 1, 4)).ok());
  Preemptor preemptor;
  const auto refused = [&](const Gang& gang,
                           std::vector<PreemptibleGang> running,
                           const std::string& why) {
    const auto choice = preemptor.Choose(solver, gang, running);
    ASSERT_FALSE(choice.ok());
    EXPECT_THAT(std::string(choice.status().message()), HasSubstr(why));
  };
  const Gang p = GangOf("p", 1, 4);
  refused(GangOf("", 1, 1), {}, "gang.key");
  refused(GangOf("a", 1, 1), {}, "'a' has its places already");
  refused(p, {{.gang = "x"}}, "candidates[0].gang");
  refused(p, {{.gang = "a"}, {.gang = "a", .priority = 1}}, "twice");
  refused(p, {{.gang = "a", .cost = -1}}, "candidates[0].cost");
  EXPECT_EQ(preemptor.Choose(solver, p, {})->fit, Fit::kNotNow);
}

// No more than so many victims of each team; candidates by position.
class TeamBudget final : public VictimPolicy {
 public:
  TeamBudget(std::vector<uint32_t> teams, std::vector<int> left)
      : teams_(std::move(teams)), left_(std::move(left)) {}
  bool Add(uint32_t i, uint32_t) override {
    if (left_[teams_[i]] == 0) return false;
    --left_[teams_[i]];
    return true;
  }
  void Remove(uint32_t i) override { ++left_[teams_[i]]; }
  bool QuotaSuffices() const override { return true; }

 private:
  std::vector<uint32_t> teams_;  // By candidate.
  std::vector<int> left_;
};

// Highest priority, cost and number of victims of a set; the least is best.
using Score = std::tuple<int32_t, int64_t, int>;

// All sets of candidates, by brute force.
Score Best(int nodes, const std::vector<Gang>& gangs,
           const std::vector<std::vector<PlacedTask>>& places,
           const std::vector<PreemptibleGang>& running,
           const std::vector<uint32_t>& teams, const std::vector<int>& budget,
           const Gang& p) {
  Score best{std::numeric_limits<int32_t>::max(), 0, 0};
  for (uint32_t set = 0; set < (1u << gangs.size()); ++set) {
    PlacementSolver solver = MakeSolver(nodes);
    Score score{std::numeric_limits<int32_t>::min(), 0, 0};
    TeamBudget left(teams, budget);
    bool allowed = true;
    for (uint32_t i = 0; i < gangs.size(); ++i) {
      if ((set >> i & 1) == 0) {
        EXPECT_TRUE(solver.Hold(gangs[i], places[i]).ok());
        continue;
      }
      allowed &= left.Add(i, 1);
      std::get<0>(score) = std::max(std::get<0>(score), running[i].priority);
      std::get<1>(score) += running[i].cost;
      ++std::get<2>(score);
    }
    if (allowed && score < best && solver.Find(p)->fit == Fit::kFits) {
      best = score;
    }
  }
  return best;
}

TEST(PreemptorPropertyTest, ChoosesAsBruteForceDoes) {
  int found = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) {
      return static_cast<uint32_t>(random() % n);
    };
    const int nodes = 2 + static_cast<int>(below(3));
    PlacementSolver solver = MakeSolver(nodes);
    std::vector<Gang> gangs;
    std::vector<std::vector<PlacedTask>> places;
    std::vector<PreemptibleGang> running;
    std::vector<uint32_t> teams;
    while (gangs.size() < 7) {
      const Gang gang = GangOf("g" + std::to_string(random() % 1000),  //
                               1 + below(2), 1 + below(3));
      const auto placed = solver.Place(gang);
      if (!placed.ok()) continue;
      if (placed->fit != Fit::kFits) break;
      gangs.push_back(gang);
      places.push_back(placed->tasks);
      running.push_back({.gang = gang.key,
                         .priority = static_cast<int32_t>(below(3)),
                         .cost = below(100)});
      teams.push_back(below(2));
    }
    const std::vector<int> budget = {static_cast<int>(1 + below(3)),
                                     static_cast<int>(1 + below(3))};
    const Gang p = GangOf("p", 1 + below(3), 1 + below(4));
    TeamBudget policy(teams, budget);
    Preemptor preemptor;
    const auto choice = preemptor.Choose(solver, p, running, &policy);
    ASSERT_TRUE(choice.ok()) << choice.status();
    const Score best = Best(nodes, gangs, places, running, teams, budget, p);
    if (choice->fit != Fit::kFits) {
      EXPECT_EQ(std::get<0>(best), std::numeric_limits<int32_t>::max()) << seed;
      continue;
    }
    ++found;
    EXPECT_TRUE(choice->optimal) << seed;
    Score score{std::numeric_limits<int32_t>::min(), 0, 0};
    for (const VictimChoice::Victim& v : choice->victims) {
      EXPECT_TRUE(v.whole);
      std::get<0>(score) =
          std::max(std::get<0>(score), running[v.candidate].priority);
      std::get<1>(score) += running[v.candidate].cost;
      ++std::get<2>(score);
      ASSERT_TRUE(solver.Release(running[v.candidate].gang).ok());
    }
    EXPECT_EQ(score, best) << seed;
    EXPECT_EQ(choice->cost, std::get<1>(best)) << seed;
    EXPECT_EQ(solver.Find(p)->fit, Fit::kFits) << seed;
    EXPECT_TRUE(solver.Hold(p, choice->tasks).ok()) << seed;
  }
  EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace muster
