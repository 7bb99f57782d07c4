// What is lost, or how many gangs are stopped, where whole nodes are emptied of
// gangs that lie across nodes, beside the least that could be: an integer
// program says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "muster/scheduler.h"
#include "test/solver/integer_program.h"

namespace muster {
namespace {

constexpr uint32_t kGpus = 8;
constexpr uint32_t kRack = 16;
constexpr Time kNow = 1000 * kSecond;

struct Size {
  uint32_t nodes = 0;
  uint32_t want = 0;
};

// Full nodes; gangs of 1 to 4 tasks with 1, 2 or 4 GPUs each over nodes that
// lie together, with work unsaved since any time.
class FullCluster {
 public:
  FullCluster(Size size, bool one_rack, bool fewest_gangs, uint64_t seed)
      : size_(size),
        one_rack_(one_rack),
        random_(seed),
        free_(size.nodes, kGpus),
        gangs_(size.nodes),
        scheduler_(*Scheduler::Create(
            {.topologies = {{"net", {"rack"}}},
             .host = {},
             .preemption_costs = fewest_gangs ? PreemptionCosts::FewestGangs()
                                              : PreemptionCosts()})) {
    for (uint32_t n = 0; n < size.nodes; ++n) AddNode(n);
    Apply(QueueChanged{{.key = "q"}});
    Apply(PriorityClassChanged{{.key = "low"}});
    Apply(PriorityClassChanged{{.key = "high", .value = 1}});
    for (uint32_t n = 0; n < size.nodes; ++n) {
      while (free_[n] > 0) AddGang(n);
    }
    Settle();
    for (size_t g = 0; g < costs_.size(); ++g) {
      const Time at = 1 + Below(kNow - 1);
      costs_[g] = fewest_gangs ? 1 : costs_[g] * ((kNow - at) / kMillisecond);
      Apply(CheckpointTaken{"g" + std::to_string(g), at}, kNow);
    }
  }

  // What the eviction for nodes that are emptied loses, as `costs` counts it.
  int64_t Lost() {
    Gang gang = GangOf("winner", "high");
    gang.roles.push_back(RoleOf("w", size_.want, kGpus));
    if (one_rack_) gang.roles[0].topology.required = "rack";
    Apply(GangSubmitted{std::move(gang)}, kNow);
    Plan plan;
    scheduler_.Schedule(kNow, &plan);
    int64_t lost = 0;
    for (const Decision& d : plan.decisions) {
      if (d.kind != DecisionKind::kEvict) continue;
      lost += costs_[std::stoul(std::string(plan.Text(d.gang_key).substr(1)))];
    }
    return lost;
  }

  std::string Question() const {
    std::ostringstream text;
    text << "{\"want\": " << size_.want << ", \"costs\": [";
    const char* comma = "";
    for (const int64_t cost : costs_) {
      text << comma << cost;
      comma = ", ";
    }
    text << "], \"racks\": [[";
    for (uint32_t n = 0; n < size_.nodes; ++n) {
      if (n > 0) text << (one_rack_ && n % kRack == 0 ? "], [" : ", ");
      text << "[";
      comma = "";
      for (const uint32_t g : gangs_[n]) {
        text << comma << g;
        comma = ", ";
      }
      text << "]";
    }
    text << "]]}\n";
    return text.str();
  }

 private:
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }
  void Apply(EventBody what, Time now = 0) {
    const absl::Status status = scheduler_.Apply(Event{now, std::move(what)});
    ASSERT_TRUE(status.ok()) << status;
  }
  static std::string NodeKey(uint32_t n) { return "n" + std::to_string(n); }
  static Gang GangOf(std::string key, std::string priority_class) {
    Gang gang;
    gang.key = std::move(key);
    gang.queue = "q";
    gang.priority_class = std::move(priority_class);
    return gang;
  }
  static Role RoleOf(std::string name, uint32_t tasks, uint32_t gpus) {
    Role role;
    role.name = std::move(name);
    role.min_tasks = role.desired_tasks = tasks;
    role.shape.devices.count = gpus;
    return role;
  }

  void AddNode(uint32_t n) {
    Node node;
    node.key = NodeKey(n);
    node.devices.resize(kGpus);
    node.labels = {{"host", NodeKey(n)},
                   {"rack", "r" + std::to_string(n / kRack)}};
    Apply(NodeChanged{std::move(node)});
  }

