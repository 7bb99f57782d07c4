#include "adapters/workloads/generate_cluster.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "adapters/workloads/generate_model.h"
#include "adapters/workloads/units.h"

namespace muster::inprocess {
namespace {

// Nodes of one kind stand side by side.
std::vector<Node> MakeNodes(const ClusterModel& model, bool spot) {
  std::vector<Node> nodes;
  uint32_t permille = 0;  // Of the types so far.
  for (const NodeType& type : model.node_types) {
    permille += type.permille;
    const uint32_t end = (permille * model.nodes + 500) / 1000;
    for (auto n = static_cast<uint32_t>(nodes.size()); n < end; ++n) {
      const uint32_t rack = n / model.nodes_per_rack;
      const uint32_t block = rack / model.racks_per_block;
      const uint32_t zone = block / model.blocks_per_zone;
      Node& node = nodes.emplace_back();
      node.key = Numbered("node-", n, 5);
      node.capacity = {type.cpu_milli, type.memory_mib * kMebi};
      node.devices.assign(type.gpus, Device{.model = type.model});
      node.labels = {{.key = "block", .value = Numbered("b", block, 2)},
                     {.key = "rack", .value = Numbered("r", rack, 4)},
                     {.key = "zone", .value = Numbered("z", zone, 1)}};
      if (spot && n % kSpotEvery == kSpotEvery - 1) {
        node.taints = {{.key = kSpotTaint}};
      }
    }
  }
  // A cluster of less than kSpotEvery nodes has one.
  if (spot && nodes.size() < kSpotEvery) {
    nodes.back().taints = {{.key = kSpotTaint}};
  }
  return nodes;
}

int64_t DevicesOf(const std::vector<Node>& nodes) {
  int64_t devices = 0;
  for (const Node& n : nodes) devices += static_cast<int64_t>(n.devices.size());
  return devices;
}

void Guarantee(int64_t gpus, Queue* queue) {
  queue->quotas = {{.resource = "gpu", .guarantee = gpus * kWholeDevice}};
}

std::vector<Queue> MakeQueues(const ClusterModel& model, bool quotas,
                              int64_t gpus) {
  std::vector<Queue> queues;
  for (uint32_t d = 0; d < model.departments; ++d) {
    queues.push_back({.key = Numbered("department-", d + 1, 1)});
  }
  int64_t parts = 0;
  for (uint32_t t = 0; t < model.tenants; ++t) parts += PartOf(t);
  std::vector<int64_t> guaranteed(model.departments, 0);
  for (uint32_t t = 0; t < model.tenants; ++t) {
    const uint32_t department = t % model.departments;
    Queue queue{.key = Numbered("team-", t + 1, 3),
                .parent = queues[department].key};
    const int64_t own = gpus * kGuaranteedPercent * PartOf(t) / (parts * 100);
    guaranteed[department] += own;
    if (quotas) {
      Guarantee(own, &queue);
      const int64_t limit =
          std::max<int64_t>(kLimitTimes * own, model.most_gpus);
      if (limit < gpus) queue.quotas[0].limit = limit * kWholeDevice;
    }
    queues.push_back(std::move(queue));
  }
  for (uint32_t d = 0; quotas && d < model.departments; ++d) {
    Guarantee(guaranteed[d], &queues[d]);
  }
  return queues;
}

// Random numbers of their own for each kind of event of each node.
Random Draws(uint64_t seed, uint64_t kind, uint64_t node) {
  const uint64_t of_kind = Random(Random(seed).Next() + kind).Next();
  return Random(Random(of_kind + node).Next());
}

// The one timeline of a node: it is up, fails or is taken back, is away, is up
// again. A draw an hour.
class NodeFate {
 public:
  NodeFate(const GenerateOptions& options, uint64_t node)
      : failures_(options.failures),
        spot_(options.spot),
        end_(options.hours * 3600),
        failure_draws_(Draws(options.seed, 1, node)),
        spot_draws_(Draws(options.seed, 2, node)) {}

  void AppendEvents(const Node& node, std::vector<WorldEvent>* events) {
    for (int64_t hour = 0; hour < end_; hour += 3600) {
      const std::optional<int64_t> fails =
          When(hour, failures_, kFailure, &failure_draws_);
      const std::optional<int64_t> taken =
          When(hour, spot_ && IsSpot(node), kSpotReclaim, &spot_draws_);
      if (hour < away_until_) continue;
      if (fails.has_value()) {
        Away(node, *fails, kRepairSeconds, events);
      } else if (taken.has_value()) {
        const int64_t at = *taken + kSpotNoticeSeconds;
        events->push_back({*taken * kSecond,
                           SpotNotice{.node = node.key, .at = at * kSecond}});
        Away(node, at, kSpotAwaySeconds, events);
      }
    }
  }

 private:
  static std::optional<int64_t> When(int64_t hour, bool happens,
                                     const HourlyChance& chance,
                                     Random* draws) {
    const bool hit = draws->Below(chance.of) < chance.hits;
    const int64_t at = hour + draws->Below(3600);
    return happens && hit ? std::optional(at) : std::nullopt;
  }

  void Away(const Node& node, int64_t from, int64_t seconds,
            std::vector<WorldEvent>* events) {
    away_until_ = from + seconds;
    events->push_back({from * kSecond, NodeDown{node.key}});
    events->push_back({away_until_ * kSecond, NodeUp{node.key}});
  }

  const bool failures_;
  const bool spot_;
  const int64_t end_;
  int64_t away_until_ = 0;
  Random failure_draws_;
  Random spot_draws_;
};

// Keeps every pass of the large preset to about a tenth of a second: what is at
// work at time 0 comes in several passes.
constexpr uint64_t kLargeWorkBudget = 1'000'000;

}  // namespace

std::string Numbered(const char* prefix, uint64_t number, size_t digits) {
  const std::string text = std::to_string(number);
  const size_t zeros = digits > text.size() ? digits - text.size() : 0;
  return prefix + std::string(zeros, '0') + text;
}

Setup MakeSetup(const GenerateOptions& options) {
  const ClusterModel& model = ModelOf(options.preset);
  Setup setup;
  setup.config.topologies = {
      {.key = "network", .levels = {"zone", "block", "rack"}}};
  if (options.preset == Preset::kLarge) {
    setup.config.work_budget = kLargeWorkBudget;
  }
  setup.nodes = MakeNodes(model, options.spot);
  setup.queues = MakeQueues(model, options.quotas, DevicesOf(setup.nodes));
  setup.priority_classes = {
      {.key = "high", .value = 100, .min_runtime = 2 * kHour},
      {.key = "normal", .value = 0, .min_runtime = 2 * kHour},
      {.key = "low", .value = -100}};
  for (PriorityClass& c : setup.priority_classes) c.grace = 30 * kSecond;
  return setup;
}

size_t FirstTenant(const Setup& setup) {
  const auto it = std::ranges::find_if(
      setup.queues, [](const Queue& q) { return !q.parent.empty(); });
  return static_cast<size_t>(it - setup.queues.begin());
}

bool IsSpot(const Node& node) { return !node.taints.empty(); }

std::vector<WorldEvent> MakeEvents(const GenerateOptions& options,
                                   const Setup& setup) {
  std::vector<WorldEvent> events;
  for (size_t n = 0; n < setup.nodes.size(); ++n) {
    NodeFate(options, n).AppendEvents(setup.nodes[n], &events);
  }
  std::ranges::stable_sort(events, {}, &WorldEvent::at);
  return events;
}

}  // namespace muster::inprocess
