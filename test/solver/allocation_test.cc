// Counts allocations: a question that was asked before needs none.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test/allocation_count.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

// Allocations of one more Place and Rollback, after a few.
size_t Count(World& w, Gang gang, Fit expected) {
  w.Prepare(std::move(gang));
  size_t counted = 0;
  for (int i = 0; i < 4; ++i) {
    const Cluster::Mark mark = w.cluster.Begin();
    const size_t before = test::Allocations();
    w.solver->Place(w.cluster, w.request, &w.result);
    counted = test::Allocations() - before;
    w.cluster.Rollback(mark);
    EXPECT_EQ(w.result.fit, expected);
  }
  return counted;
}

Gang Of(std::vector<Role> roles) {
  Gang gang;
  gang.roles = std::move(roles);
  return gang;
}

// Roles of so many whole nodes, each in one rack.
Gang InRacks(const std::vector<uint32_t>& sizes) {
  Gang gang;
  for (const uint32_t size : sizes) {
    gang.roles.push_back(
        MakeRole("w" + std::to_string(gang.roles.size()), size, 8));
    gang.roles.back().topology.required = "rack";
  }
  return gang;
}

TEST(Allocation, NoneInTheSteadyState) {
  World w;
  for (int r = 0; r < 4; ++r) {
    w.AddMany("z/b/r" + std::to_string(r) + "/n" + std::to_string(r), 10, 8);
  }
  EXPECT_EQ(Count(w, Of({MakeRole("w", 1, 1)}), Fit::kFits), 0u);
  EXPECT_EQ(Count(w, Of({MakeRole("w", 16, 8)}), Fit::kFits), 0u);
  EXPECT_EQ(Count(w, Of({MakeRole("w", 41, 8)}), Fit::kNever), 0u);

  Gang mixed = Of({MakeRole("ps", 2, 0, 900), MakeRole("w", 8, 4)});
  EXPECT_EQ(Count(w, mixed, Fit::kFits), 0u);
  mixed.traffic = {{"ps", "w", 1}};
  EXPECT_EQ(Count(w, mixed, Fit::kFits), 0u);

  Gang sliced = Of({MakeRole("w", 16, 8)});
  sliced.roles[0].topology.slices = {{"rack", 8}};
  EXPECT_EQ(Count(w, sliced, Fit::kFits), 0u);

  sliced.roles.push_back(MakeRole("ps", 3, 0, 100));
  sliced.traffic = {{"ps", "w", 1}};
  EXPECT_EQ(Count(w, sliced, Fit::kFits), 0u);

  Gang replicas = Of({MakeRole("a", 2, 8), MakeRole("b", 3, 8),
                      MakeRole("c", 2, 8), MakeRole("d", 3, 8)});
  replicas.groups.resize(3);
  replicas.groups[0].min_children = 1;
  for (uint32_t r = 0; r < 4; ++r) replicas.roles[r].group = 1 + r / 2;
  replicas.groups[1].topology.required = "rack";
  replicas.groups[2].topology.required = "rack";
  EXPECT_EQ(Count(w, replicas, Fit::kFits), 0u);

  // Which are packed.
  EXPECT_EQ(Count(w, InRacks({5, 5, 4, 4, 4, 3, 3, 3, 3, 3, 3}), Fit::kFits),
            0u);
  EXPECT_EQ(Count(w, InRacks({7, 7, 7, 7, 7, 1, 1, 1}), Fit::kNotNow), 0u);

  w.Use("n00", 1);
  w.Use("n10", 1);
  w.Use("n20", 1);
  w.Use("n30", 1);
  EXPECT_EQ(
      Count(w, Of({MakeRole("w", 1, 1), MakeRole("v", 37, 8)}), Fit::kNotNow),
      0u);
}

}  // namespace
}  // namespace muster::solver_test
