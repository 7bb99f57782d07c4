// Shares of the memory of devices that are not of one size, told as stories.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeviceMemoryStories : public ::testing::Test {
 protected:
  DeviceMemoryStories() { s.HasQueue("q"); }
  void HasNode(const std::string& key, uint32_t gpus, int64_t memory,
               const std::string& model = "") {
    Node node = Machine(key, gpus);
    for (Device& device : node.devices) {
      device.memory_bytes = memory;
      device.model = model;
    }
    s.Happens(NodeChanged{node});
  }
  void Runs(const Gang& gang) {
    s.Submit(gang);
    s.Pass();
    s.AllDone();
    ASSERT_EQ(s.Phase(gang.key), "running");
  }

  Story s;
};

// What is left beside a task is weighed by what it takes at the least. That is
// a fifth of a device while the large one is there, and four fifths without.
TEST_F(DeviceMemoryStories, TheLargestDeviceGoesAndAllNodesAreRankedAnew) {
  HasNode("n1", 3, 50, "small");
  HasNode("n3", 1, 200, "large");
  for (const char* model : {"small", "large"}) {
    Gang gang = Job(model);
    gang.roles[0].shape.devices.models = {model};
    Runs(gang);
  }
  HasNode("n2", 1, 50, "small");
  Runs(WithMemory(Job("a"), 40));
  EXPECT_EQ(s.Where("a"), "n1");
  s.Happens(GangFinished{"a"});
  s.Happens(NodeDown{"n3"});
  s.Submit(WithMemory(Job("b"), 40));
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n2"));
}

// A tenth of a device's time beside most of its memory: what each leaves of the
// other is there for others, and a queue pays the time alone.
TEST_F(DeviceMemoryStories, AShareOfTimeAndMemoryTakesEachAsItSays) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  HasNode("n1", 1, 80);
  const auto share = [](const std::string& key, int32_t milli, int64_t bytes) {
    Gang gang = WithMemory(Job(key), bytes);
    gang.roles[0].shape.devices.milli = milli;
    return gang;
  };
  Runs(share("a", 100, 60));
  EXPECT_EQ(s.scheduler().QueueUsage("q")[2], 100);
  Runs(share("b", 900, 20));
  s.ExpectRestorable();
  s.Submit(share("c", 1, 1));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(GangFinished{"b"});
  s.Submit(share("d", 500, 21));
  EXPECT_THAT(s.Pass(), ElementsAre("start c: n1")) << "d lacks memory";
  EXPECT_THAT(std::string(s.Try(GangSubmitted{share("e", 1000, 1)}).message()),
              HasSubstr(".milli: 1000 is not in 0..999"));
}

}  // namespace
}  // namespace muster
