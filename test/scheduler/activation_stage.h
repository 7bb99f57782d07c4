// The stage of the stories about activating questions: everybody has an answer,
// one thing happens, and the next pass asks again whom it concerns.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {

inline Gang In(const std::string& queue, Gang gang) {
  gang.queue = queue;
  return gang;
}

// On that node alone, of those that Activation::Has made.
inline Gang On(const std::string& node, Gang gang) {
  for (Role& role : gang.roles) {
    role.shape.selector.any_of = {
        {{{.key = "name", .op = SelectorOp::kIn, .values = {node}}}}};
  }
  return gang;
}

// So many unnamed devices of the node are in external use.
inline ExternalUsageChanged ExternalUses(const std::string& node,
                                         uint32_t devices) {
  return {{.node = node, .unnamed_devices = devices}};
}

// Queue "q", the classes "low", "mid" and "high", and no node.
class Activation : public ::testing::Test {
 protected:
  Activation() { HasTenants(); }
  // From now on, in an empty cluster.
  void Begins(SchedulerConfig config) {
    s = Story(std::move(config));
    HasTenants();
  }

  static Node Named(const std::string& key, uint32_t gpus, Labels labels = {}) {
    Node node = Machine(key, gpus);
    node.labels = std::move(labels);
    node.labels.push_back({"name", key});
    return node;
  }
  void Has(const std::string& key, uint32_t gpus, Labels labels = {}) {
    s.Happens(NodeChanged{Named(key, gpus, std::move(labels))});
  }
  // What was decided is done, and no question is left.
  void Rests() {
    for (int passes = 0; passes < 10; ++passes) {
      s.AllDone();
      if (s.Pass().empty() && s.NextWakeup() > s.now) return;
    }
    ADD_FAILURE() << "there is no rest";
  }
  void Runs(const Gang& gang) {
    s.Submit(gang);
    Rests();
    EXPECT_EQ(s.Phase(gang.key), "running");
  }
  // Nothing can be done for it.
  void Waits(const Gang& gang) {
    s.Submit(gang);
    Quiet();
    EXPECT_EQ(s.Phase(gang.key), "waiting");
  }
  // It preempts the job "l", and is nominated for the node.
  void IsPromised(const Gang& gang, const std::string& node) {
    const std::string key = gang.key;
    s.Submit(gang);
    EXPECT_THAT(s.Pass(),
                ::testing::ElementsAre("evict l for " + key,
                                       "nominate " + key + ": " + node));
    Quiet();
  }
  // The job "a" is suspended on the node, where the job "b" runs.
  void HasSuspended(const std::string& node) {
    SchedulerConfig config;
    config.host.suspend = true;
    Begins(config);
    Has(node, 1);
    Gang a = Job("a", 1, 1, "low");
    a.on_preempted = OnPreempted::kSuspend;
    Runs(a);
    Runs(Job("b", 1, 1, "high"));
    EXPECT_EQ(s.Phase("a"), "suspended");
  }
  void Quiet() {
    EXPECT_THAT(s.Pass(), ::testing::IsEmpty());
    EXPECT_GT(s.NextWakeup(), s.now) << "not all is asked";
  }

  Story s;

 private:
  void HasTenants() {
    s.HasQueue("q");
    s.HasClasses();
  }
};

}  // namespace muster
