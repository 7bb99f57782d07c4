// Shares of the memory of devices that are not of one size, told as stories.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace muster
