// A small role beside a large one: what the large one needs by itself stays
// what it gets.
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

using ::testing::Each;

// Zones of blocks of racks of ten nodes, every rack filled to a degree of its
// own; on some nodes devices are left over.
class UnevenTree {
 public:
  static constexpr uint32_t kGpus = 4;

  // As many workers as a tenth of the nodes.
  UnevenTree(uint64_t seed, uint32_t nodes)
      : random_(seed), workers_(nodes / 10) {
    for (uint32_t n = 0; n < nodes; ++n) {
      const uint32_t rack = n / 10;
      const std::string name = "n" + std::to_string(n);
      world_.Add({.path = "z" + std::to_string(rack / 20) + "/b" +
                          std::to_string(rack / 5) + "/r" +
                          std::to_string(rack) + "/" + name,
                  .gpus = kGpus,
                  .cpu = 10});
      if (n % 10 == 0) busy_ = 30 + Below(71);
      if (Below(100) < busy_) world_.Use(name, Below(8) == 0 ? 2 : kGpus);
    }
  }

  // Workers take whole nodes.
  PlacementResult Ask(std::vector<Role> others, std::vector<Traffic> traffic) {
    Gang gang;
    gang.roles = {MakeRole("worker", workers_, kGpus, 1)};
    for (Role& role : others) gang.roles.push_back(std::move(role));
    gang.traffic = std::move(traffic);
    return world_.DryRun(std::move(gang));
  }

  // Domains of the level in which tasks of role 0 lie.
  size_t Domains(const PlacementResult& result, int level) const {
    std::set<uint32_t> domains;
    for (const Assignment& a : result.tasks) {
      if (a.task.role != 0) continue;
      domains.insert(world_.cluster.index(0).domain_of[level][a.at.node]);
    }
    return domains.size();
  }

 private:
  uint32_t Below(uint32_t limit) {
    return static_cast<uint32_t>(random_() % limit);
  }

  std::mt19937_64 random_;
  const uint32_t workers_;
  World world_;
  uint32_t busy_ = 0;
};

TEST(LargeRole, ALauncherGoesToTheNodesThatTheWorkersWouldHave) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    UnevenTree tree(seed, 400);
    const PlacementResult plain = tree.Ask({}, {});
    const PlacementResult both = tree.Ask({MakeRole("launcher", 1, 0, 2)}, {});
    ASSERT_EQ(plain.fit, Fit::kFits);
    ASSERT_EQ(both.fit, Fit::kFits);
    ASSERT_EQ(both.tasks.size(), plain.tasks.size() + 1);
    std::set<NodeIndex> nodes;
    for (size_t i = 0; i < plain.tasks.size(); ++i) {
      nodes.insert(plain.tasks[i].at.node);
    }
    for (const Assignment& a : both.tasks) {
      EXPECT_TRUE(nodes.contains(a.at.node));
    }
    ASSERT_TRUE(plain.certificate.optimal);
    EXPECT_TRUE(both.certificate.optimal);
    EXPECT_EQ(both.certificate.levels, plain.certificate.levels);
  }
}

// So many that not all counts can be tried.
TEST(LargeRole, ServersDoNotCostTheWorkersTheirRacks) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    UnevenTree tree(seed, 3000);
    const PlacementResult plain = tree.Ask({}, {});
    const PlacementResult both = tree.Ask({MakeRole("server", 3, 1)}, {});
    ASSERT_EQ(plain.fit, Fit::kFits);
    ASSERT_EQ(both.fit, Fit::kFits);
    for (int level = 0; level < 3; ++level) {
      EXPECT_EQ(tree.Domains(both, level), tree.Domains(plain, level));
    }
  }
}

TEST(LargeRole, ServersThatTalkLieWhereMostWorkersAre) {
  int64_t cost = 0, least = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    UnevenTree tree(seed, 3000);
    const PlacementResult both =
        tree.Ask({MakeRole("server", 4, 1)}, {{"worker", "server", 1}});
    ASSERT_EQ(both.fit, Fit::kFits);
    ASSERT_TRUE(both.certificate.traffic.has_traffic);
    cost += both.certificate.traffic.cost;
    least += both.certificate.traffic.least;
  }
  EXPECT_LE(cost * 100, least * 102);
}

// Alone the workers would fill rack r1 exactly.
TEST(LargeRole, ANarrowerDomainThatHoldsAllGoesFirst) {
  World w;
  w.AddMany("z/b/r1/a", 4, 2).AddMany("z/b/r2/b", 6, 2);
  Gang gang;
  gang.roles = {MakeRole("worker", 4, 2), MakeRole("launcher", 1, 1)};
  w.Place(gang);
  EXPECT_EQ(w.Where(0, "rack"), "r2 r2 r2 r2");
  EXPECT_EQ(w.Where(1, "rack"), "r2");
  EXPECT_TRUE(w.result.certificate.optimal);
}

TEST(LargeRole, WhereTheOthersHaveNoRoomBesideItTheGangGoesElsewhere) {
  World w;
  for (int i = 0; i < 4; ++i) {
    w.Add({.path = "z/b1/r1/a" + std::to_string(i), .gpus = 2});
  }
  w.AddMany("z/b2/r2/b", 6, 2);
  Gang gang;
  gang.groups.resize(1);
  gang.groups[0].topology.required = "block";
  gang.roles = {MakeRole("worker", 4, 2), MakeRole("launcher", 1, 0, 1)};
  w.Place(gang);
  EXPECT_EQ(w.Where(0, "rack"), "r2 r2 r2 r2");
  EXPECT_THAT(w.NodesOf(1), Each(testing::StartsWith("b")));
}

}  // namespace
}  // namespace muster::solver_test
