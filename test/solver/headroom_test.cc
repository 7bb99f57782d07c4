// Headroom where tasks use more of small devices than of large ones: random
// questions, answered from the sizes of the devices as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "test/solver/random_world.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

constexpr int64_t kGigabyte = int64_t{1} << 30;

struct Question {
  // Gigabytes of each device, node by node; two nodes a rack.
  std::vector<std::vector<int64_t>> nodes{};
  int64_t asks = 0;  // Gigabytes a task.
  uint32_t tasks = 0;
  uint32_t grows = 0;  // Beyond them.
  bool one_rack = false;
  int64_t headroom = 0;
};

Question RandomQuestion(Random& random) {
  const int64_t sizes[] = {40, 80, 160};
  Question q;
  q.nodes.resize(random.Between(1, 6));
  for (std::vector<int64_t>& node : q.nodes) {
    node.resize(random.Between(1, 3));
    const bool mixed = random.Chance(30);
    node[0] = sizes[random.Below(3)];
    for (int64_t& size : node) size = mixed ? sizes[random.Below(3)] : node[0];
  }
  q.asks = random.Chance(50) ? 20 : 40;
  q.tasks = random.Between(1, 4);
  q.grows = random.Below(4);
  q.one_rack = random.Chance(40);
  q.headroom = random.Between(1, 16) * 125;
  return q;
}

// What the cheapest `tasks` places on the nodes from `first` to `last` use, in
// thousandths of devices; nothing if there are not so many.
std::optional<int64_t> LeastOn(const Question& q, size_t first, size_t last,
                               uint32_t tasks) {
  std::vector<int64_t> places;
  for (size_t n = first; n < std::min(last, q.nodes.size()); ++n) {
    for (const int64_t size : q.nodes[n]) {
      places.insert(places.end(), static_cast<size_t>(size / q.asks),
                    1000 * q.asks / size);
    }
  }
  if (places.size() < tasks) return std::nullopt;
  std::ranges::sort(places);
  return std::accumulate(places.begin(), places.begin() + tasks, int64_t{0});
}

std::optional<int64_t> Least(const Question& q, uint32_t tasks) {
  if (!q.one_rack) return LeastOn(q, 0, q.nodes.size(), tasks);
  std::optional<int64_t> least;
  for (size_t n = 0; n < q.nodes.size(); n += 2) {
    const std::optional<int64_t> here = LeastOn(q, n, n + 2, tasks);
    if (here && (!least || *here < *least)) least = here;
  }
  return least;
}

void Add(const Question& q, World* w) {
  for (size_t n = 0; n < q.nodes.size(); ++n) {
    Node node = MakeNode(
        {.path = "z/b/r" + std::to_string(n / 2) + "/n" + std::to_string(n),
         .gpus = static_cast<uint32_t>(q.nodes[n].size())});
    for (size_t d = 0; d < q.nodes[n].size(); ++d) {
      node.devices[d].memory_bytes = q.nodes[n][d] * kGigabyte;
    }
    w->cluster.Upsert(node);
  }
}

Gang GangOf(const Question& q) {
  Gang gang{.key = "g", .roles = {MakeRole("w", q.tasks, 1)}};
  gang.roles[0].shape.devices.milli = 0;
  gang.roles[0].shape.devices.memory_bytes = q.asks * kGigabyte;
  gang.roles[0].desired_tasks += q.grows;
  if (q.one_rack) {
    gang.roles[0].topology = {.topology = "net", .required = "rack"};
  }
  return gang;
}

int64_t UsedBy(const World& w, const std::vector<Assignment>& tasks) {
  int64_t used = 0;
  for (const Assignment& a : tasks) used += w.cluster.Usage(a.at)[kGpu];
  return used;
}

struct HeadroomTally {
  int yes = 0;
  int no = 0;         // Proven.
  int not_found = 0;  // Told as not proven.
  int missed = 0;     // Of those: there is one.
  int grown = 0;
};

void CheckGrowth(const Question& q, int64_t used, World* w,
                 HeadroomTally* tally) {
  const Resources left = {0, 0, q.headroom - used};
  w->request.headroom = &left;
  const uint64_t before = w->cluster.Hash();
  const size_t grown = w->Grow().tasks.size();
  EXPECT_LE(UsedBy(*w, w->result.tasks), left[kGpu]);
  tally->grown += static_cast<int>(grown);
  EXPECT_EQ(w->cluster.Hash() == before, grown == 0);
}

void Check(uint64_t seed, HeadroomTally* tally) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const Question q = RandomQuestion(random);
  World w;
  Add(q, &w);
  const Resources headroom = {0, 0, q.headroom};
  w.request.headroom = &headroom;
  const std::optional<int64_t> least = Least(q, q.tasks);
  const bool can = least && *least <= q.headroom;
  const uint64_t before = w.cluster.Hash();
  const PlacementResult answer = w.Place(GangOf(q));
  if (answer.fit == Fit::kFits) {
    ++tally->yes;
    EXPECT_TRUE(can);
    const int64_t used = UsedBy(w, answer.tasks);
    EXPECT_LE(used, q.headroom);
    CheckGrowth(q, used, &w, tally);
    return;
  }
  EXPECT_EQ(w.cluster.Hash(), before);
  ++(answer.cut_short ? tally->not_found : tally->no);
  if (answer.cut_short) {
    EXPECT_EQ(answer.reason.code, ReasonCode::kNotFound);
    tally->missed += can;
  } else {
    EXPECT_FALSE(can);
    // Where there is room, the limit is what says no.
    EXPECT_TRUE(!least || answer.reason.code == ReasonCode::kQueueLimit);
  }
}

TEST(HeadroomOfUnlikeDevices, IsKeptAndANoIsProvenOrSaysThatItIsNot) {
  HeadroomTally tally;
  for (uint64_t seed = 1; seed <= 5000 && !testing::Test::HasFailure();
       ++seed) {
    Check(seed, &tally);
  }
  std::cout << tally.yes << " placed, " << tally.no << " proven noes, "
            << tally.not_found << " not found, " << tally.missed
            << " of which there are; " << tally.grown << " tasks grown\n";
  EXPECT_GT(tally.yes, 1000);
  EXPECT_GT(tally.no, 1000);
  EXPECT_GT(tally.grown, 500);
  EXPECT_LT(tally.missed, 10);
}

}  // namespace
}  // namespace muster::solver_test
