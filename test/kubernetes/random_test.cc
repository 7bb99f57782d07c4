// Random histories of a cluster, with requests that fail and controllers that
// are killed: nothing is bound twice or beyond what there is, no gang runs in
// part, and in the end everything has run.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "test/kubernetes/fake_api.h"

namespace muster::kubernetes {
namespace {

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    for (int n = 0; n < 4; ++n) {
      api.AddNode(absl::StrCat("n", n), 2, {{"rack", n < 2 ? "a" : "b"}});
    }
  }

  void Act() {
    switch (random_() % 12) {
      case 0:
      case 1:
        api.AddPod({.name = Name("job"),
                    .gpus = Upto(2),
                    .priority = static_cast<int32_t>(Upto(3)),
                    .job = absl::StrCat("job", pods_)});
        break;
      case 2:
        api.AddPod({.name = Name("plain"), .gpus = Upto(2)});
        break;
      case 3:
      case 4:
        AddGang();
        break;
      case 5:
      case 6:
      case 7:
        FinishOne();
        break;
      case 8:
        DeleteOne();
        break;
      case 9:
        api.bind_faults.push_back({Outcome(), random_() % 2 == 0});
        break;
      case 10:
        if (random_() % 3 == 0) api.Restart();
        break;
      default:
        api.Pass(static_cast<Duration>(random_() % 30) * kSecond);
    }
    api.Pass(kSecond);
  }

  // Everything runs to its end.
  void Drain() {
    api.bind_faults.clear();
    for (int i = 0; i < 1'000 && !Running().empty(); ++i) {
      for (const std::string& name : Running()) api.Finish(name);
      api.Pass(400 * kSecond);
    }
  }

  FakeApi api;

 private:
  int64_t Upto(int64_t most) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(most + 1));
  }
  std::string Name(const char* what) { return absl::StrCat(what, ++pods_); }
  ApiOutcome Outcome() {
    const ApiOutcome outcomes[] = {ApiOutcome::kUnknown, ApiOutcome::kConflict,
                                   ApiOutcome::kRefused};
    return outcomes[random_() % 3];
  }

  void AddGang() {
    const std::string group = Name("gang");
    const int64_t pods = 2 + Upto(3);
    api.AddGroup(group, static_cast<int32_t>(pods - Upto(1)),
                 random_() % 3 == 0 ? "rack" : "");
    for (int64_t i = 0; i < pods; ++i) {
      api.AddPod({.name = absl::StrCat(group, "-", i),
                  .gpus = 1,
                  .priority = 1,
                  .group = group});
    }
  }

  std::vector<std::string> Running() const {
    std::vector<std::string> names;
    for (const std::string& name : api.Names()) {
      const api::Pod& pod = api.PodNamed(name);
      if (!pod.node_name.empty() && pod.phase == "Running") {
        names.push_back(name);
      }
    }
    return names;
  }

  void FinishOne() {
    const std::vector<std::string> running = Running();
    if (running.empty()) return;
    api.Finish(running[random_() % running.size()], random_() % 4 != 0);
  }

  void DeleteOne() {
    const std::vector<std::string> names = api.Names();
    if (names.empty()) return;
    api.DeletePod(names[random_() % names.size()]);
  }

  std::mt19937_64 random_;
  int pods_ = 0;
};

class RandomTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomTest, NothingIsBoundTwiceOrTooMuch) {
  World world(static_cast<uint64_t>(GetParam()));
  for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
    world.Act();
    ASSERT_TRUE(world.api.Check().ok()) << world.api.Check() << " at " << i;
  }
  world.Drain();
  ASSERT_TRUE(world.api.Check().ok()) << world.api.Check();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, ::testing::Range(0, 60));

}  // namespace
}  // namespace muster::kubernetes
