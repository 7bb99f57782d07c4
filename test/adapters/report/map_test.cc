#include "adapters/report/map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::inprocess {
namespace {

using testing::ElementsAre;

constexpr ResourceKind kGpu = 0;

uint64_t Varint(const std::string& bytes, size_t* at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at((*at)++));
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

// What each device showed at each step, as text: "free", "down", or the gangs.
std::vector<std::vector<std::string>> StepsOf(const MapPicture& p) {
  size_t devices = 0, at = 0;
  for (const MapPicture::Node& n : p.nodes) devices += n.devices;
  std::vector<std::string> state(devices, "free");
  std::vector<std::vector<std::string>> steps;
  const auto text = [&](uint64_t value) -> std::string {
    static const char* const kPlain[] = {"free", "down", "others", "absent"};
    if (value < kFirstOccupancy) return kPlain[value];
    const Occupancy& o = p.occupancies.at(value - kFirstOccupancy);
    std::string s;
    for (uint32_t g : o.gangs) s += p.gangs.at(g).key + " ";
    return s + std::to_string(o.milli) + (o.working ? " works" : " held");
  };
  for (size_t s = 0; s < p.steps.size(); ++s) {
    uint64_t behind = 0;
    for (uint64_t runs = Varint(p.changes, &at); runs > 0; --runs) {
      const uint64_t first = behind + Varint(p.changes, &at);
      behind = first + Varint(p.changes, &at);
      const std::string now = text(Varint(p.changes, &at));
      for (uint64_t d = first; d < behind; ++d) state.at(d) = now;
    }
    steps.push_back(state);
  }
  EXPECT_EQ(at, p.changes.size());
  return steps;
}

// A cluster whose gangs come and go, and what it really looked like.
class Cluster {
 public:
  Cluster(uint32_t nodes, uint32_t devices, size_t max_cells)
      : real_usage_(1, kGpu), map_(max_cells), devices_(devices) {
    for (uint32_t n = 0; n < nodes; ++n) {
      Node node{.key = "n" + std::to_string(n)};
      node.labels = {{"rack", "r" + std::to_string(n / 4)}};
      node.devices.assign(devices, Device{});
      map_.NodeUpdated(real_usage_.Upsert(node), real_usage_);
    }
  }
  static TaskShape Shape(int32_t milli) {
    TaskShape shape;
    shape.devices = {.count = 1, .milli = milli};
    return shape;
  }
  std::string Key(uint32_t gang) const { return "g" + std::to_string(gang); }
  void Take(uint32_t gang, uint32_t node, uint32_t device,
            int32_t milli = kWholeDevice) {
    real_usage_.Charge(node, Shape(milli), {DeviceSet{device}});
    map_.Take(gang, {.key = Key(gang)}, node, DeviceSet{device});
  }
  void Leave(uint32_t gang, uint32_t node, uint32_t device,
             int32_t milli = kWholeDevice) {
    real_usage_.Credit(node, Shape(milli), {DeviceSet{device}});
    map_.Leave(gang, node, DeviceSet{device});
  }
  void SetUp(uint32_t node, bool up) {
    real_usage_.SetUp(node, up);
    map_.NodeUpdated(node, real_usage_);
  }
  void Until(Time t) {
    if (t > now_) map_.Advanced(now_, t, real_usage_);
    now_ = t;
  }
  MapPicture Finish(size_t max_bytes = 1 << 20) {
    return map_.Finish(now_, real_usage_, {"rack"}, max_bytes);
  }
  DeviceMap& map() { return map_; }
  Time now() const { return now_; }
  uint32_t devices() const { return devices_; }

