// What certificates claim, against all placements there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "test/solver/oracle.h"
#include "test/solver/random_world.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

// How often something was claimed and how often it was the whole truth.
struct Tally {
  uint64_t placed = 0;
  uint64_t claimed = 0;
  uint64_t optimal = 0;
  uint64_t best = 0;  // Proven or not: no way is better.
};

std::ostream& operator<<(std::ostream& out, const Tally& tally) {
  return out << tally.claimed << " with claims, " << tally.optimal
             << " proven optimal, " << tally.best << " the best there is\n";
}

void CheckLevels(const Certificate& certificate, const Way& own,
                 const std::set<Way>& ways) {
  for (size_t l = 0; l < own.domains.size(); ++l) {
    ASSERT_EQ(certificate.levels[l].used, own.domains[l]) << "level " << l;
    ASSERT_LE(certificate.levels[l].least, own.domains[l]) << "level " << l;
  }
  for (const Way& way : ways) {
    for (size_t l = 0; l < way.domains.size(); ++l) {
      ASSERT_GE(way.domains[l], certificate.levels[l].least) << "level " << l;
      if (way.domains[l] > own.domains[l]) break;
    }
    if (!certificate.optimal) continue;
    ASSERT_GE(way.domains, own.domains);
  }
}

void CheckTraffic(const Certificate& certificate, const Way& own,
                  const std::set<Way>& ways) {
  ASSERT_EQ(certificate.traffic.cost, own.traffic);
  ASSERT_LE(certificate.traffic.least, own.traffic);
  ASSERT_EQ(certificate.optimal, certificate.traffic.gap() == 0);
  for (const Way& way : ways) {
    if (way.level < own.level) continue;
    ASSERT_GE(way.traffic, certificate.traffic.least);
  }
}

bool IsBest(const Gang& gang, const Way& own, const std::set<Way>& ways) {
  return std::none_of(ways.begin(), ways.end(), [&](const Way& way) {
    return gang.traffic.empty()
               ? way.domains < own.domains
               : way.level >= own.level && way.traffic < own.traffic;
  });
}

// Whether nothing goes before the number of domains. (Spreads do not, either,
// but the program over counts does not know all they allow.)
bool ChoosesByDomains(const Gang& gang) {
  const auto free = [](const TopologyConstraint& c) {
    return c.preferred.empty() && c.spread.level.empty();
  };
  return std::all_of(gang.groups.begin(), gang.groups.end(),
                     [&](const Group& g) { return free(g.topology); }) &&
         std::all_of(gang.roles.begin(), gang.roles.end(), [&](const Role& r) {
           return free(r.topology) && r.preferences.empty();
         });
}

// The answer in w.result, whose tasks are charged, was given beside `fixed`.
void CheckClaims(World& w, const std::vector<Assignment>& fixed, Tally* tally) {
  const Certificate& certificate = w.result.certificate;
  const Gang& gang = w.request.gang->gang;
  for (const Assignment& a : w.result.tasks) {
    w.cluster.Credit(a.at, Ledger::kBoth);
  }
  ++tally->placed;
  tally->claimed +=
      !certificate.levels.empty() || certificate.traffic.has_traffic;
  tally->optimal += certificate.optimal;
  const std::set<Way> ways =
      AllWays(w.cluster, *w.request.gang, w.result.tasks, fixed);
  const Way own = WayOf(w.cluster, gang, w.result.tasks, fixed);
  const bool best = IsBest(gang, own, ways);
  tally->best += best;
  ASSERT_TRUE(ways.count(own) > 0);
  if (!certificate.levels.empty() && ChoosesByDomains(gang)) {
    ASSERT_TRUE(best);
  }
  if (w.result.tasks.size() + fixed.size() > 1) {
    ASSERT_EQ(certificate.traffic.has_traffic, !gang.traffic.empty());
  }
  if (certificate.traffic.has_traffic) {
    CheckTraffic(certificate, own, ways);
  } else if (certificate.levels.size() == own.domains.size()) {
    CheckLevels(certificate, own, ways);
  } else if (!certificate.levels.empty()) {
    // One node outside the topology, where that is all there is.
    ASSERT_EQ(certificate.levels.size(), 1u);
    ASSERT_EQ(own.domains.back(), 1u);
  } else {
    ASSERT_FALSE(certificate.optimal);
  }
}

