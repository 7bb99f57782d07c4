// A node whose 8 GPUs are shared by time and show as 80 devices, told as
// stories.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ManyDevicesStories : public ::testing::Test {
 protected:
  ManyDevicesStories() {
    s.HasQueue("q");
    s.HasClasses();
    s.Happens(NodeChanged{Sliced()});
  }
  static Node Sliced() {
    Node node = Machine("n1", 80);
    for (size_t d = 0; d < 80; ++d) {
      node.devices[d].island = static_cast<int32_t>(d / 10);
    }
    return node;
  }
  DeviceSet DevicesOf(const std::string& gang) const {
    DeviceSet devices;
    for (const TaskState& t : s.Of(gang).tasks) {
      EXPECT_FALSE(devices.Intersects(t.devices)) << "each has its own";
      devices |= t.devices;
    }
    return devices;
  }
  void Runs(const Gang& gang) {
    s.Submit(gang);
    s.Pass();
    s.AllDone();
  }

  Story s;
};

TEST_F(ManyDevicesStories, AllSlicesAreGivenAndNoneTwice) {
  s.Submit(Job("wide", 1, 70));
  EXPECT_THAT(s.Pass(), ElementsAre("start wide: n1"));
  EXPECT_EQ(s.plan().tasks[0].devices, DeviceSet::FirstOf(70));
  s.AllDone();
  s.Submit(Job("ones", 9, 1));
  EXPECT_EQ(s.Pass().size(), 1u);
  s.AllDone();
  Gang half = Job("halves", 2, 1);
  half.roles[0].shape.devices.milli = 500;
  s.Submit(half);
  EXPECT_THAT(s.Pass(), ElementsAre("start halves: n1 n1"));
  s.AllDone();
  EXPECT_EQ(DevicesOf("wide") | DevicesOf("ones"), DeviceSet::FirstOf(79));
  for (const TaskState& t : s.Of("halves").tasks) {
    EXPECT_EQ(t.devices, DeviceSet({79}));
  }
  s.Submit(Job("more", 1, 1));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.ExpectRestorable();
  s.Happens(GangFinished{"wide"});
  EXPECT_THAT(s.Pass(), ElementsAre("start more: n1"));
  EXPECT_EQ(s.FreeGpus("n1"), 69);
}

TEST_F(ManyDevicesStories, NoMoreIsTakenFromOthersThanIsNeeded) {
  Runs(Job("low", 1, 20, "low"));
  Runs(Job("also-low", 1, 50, "low"));
  s.Submit(Job("high", 2, 30, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict also-low for high", "nominate high: n1 n1"));
  s.ExpectRestorable();
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start high: n1 n1"));
  s.AllDone();
  EXPECT_EQ(s.FreeGpus("n1"), 0);
  EXPECT_EQ(DevicesOf("low") | DevicesOf("high"), DeviceSet::FirstOf(80));
}

TEST_F(ManyDevicesStories, TheHostTellsWhatIsUsedBeyond64) {
  s.Submit(Job("a", 2, 2));
  s.Pass();
  s.Happens(
      TasksAnswered{"a", {{{0, 0}, 1, TaskOutcome::kStarted, "n1", {63, 64}}}});
  EXPECT_EQ(s.Of("a").tasks[0].devices, DeviceSet({63, 64}));
  s.AllDone();
  s.Happens(Reconciled{
      .nodes = {Sliced()},
      .tasks = {{"a", {0, 0}, "n1", {64, 79}}, {"a", {0, 1}, "n1", {0, 65}}}});
  EXPECT_EQ(DevicesOf("a"), DeviceSet({0, 64, 65, 79}));
  EXPECT_EQ(s.scheduler()
                .Apply({0, Reconciled{.nodes = {Sliced()},
                                      .tasks = {{"a", {0, 0}, "n1", {7, 80}}}}})
                .code(),
            absl::StatusCode::kInvalidArgument)
      << "there is no such device";
  s.ExpectRestorable();

  Node ill = Sliced();
  ill.devices[78].healthy = false;
  s.Happens(NodeChanged{ill});
  s.Submit(Job("rest", 1, 76));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "75 are free and healthy";
  s.Submit(Job("less", 1, 70));
  EXPECT_THAT(s.Pass(), ElementsAre("start less: n1"));
  EXPECT_FALSE(DevicesOf("less").Intersects({0, 64, 65, 79}));
  s.ExpectRestorable();
}

}  // namespace
}  // namespace muster
