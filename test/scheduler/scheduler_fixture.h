// The stage of most stories: one queue, three priority classes, some nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {

// One queue and nodes n1, n2, ... with so many devices each.
class SchedulerTest : public ::testing::Test {
 protected:
  void Nodes(std::vector<uint32_t> gpus) {
    for (size_t i = 0; i < gpus.size(); ++i) {
      s.HasNode("n" + std::to_string(i + 1), gpus[i]);
    }
    s.HasQueue("q");
    s.HasClasses();
  }
  void Capable(HostCapabilities host) {
    SchedulerConfig config;
    config.host = host;
    s = Story(config);
  }
  void Runs(const Gang& gang) {
    s.Submit(gang);
    s.Pass();
    s.AllDone();
    ASSERT_EQ(s.Phase(gang.key), "running");
  }
  // The gang is as f makes it of what it is, from now on.
  template <class F>
  void Change(const std::string& gang, F&& f) {
    Gang changed = s.Of(gang).gang;
    f(changed);
    s.Happens(GangChanged{changed});
    s.ExpectRestorable();
  }
  // Its first role.
  void Resize(const std::string& gang, uint32_t min, uint32_t desired) {
    Change(gang, [&](Gang& g) {
      g.roles[0].min_tasks = min;
      g.roles[0].desired_tasks = desired;
    });
  }
  Story s;
};

}  // namespace muster
