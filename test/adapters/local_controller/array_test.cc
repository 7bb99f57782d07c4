// Arrays of which so many elements have places at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "adapters/local/controller/array_book.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;

constexpr char kManifest[] =
    R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"sweep"},
"spec":{"backoffLimit":0,"template":{"spec":{"restartPolicy":"Never",
"containers":[{"name":"m","command":["train"],"resources":
{"limits":{"nvidia.com/gpu":"1"}}}]}}}})";

Submission Sweep(uint32_t limit,
                 std::vector<uint32_t> array = {0, 1, 2, 3, 4}) {
  return {
      .manifest = kManifest, .array = std::move(array), .array_limit = limit};
}

// Which of them have a process, as "0110".
std::string Running(const World& world, const std::vector<uint64_t>& ids) {
  std::string text;
  for (const uint64_t id : ids) {
    text += world.Running(id).empty() ? '0' : '1';
  }
  return text;
}

std::string Why(World& world, uint64_t job) {
  return world.controller->Explain(job)->text;
}

TEST(ArrayTest, SoManyRunAtATimeWhateverIsFree) {
  World world(OneBox(8));
  const auto ids = world.Submit(Sweep(2));
  world.Settle();
  EXPECT_EQ(Running(world, ids), "11000");
  EXPECT_THAT(Why(world, ids[2]),
              HasSubstr("held behind others of its array, of which 2 may"));
  world.Exit(ids[1], 0);
  world.Settle();
  EXPECT_EQ(Running(world, ids), "10100");
  world.Exit(ids[0], 1);  // A failure gives its place, too.
  world.Exit(ids[2], 0);
  world.Settle();
  EXPECT_EQ(Running(world, ids), "00011");
  world.Exit(ids[3], 0);
  world.Exit(ids[4], 0);
  world.Settle();
  EXPECT_EQ(world.Phase(ids[4]), "succeeded");
}

TEST(ArrayTest, OthersAreNotConcerned) {
  World world(OneBox(8));
  const auto first = world.Submit(Sweep(1));
  const auto second = world.Submit(Sweep(3));
  const auto all = world.Submit(Sweep(0, {0, 1}));
  world.Settle();
  EXPECT_EQ(Running(world, first), "10000");
  EXPECT_EQ(Running(world, second), "11100");
  EXPECT_EQ(Running(world, all), "11");
}

TEST(ArrayTest, WhoIsCancelledBehindOthersLetsNobodyIn) {
  World world(OneBox(8));
  const auto ids = world.Submit(Sweep(2));
  world.Settle();
  ASSERT_TRUE(world.controller->Cancel(ids[2], world.now).ok());
  world.Settle();
  EXPECT_EQ(Running(world, ids), "11000");
  ASSERT_TRUE(world.controller->Cancel(ids[0], world.now).ok());
  world.Settle();
  EXPECT_EQ(Running(world, ids), "01010");
}

TEST(ArrayTest, ItsOwnersHoldIsAnother) {
  World world(OneBox(8));
  const auto ids = world.Submit(Sweep(2));
  world.Settle();
  ASSERT_TRUE(world.controller->Hold(ids[2], world.now).ok());
  ASSERT_TRUE(world.controller->Release(ids[3], world.now).ok());
  world.Settle();
  EXPECT_EQ(Running(world, ids), "11000");
  world.Exit(ids[0], 0);
  world.Settle();
  // It has its turn, and waits for its owner.
  EXPECT_EQ(Running(world, ids), "01000");
  EXPECT_THAT(Why(world, ids[2]), HasSubstr("by its owner"));
  EXPECT_THAT(Why(world, ids[3]), HasSubstr("at a time"));
  ASSERT_TRUE(world.controller->Release(ids[2], world.now).ok());
  world.Settle();
  EXPECT_EQ(Running(world, ids), "01100");
}

TEST(ArrayTest, ARestartKeepsThem) {
  World world(OneBox(8));
  const auto ids = world.Submit(Sweep(2));
  world.Settle();
  world.Exit(ids[1], 0);
  world.Settle();
  world.Restart();
  world.Settle();
  EXPECT_EQ(Running(world, ids), "10100");
  world.Exit(ids[0], 0);
  world.Settle();
  EXPECT_EQ(Running(world, ids), "00110");
}

TEST(ArrayTest, APreemptedOneKeepsItsTurn) {
  World world(OneBox(1));
  const auto ids = world.Submit(Sweep(1));
  world.Settle();
  const uint64_t high = world.Submit(kManifest, "100");
  world.Settle();
  EXPECT_EQ(Running(world, ids), "00000");
  world.Exit(high, 0);
  world.Settle();
  EXPECT_EQ(Running(world, ids), "10000");
}

TEST(ArrayTest, ScriptsSayItToo) {
  World world(OneBox(8));
  const auto ids = world.Submit(Submission{
      .manifest = "#!/bin/sh\n#SBATCH -a 0-4%3\ntrue\n", .directory = "/"});
  world.Settle();
  EXPECT_EQ(Running(world, ids), "11100");
  const auto refused = world.controller->Submit(
      {.manifest = kManifest, .array_limit = 2}, world.now);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("array_limit: there is no array"));
}

// Against the definition: the first so many that have not ended.
TEST(ArrayBookTest, RandomEndsLetInTheFirst) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 dice(seed);
    const uint32_t limit = 1 + dice() % 5;
    ArrayBook book;
    std::vector<JobRow> open;
    std::vector<uint64_t> in;
    for (uint64_t id = 1; id <= 1 + dice() % 20; ++id) {
      open.push_back({.id = id, .array = 1, .array_limit = limit});
      if (book.Add(open.back())) in.push_back(id);
    }
    while (!open.empty()) {
      const auto ends = open.begin() + static_cast<long>(dice() % open.size());
      const uint64_t next = book.Remove(*ends);
      std::erase(in, ends->id);
      open.erase(ends);
      if (next != 0) in.push_back(next);
      std::ranges::sort(in);
      std::vector<uint64_t> first;
      for (size_t i = 0; i < std::min<size_t>(limit, open.size()); ++i) {
        first.push_back(open[i].id);
      }
      ASSERT_EQ(in, first) << seed;
    }
  }
}

}  // namespace
}  // namespace muster::local
