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
  Story s;
};

}  // namespace muster
