#include "lib/scheduler/node_book.h"

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

class NodeBookTest : public testing::Test {
 protected:
  NodeBookTest() {
    for (NodeIndex n = 0; n < 3; ++n) book_.Reset(n, {});
  }
  NodeBook book_;
};

TEST_F(NodeBookTest, ATaskThatMovesIsOnOneNode) {
  const TaskRef task = {4, {0, 1}};
  book_.Add(0, task);
  book_.Remove(0, task);
  book_.Add(2, task);
  EXPECT_THAT(book_.tasks(0), IsEmpty());
  EXPECT_THAT(book_.tasks(2), ElementsAre(task));
}

TEST_F(NodeBookTest, TasksOfOneGangDifferByTheirIds) {
  book_.Add(1, {4, {0, 1}});
  book_.Add(1, {4, {1, 0}});
  book_.Add(1, {5, {0, 1}});
  book_.Remove(1, {4, {0, 1}});
  EXPECT_THAT(book_.tasks(1),
              UnorderedElementsAre(TaskRef{4, {1, 0}}, TaskRef{5, {0, 1}}));
}

TEST_F(NodeBookTest, GangsAreNamedOnceAndByIndex) {
  for (const GangIndex g : {5u, 2u, 5u, 3u, 2u}) {
    const auto index = static_cast<uint32_t>(book_.tasks(0).size());
    book_.Add(0, {g, {0, index}});
  }
  EXPECT_THAT(book_.GangsOn(0), ElementsAre(2, 3, 5));
  EXPECT_THAT(book_.GangsOn(1), IsEmpty());
}

TEST_F(NodeBookTest, ReleasesAreCountedFromTheirBeginningOn) {
  const TaskRef task = {4, {0, 0}}, other = {4, {0, 1}};
  book_.Add(0, task);
  book_.Add(0, other);
  book_.CountReleasing(0, 1);
  EXPECT_EQ(book_.releasing(0), 1u);
  book_.CountReleasing(0, 1);
  EXPECT_EQ(book_.releasing(0), 2u);
  EXPECT_EQ(book_.releasing(), 2u);
  book_.Remove(0, task);
  book_.CountReleasing(0, -1);
  EXPECT_EQ(book_.releasing(0), 1u);
  EXPECT_EQ(book_.releasing(1), 0u);
}

TEST_F(NodeBookTest, ANodeThatComesIsNoSuspectAndHasItsFacts) {
  book_.Suspect(2);
  book_.Suspect(0);
  book_.Suspect(2);
  EXPECT_THAT(book_.suspects(), ElementsAre(0, 2));
  book_.Acquit(0);
  book_.Reset(2, {.draining = true});
  EXPECT_THAT(book_.suspects(), IsEmpty());
  EXPECT_TRUE(book_.facts(2).draining);
  book_.Reset(7, {});
  EXPECT_THAT(book_.tasks(7), IsEmpty());
  EXPECT_TRUE(book_.facts(2).draining) << "others stay what they are";
}

TEST_F(NodeBookTest, ANodeIsAvailableUnlessSomethingIsAgainstIt) {
  EXPECT_TRUE(NodeBook::Facts().available());
  EXPECT_FALSE(NodeBook::Facts{.down = true}.available());
  EXPECT_FALSE(NodeBook::Facts{.draining = true}.available());
  EXPECT_FALSE(NodeBook::Facts{.spot_notice = 5}.available());
}

// The index, against a list of all tasks.
TEST_F(NodeBookTest, TellsWhatAListOfTasksTells) {
  struct Placed {
    NodeIndex node = 0;
    TaskRef task{};
    bool releasing = false;
  };
  Dice dice(1);
  std::vector<Placed> all;
  for (uint32_t step = 0; step < 2000; ++step) {
    const uint32_t count = static_cast<uint32_t>(all.size());
    if (count == 0 || (count < 20 && dice.OneIn(2))) {
      all.push_back({dice.Below(3), {dice.Below(4), {0, step}}, dice.OneIn(5)});
      book_.Add(all.back().node, all.back().task);
      if (all.back().releasing) book_.CountReleasing(all.back().node, 1);
    } else {
      Placed& task = all[dice.Below(count)];
      if (!task.releasing) {
        task.releasing = true;
        book_.CountReleasing(task.node, 1);
      } else {
        book_.Remove(task.node, task.task);
        book_.CountReleasing(task.node, -1);
        task = all.back();
        all.pop_back();
      }
    }
    uint32_t releasing = 0;
    for (NodeIndex n = 0; n < 3; ++n) {
      std::vector<TaskRef> on;
      uint32_t here = 0;
      for (const Placed& task : all) {
        if (task.node != n) continue;
        on.push_back(task.task);
        here += task.releasing;
      }
      ASSERT_TRUE(std::ranges::is_permutation(book_.tasks(n), on));
      ASSERT_EQ(book_.releasing(n), here);
      releasing += here;
    }
    ASSERT_EQ(book_.releasing(), releasing);
  }
}

}  // namespace
}  // namespace muster