// Of what is claimed, so many per cent must be proven optimal. MUSTER_SEEDS=k
// asks k times as many questions.
void CheckMany(uint64_t first, uint64_t count, const Limits& limits,
               uint64_t optimal_percent) {
  const char* factor = std::getenv("MUSTER_SEEDS");
  if (factor != nullptr) count *= std::strtoull(factor, nullptr, 10);
  Tally tally;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<NodeSpec> nodes = RandomNodes(random, limits);
    World w(TwoLevels());
    for (const NodeSpec& node : nodes) w.Add(node);
    UseSome(random, w);
    w.Place(RandomGang(random, limits));
    if (w.result.fit != Fit::kFits || w.result.tasks.empty()) continue;
    CheckClaims(w, {}, &tally);
    if (testing::Test::HasFatalFailure()) return;
  }
  std::cout << "seeds " << first << ".." << first + count - 1 << ": "
            << tally.placed << " fit, " << tally;
  EXPECT_EQ(tally.claimed, tally.placed);
  EXPECT_GE(tally.optimal * 100, tally.claimed * optimal_percent);
}

TEST(Certificates, OfSeveralRoles) {
  CheckMany(300000, 1500, {.nodes = 6, .roles = 3, .tasks = 2}, 80);
}

// What one role needs by itself is a bound for the gang.
TEST(Certificates, OfALargeRoleBesideAnother) {
  Tally tally;
  for (uint64_t seed = 305000; seed < 306500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Limits limits{.nodes = 6,
                        .roles = 2,
                        .tasks = 1,
                        .groups = random.Chance(30),
                        .traffic = random.Chance(20),
                        .preferences = random.Chance(20)};
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    UseSome(random, w);
    Gang gang = RandomGang(random, limits);
    gang.roles[0].min_tasks = gang.roles[0].desired_tasks =
        random.Between(2, 5);
    w.Place(gang);
    if (w.result.fit != Fit::kFits || w.result.tasks.empty()) continue;
    CheckClaims(w, {}, &tally);
    if (testing::Test::HasFatalFailure()) return;
  }
  std::cout << tally.placed << " fit, " << tally;
  EXPECT_GE(tally.optimal * 100, tally.claimed * 80);
}

TEST(Certificates, OfShares) {
  CheckMany(310000, 800,
            {.nodes = 3, .devices = 3, .roles = 3, .tasks = 2, .shares = true},
            80);
}

TEST(Certificates, OfGroups) {
  CheckMany(320000, 1500, {.nodes = 6, .roles = 3, .tasks = 2, .groups = true},
            80);
}

TEST(Certificates, OfSlices) {
  CheckMany(330000, 800, {.nodes = 6, .roles = 1, .tasks = 5, .slices = true},
            80);
  CheckMany(335000, 500, {.nodes = 5, .roles = 2, .tasks = 3, .slices = true},
            80);
}

TEST(Certificates, OfElasticGangsAndAlternatives) {
  CheckMany(340000, 1500,
            {.nodes = 4,
             .devices = 2,
             .roles = 3,
             .tasks = 2,
             .groups = true,
             .elastic = true,
             .alternatives = true},
            80);
}

TEST(Certificates, OfSpreads) {
  CheckMany(350000, 1500, {.nodes = 6, .roles = 1, .tasks = 4, .spreads = true},
            80);
  CheckMany(
      355000, 1500,
      {.nodes = 5, .roles = 3, .tasks = 2, .groups = true, .spreads = true},
      80);
}

TEST(Certificates, OfPreferences) {
  CheckMany(360000, 800,
            {.nodes = 6, .roles = 2, .tasks = 3, .preferences = true}, 80);
}

TEST(Certificates, OfTraffic) {
  CheckMany(370000, 1500, {.nodes = 6, .roles = 3, .tasks = 2, .traffic = true},
            95);
  CheckMany(375000, 500,
            {.nodes = 4,
             .devices = 2,
             .roles = 2,
             .tasks = 3,
             .groups = true,
             .slices = true,
             .spreads = true,
             .shares = true,
             .traffic = true},
            80);
}

// A gang loses some tasks; what comes back lies beside those that stay.
TEST(Certificates, BesideFixedTasks) {
  for (const bool traffic : {false, true}) {
    Tally tally;
    const Limits limits{.nodes = 6,
                        .roles = 3,
                        .tasks = 2,
                        .groups = true,
                        .slices = true,
                        .spreads = !traffic,
                        .traffic = traffic};
    for (uint64_t seed = 380000; seed < 384000; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Random random(seed);
      World w(TwoLevels());
      for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
      if (w.Place(RandomGang(random, limits)).fit != Fit::kFits) continue;
      LoseHalf(random, w);
      const std::vector<Assignment> kept = w.placed;
      if (w.PlaceAgain().fit != Fit::kFits || w.result.tasks.empty()) continue;
      CheckClaims(w, kept, &tally);
      if (HasFatalFailure()) return;
    }
    std::cout << tally.placed << " fit, " << tally;
    EXPECT_GE(tally.optimal * 100, tally.claimed * 80);
  }
}