  // Its first task goes to the node, the others to those that follow.
  void AddGang(uint32_t n) {
    const uint32_t g = static_cast<uint32_t>(costs_.size());
    Gang gang = GangOf("g" + std::to_string(g), "low");
    const auto gpus =
        std::min(free_[n], uint32_t{1} << static_cast<uint32_t>(Below(3)));
    const int64_t tasks = 1 + Below(4);
    for (int64_t t = 0; t < tasks; ++t) {
      const auto at = t == 0 ? n : n + static_cast<uint32_t>(Below(4));
      if (at >= size_.nodes || free_[at] < gpus) continue;
      free_[at] -= gpus;
      Role& role = gang.roles.emplace_back(RoleOf(std::to_string(t), 1, gpus));
      role.shape.selector.any_of = {
          {{{"host", SelectorOp::kIn, {NodeKey(at)}}}}};
      if (!std::ranges::count(gangs_[at], g)) gangs_[at].push_back(g);
    }
    costs_.push_back(int64_t{gpus} * static_cast<int64_t>(gang.roles.size()));
    Apply(GangSubmitted{std::move(gang)});
  }

  void Settle() {
    Plan plan;
    for (scheduler_.Schedule(0, &plan); !plan.decisions.empty();
         scheduler_.Schedule(0, &plan)) {
      for (const Decision& d : plan.decisions) Apply(DecisionApplied{d.seq});
    }
  }

  const Size size_;
  const bool one_rack_;
  std::mt19937_64 random_;
  std::vector<uint32_t> free_;                // By node.
  std::vector<std::vector<uint32_t>> gangs_;  // By node.
  std::vector<int64_t> costs_;                // By gang: devices, then work.
  Scheduler scheduler_;
};

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The largest cluster, in nodes.
uint64_t MostNodes() { return Setting("MUSTER_NODES", 128); }

// Mean and worst of what is lost beside the least, over some seeds.
void Compare(Size size, bool one_rack, bool fewest_gangs) {
  const uint64_t seeds = Setting("MUSTER_SEEDS", 8);
  std::string questions;
  std::vector<int64_t> lost;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    FullCluster cluster(size, one_rack, fewest_gangs, seed);
    questions += cluster.Question();
    lost.push_back(cluster.Lost());
    ASSERT_GT(lost.back(), 0);
  }
  const auto answer =
      solver_test::AskIntegerProgram("preempt/victims_exact.py", questions);
  if (!answer.skipped.empty()) GTEST_SKIP() << answer.skipped;
  ASSERT_EQ(answer.status, 0) << answer.output;
  std::istringstream lines(answer.output);
  double sum = 0, worst = 0;
  for (const int64_t is : lost) {
    int64_t least = 0;
    ASSERT_TRUE(lines >> least);
    EXPECT_GE(is, least);
    const double ratio = static_cast<double>(is) / static_cast<double>(least);
    sum += ratio;
    worst = std::max(worst, ratio);
  }
  const double mean = sum / static_cast<double>(lost.size());
  std::printf("%u nodes%s, %u emptied: mean %.4f, worst %.4f of the %s\n",
              size.nodes, one_rack ? ", one rack" : "", size.want, mean, worst,
              fewest_gangs ? "fewest gangs" : "least work");
  EXPECT_LE(mean, 1.01);
  EXPECT_LE(worst, 1.05);
}

constexpr Size kSizes[] = {{16, 2},  {16, 4},   {32, 4},  {64, 4},  {64, 8},
                           {128, 8}, {128, 32}, {256, 8}, {512, 8}, {512, 32}};

void CompareAll(bool one_rack, bool fewest_gangs) {
  for (const Size& size : kSizes) {
    const bool exists = !one_rack || size.want <= kRack;
    if (exists && size.nodes <= MostNodes()) {
      Compare(size, one_rack, fewest_gangs);
    }
  }
}

TEST(VictimsExactTest, AnyNodes) { CompareAll(false, false); }
TEST(VictimsExactTest, NodesOfOneRack) { CompareAll(true, false); }
TEST(VictimsExactTest, FewestGangsOnAnyNodes) { CompareAll(false, true); }
TEST(VictimsExactTest, FewestGangsOnNodesOfOneRack) { CompareAll(true, true); }

}  // namespace
}  // namespace muster
