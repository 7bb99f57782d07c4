#include "lib/scheduler/node_records.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/property/dice.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class NodeRecordsTest : public testing::Test {
 protected:
  NodeRecordsTest() {
    for (NodeIndex n = 0; n < 3; ++n) records_.Reset(n, {});
  }
  NodeRecords records_;
};

TEST_F(NodeRecordsTest, ATaskThatMovesIsOnOneNode) {
  const NodeTask task = {4, {0, 1}};
  records_.Add(0, task);
  records_.Remove(0, task);
  records_.Add(2, task);
  EXPECT_THAT(records_.tasks(0), IsEmpty());
  EXPECT_THAT(records_.tasks(2), ElementsAre(task));
}

TEST_F(NodeRecordsTest, TasksOfOneGangDifferByTheirIds) {
  records_.Add(1, {4, {0, 1}});
  records_.Add(1, {4, {1, 0}});
  records_.Add(1, {5, {0, 1}});
  records_.Remove(1, {4, {0, 1}});
  EXPECT_THAT(records_.tasks(1),
              UnorderedElementsAre(NodeTask{4, {1, 0}}, NodeTask{5, {0, 1}}));
}

TEST_F(NodeRecordsTest, GangsAreNamedOnceAndByIndex) {
  for (const GangIndex g : {5u, 2u, 5u, 3u, 2u}) {
    const auto index = static_cast<uint32_t>(records_.tasks(0).size());
    records_.Add(0, {g, {0, index}});
  }
  EXPECT_THAT(records_.GangsOn(0), ElementsAre(2, 3, 5));
  EXPECT_THAT(records_.GangsOn(1), IsEmpty());
}

TEST_F(NodeRecordsTest, ReleasesAreCountedFromTheirBeginningOn) {
  const NodeTask task = {4, {0, 0}}, other = {4, {0, 1}};
  records_.Add(0, task);
  records_.Add(0, other);
  records_.CountReleasing(0, 1);
  EXPECT_EQ(records_.releasing(0), 1u);
  records_.CountReleasing(0, 1);
  EXPECT_EQ(records_.releasing(0), 2u);
  EXPECT_EQ(records_.releasing(), 2u);
  records_.Remove(0, task);
  records_.CountReleasing(0, -1);
  EXPECT_EQ(records_.releasing(0), 1u);
  EXPECT_EQ(records_.releasing(1), 0u);
}

TEST_F(NodeRecordsTest, ANodeThatComesIsNoSuspectAndHasItsFacts) {
  records_.AddOvercommitCandidate(2);
  records_.AddOvercommitCandidate(0);
  records_.AddOvercommitCandidate(2);
  EXPECT_THAT(records_.overcommit_candidates(), ElementsAre(0, 2));
  records_.RemoveOvercommitCandidate(0);
  records_.Reset(2, {.draining = true});
  EXPECT_THAT(records_.overcommit_candidates(), IsEmpty());
  EXPECT_TRUE(records_.facts(2).draining);
  records_.Reset(7, {});
  EXPECT_THAT(records_.tasks(7), IsEmpty());
  EXPECT_TRUE(records_.facts(2).draining) << "others stay what they are";
}

TEST_F(NodeRecordsTest, ANodeIsAvailableUnlessSomethingIsAgainstIt) {
  EXPECT_TRUE(NodeRecords::Facts().available());
  EXPECT_FALSE(NodeRecords::Facts{.down = true}.available());
  EXPECT_FALSE(NodeRecords::Facts{.draining = true}.available());
  EXPECT_FALSE(NodeRecords::Facts{.spot_notice = 5}.available());
}

// The index, against a list of all tasks.
TEST_F(NodeRecordsTest, TellsWhatAListOfTasksTells) {
  struct Placed {
    NodeIndex node = 0;
    NodeTask task{};
    bool releasing = false;
  };
  Dice dice(1);
  std::vector<Placed> all;
  for (uint32_t step = 0; step < 2000; ++step) {
    const uint32_t count = static_cast<uint32_t>(all.size());
    if (count == 0 || (count < 20 && dice.OneIn(2))) {
      all.push_back({dice.Below(3), {dice.Below(4), {0, step}}, dice.OneIn(5)});
      records_.Add(all.back().node, all.back().task);
      if (all.back().releasing) records_.CountReleasing(all.back().node, 1);
    } else {
      Placed& task = all[dice.Below(count)];
      if (!task.releasing) {
        task.releasing = true;
        records_.CountReleasing(task.node, 1);
      } else {
        records_.Remove(task.node, task.task);
        records_.CountReleasing(task.node, -1);
        task = all.back();
        all.pop_back();
      }
    }
    uint32_t releasing = 0;
    for (NodeIndex n = 0; n < 3; ++n) {
      std::vector<NodeTask> on;
      uint32_t here = 0;
      for (const Placed& task : all) {
        if (task.node != n) continue;
        on.push_back(task.task);
        here += task.releasing;
      }
      ASSERT_TRUE(std::ranges::is_permutation(records_.tasks(n), on));
      ASSERT_EQ(records_.releasing(n), here);
      releasing += here;
    }
    ASSERT_EQ(records_.releasing(), releasing);
  }
}

}  // namespace
}  // namespace muster