// An elastic gang grows beside what runs.
TEST(Certificates, OfGrowth) {
  Tally tally;
  const Limits limits{.nodes = 6,
                      .roles = 2,
                      .tasks = 3,
                      .groups = true,
                      .slices = true,
                      .spreads = true,
                      .elastic = true,
                      .alternatives = true};
  for (uint64_t seed = 390000; seed < 400000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    UseSome(random, w);
    if (w.Place(RandomGang(random, limits)).fit != Fit::kFits) continue;
    const std::vector<Assignment> kept = w.placed;
    if (kept.empty() || w.Grow().tasks.empty()) continue;
    CheckClaims(w, kept, &tally);
    if (HasFatalFailure()) return;
  }
  std::cout << tally.placed << " grew, " << tally;
  EXPECT_GT(tally.placed, 300u);
  EXPECT_EQ(tally.claimed, tally.placed);
  EXPECT_GE(tally.optimal * 100, tally.claimed * 80);
}

// Only some of the nodes may be used: as if the others were not available.
TEST(Certificates, WithinSomeNodes) {
  Tally tally;
  const Limits limits{.nodes = 7, .roles = 2, .tasks = 3, .groups = true};
  for (uint64_t seed = 390000; seed < 391500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    UseSome(random, w);
    std::vector<NodeIndex> within;
    std::vector<NodeIndex> without;
    for (const NodeIndex n : w.cluster.nodes()) {
      (random.Chance(70) ? within : without).push_back(n);
    }
    if (within.empty()) continue;
    w.Prepare(RandomGang(random, limits));
    w.request.within = within;
    const PlacementResult answer = w.PlaceAgain();
    for (const Assignment& a : answer.tasks) {
      w.cluster.Credit(a.at, Ledger::kBoth);
    }
    for (const NodeIndex n : without) w.cluster.SetAvailable(n, false);
    ASSERT_EQ(answer.fit == Fit::kFits,
              BruteForce(w.cluster, *w.request.gang).has_value());
    if (answer.fit != Fit::kFits) continue;
    for (const Assignment& a : answer.tasks) {
      w.cluster.Charge(a.at, Ledger::kBoth);
    }
    CheckClaims(w, {}, &tally);
    if (HasFatalFailure()) return;
  }
  std::cout << tally.placed << " fit, " << tally;
  EXPECT_GE(tally.optimal * 100, tally.claimed * 80);
}

Gang Pairs(uint32_t twos, uint32_t threes) {
  Gang gang;
  gang.roles = {MakeRole("two", twos, 2), MakeRole("three", threes, 3)};
  return gang;
}

// On every node one of each, or the last ones have no place.
TEST(MixedGangs, FillEveryNodeToTheLastDevice) {
  World w;
  for (uint32_t r = 0; r < 4; ++r) {
    const std::string rack = std::to_string(r);
    w.AddMany("z/b/r" + rack + "/n" + rack + "-", 10, 5);
  }
  w.Place(Pairs(40, 40));
  ASSERT_EQ(w.result.fit, Fit::kFits);
  EXPECT_EQ(w.result.tasks.size(), 80u);
  EXPECT_TRUE(w.result.certificate.optimal);
}

// Slots for each by itself, devices for both together: and yet no way, which
// trying all ways would not show in a lifetime.
TEST(MixedGangs, ThatHaveNoPlaceAreProvenToHaveNone) {
  World w;
  w.AddMany("z/b/r0/n", 20, 4).AddMany("z/b/r1/m", 20, 4);
  w.Place(Pairs(40, 20));
  ASSERT_EQ(w.result.fit, Fit::kFits) << "threes on half of the nodes";
  for (const Assignment& a : w.placed) w.cluster.Credit(a.at, Ledger::kBoth);
  w.Place(Pairs(41, 20));
  EXPECT_EQ(w.result.fit, Fit::kNotNow);
  EXPECT_NE(w.result.reason.code, ReasonCode::kBudget);
}

}  // namespace
}  // namespace muster::solver_test