 private:
  RealUsage real_usage_;
  DeviceMap map_;
  uint32_t devices_;
  Time now_ = 0;
};

TEST(DeviceMapTest, EachChangeOfAShortRunIsAStep) {
  Cluster c(1, 2, 1000);
  c.Take(0, 0, 0);
  c.map().SetWorking(0, true);
  c.Until(10);
  c.Until(20);  // Nothing happens: no step.
  c.Take(1, 0, 1, 300);
  c.Until(30);
  c.SetUp(0, false);
  c.Leave(0, 0, 0);
  c.Leave(1, 0, 1, 300);
  c.Until(40);
  c.SetUp(0, true);
  c.Until(50);
  const MapPicture p = c.Finish();
  EXPECT_THAT(p.steps, ElementsAre(0, 20, 30, 40, 50));
  EXPECT_THAT(
      StepsOf(p),
      ElementsAre(ElementsAre("g0 1000 works", "free"),
                  ElementsAre("g0 1000 works", "g1 300 held"),
                  ElementsAre("down", "down"), ElementsAre("free", "free"),
                  ElementsAre("free", "free")));
}

TEST(DeviceMapTest, GangsThatShareADeviceAreAllNamed) {
  Cluster c(1, 1, 1000);
  c.Take(3, 0, 0, 500);
  c.Take(1, 0, 0, 200);
  c.map().SetWorking(1, true);
  c.Until(10);
  c.map().SetWorking(3, true);
  c.Until(20);
  EXPECT_THAT(StepsOf(c.Finish()), ElementsAre(ElementsAre("g1 g3 700 held"),
                                               ElementsAre("g1 g3 700 works"),
                                               ElementsAre("g1 g3 700 works")));
}

TEST(DeviceMapTest, NeighboursAreTogetherAndNumbersCountAsNumbers) {
  RealUsage real_usage(1, kGpu);
  DeviceMap map(1000);
  for (const auto& [key, rack] :
       std::vector<std::pair<std::string, std::string>>{
           {"a-10", "r10"}, {"a-9", "r10"}, {"b", "r2"}, {"cpu-only", "r1"}}) {
    Node node{.key = key};
    node.labels = {{"rack", rack}};
    if (key != "cpu-only") node.devices.assign(2, Device{});
    map.NodeUpdated(real_usage.Upsert(node), real_usage);
  }
  std::vector<std::string> keys;
  for (const auto& n : map.Finish(1, real_usage, {"rack"}, 1 << 20).nodes) {
    keys.push_back(n.key);
  }
  EXPECT_THAT(keys, ElementsAre("b", "a-9", "a-10"));
}

// Whatever is left out, each step that is kept shows the cluster as it was at
// that time.
TEST(DeviceMapTest, ManyChangesAreThinnedOutAndWhatIsLeftIsTrue) {
  constexpr unsigned kSeed = 11;
  constexpr uint32_t kNodes = 8, kDevices = 4, kCells = kNodes * kDevices;
  constexpr size_t kMaxCells = kCells * 100;  // Hence 100 steps.
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  Cluster c(kNodes, kDevices, kMaxCells);
  std::vector<int> holder(kCells, -1);
  std::map<Time, std::vector<int>> truth;  // From this time on.
  uint32_t gangs = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto cell = static_cast<uint32_t>(random() % kCells);
    if (holder[cell] >= 0) {
      c.Leave(static_cast<uint32_t>(holder[cell]), cell / kDevices,
              cell % kDevices);
      holder[cell] = -1;
    } else {
      holder[cell] = static_cast<int>(gangs);
      c.Take(gangs++, cell / kDevices, cell % kDevices);
    }
    truth[c.now()] = holder;
    c.Until(c.now() + static_cast<Time>(1 + random() % 1000));
  }
  const MapPicture p = c.Finish();
  EXPECT_LE(p.steps.size(), 101U);
  EXPECT_GE(p.steps.size(), 40U);
  EXPECT_GT(p.spacing, 0);
  EXPECT_LE(p.gangs.size(), p.steps.size() * kCells);
  EXPECT_EQ(p.steps.back(), c.now());
  const auto steps = StepsOf(p);
  for (size_t s = 0; s < steps.size(); ++s) {
    if (s > 0 && s + 1 < steps.size()) {
      EXPECT_GE(p.steps[s] - p.steps[s - 1], p.spacing);
    }
    const std::vector<int>& was =
        std::prev(truth.upper_bound(p.steps[s]))->second;
    for (size_t d = 0; d < kCells; ++d) {
      const std::string expected =
          was[d] < 0 ? "free" : "g" + std::to_string(was[d]) + " 1000 held";
      ASSERT_EQ(steps[s][d], expected) << "step " << s << ", device " << d;
    }
  }
}

TEST(DeviceMapTest, StepsAreLeftOutUntilThePictureFits) {
  Cluster c(8, 8, 8 * 8 * 600);
  for (uint32_t gang = 0; gang < 500; ++gang) {
    for (uint32_t d = 0; d < 8; ++d) c.Take(gang, gang % 8, d);
    c.Until(c.now() + kSecond);
    for (uint32_t d = 0; d < 8; ++d) c.Leave(gang, gang % 8, d);
  }
  constexpr size_t kBytes = 2000;
  const MapPicture p = c.Finish(kBytes);
  EXPECT_LE(p.changes.size() * 4 / 3, kBytes);
  EXPECT_GT(p.steps.size(), 10U);
  EXPECT_LT(p.steps.size(), 500U);
  EXPECT_EQ(p.steps.front(), 0);
  EXPECT_EQ(p.steps.back(), c.now());
  EXPECT_GT(p.spacing, 0);
}

}  // namespace
}  // namespace muster::inprocess
