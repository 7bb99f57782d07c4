#include "adapters/inprocess/generate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "adapters/inprocess/quantity.h"
#include "adapters/inprocess/random.h"

namespace muster::inprocess {
namespace {

constexpr uint32_t kGpusPerNode = 8;
constexpr uint32_t kNodesPerRack = 16;
constexpr int64_t kGibi = int64_t{1} << 30;

// GPUs of a gang, per mille of gangs. Hu et al., "Characterization and
// Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters" (SC'21,
// the Helios traces): 3.72 GPUs on average, more than half the jobs use one,
// powers of two rule. The shares between are chosen to meet these: the mean of
// this table is 3.7.
struct SizeShare {
  uint32_t gpus;
  int64_t per_mille;
};
constexpr SizeShare kSizes[] = {{1, 590}, {2, 120}, {4, 120}, {8, 110},
                                {16, 35}, {32, 20}, {64, 5}};

// Run times by per mille of gangs, straight lines in between. The life times of
// the pods of cluster-trace-gpu-v2023 (Weng et al., ATC'23): median 616 s, 90 %
// below 7,764 s, 99 % below 114,348 s. The ends are chosen.
struct Quantile {
  int64_t per_mille;
  int64_t seconds;
};
constexpr Quantile kRunTimes[] = {
    {0, 10}, {500, 616}, {900, 7'764}, {990, 114'348}, {1000, 200'000}};

// One unexpected interruption in 50,676 GPU hours: 419 in 54 days on 16,384
// GPUs ("The Llama 3 Herd of Models", 2024, section 3.3.4). The repair time is
// chosen.
constexpr Duration kNodeMtbf = 50'676 * kHour / kGpusPerNode;
constexpr Duration kRepair = 6 * kHour;

// Chosen, not published: classes, elasticity, checkpoints, restarts.
constexpr int64_t kHighPerMille = 100;
constexpr int64_t kLowPerMille = 300;
constexpr int64_t kElasticPerMille = 200;  // Of gangs with 8 GPUs or more.
constexpr Duration kCheckpointEvery = 30 * 60 * kSecond;
constexpr Duration kRestartCost = 60 * kSecond;

uint32_t DrawSize(Random* random, uint32_t most) {
  int64_t draw = random->Below(1000);
  for (const SizeShare& s : kSizes) {
    if (draw < s.per_mille) return std::min(s.gpus, most);
    draw -= s.per_mille;
  }
  return 1;
}

Duration DrawRunTime(Random* random) {
  const int64_t draw = random->Below(1'000'000);  // Per million.
  for (size_t i = 1; i < std::size(kRunTimes); ++i) {
    const Quantile& a = kRunTimes[i - 1];
    const Quantile& b = kRunTimes[i];
    if (draw >= b.per_mille * 1000) continue;
    return kSecond *
           (a.seconds + (b.seconds - a.seconds) * (draw - a.per_mille * 1000) /
                            ((b.per_mille - a.per_mille) * 1000));
  }
  return kSecond;
}

std::string Numbered(const char* prefix, uint32_t number) {
  std::string digits = std::to_string(number);
  return prefix + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') +
         digits;
}

Setup MakeSetup(uint32_t nodes) {
  Setup setup;
  setup.config.topologies = {{.key = "network", .levels = {"rack"}}};
  for (uint32_t n = 0; n < nodes; ++n) {
    Node node{.key = Numbered("node-", n)};
    node.capacity = {96'000, 1024 * kGibi};
    node.devices.assign(kGpusPerNode, Device{.model = "H100"});
    node.labels = {
        {.key = "rack", .value = "r" + std::to_string(n / kNodesPerRack)}};
    setup.nodes.push_back(std::move(node));
  }
  setup.queues = {{.key = "product", .weight = 1},
                  {.key = "research", .weight = 2}};
  setup.priority_classes = {{.key = "high", .value = 100},
                            {.key = "normal", .value = 0},
                            {.key = "low", .value = -100}};
  return setup;
}

Job MakeJob(Random* random, uint32_t number, uint32_t most_gpus) {
  Job job{.work = DrawRunTime(random), .checkpoint_every = kCheckpointEvery};
  Gang& gang = job.gang;
  gang.key = Numbered("gang-", number);
  gang.queue = random->Below(3) == 0 ? "product" : "research";
  const int64_t draw = random->Below(1000);
  gang.priority_class = draw < kHighPerMille                  ? "high"
                        : draw < kHighPerMille + kLowPerMille ? "low"
                                                              : "normal";
  gang.restart_cost = kRestartCost;
  const uint32_t gpus = DrawSize(random, most_gpus);
  Role& role = gang.roles.emplace_back();
  role.min_tasks = role.desired_tasks = gpus;
  if (gpus >= 8 && random->Below(1000) < kElasticPerMille) {
    role.min_tasks = gpus / 2;
  }
  role.shape.resources = {8'000, 100 * kGibi};
  role.shape.devices.count = 1;
  if (gpus > 1) {
    gang.groups.emplace_back().topology.preferred =
        gpus <= kGpusPerNode ? kHostLevel : "rack";
  }
  return job;
}

}  // namespace

Generated Generate(const GenerateOptions& options) {
  Random random(options.seed);
  Generated g;
  g.setup = MakeSetup(options.nodes);
  const uint32_t all_gpus = options.nodes * kGpusPerNode;
  __int128 asked = 0;  // GPU-nanoseconds.
  for (uint32_t j = 0; j < options.jobs; ++j) {
    g.jobs.push_back(MakeJob(&random, j, all_gpus));
    asked += static_cast<__int128>(g.jobs.back().work) *
             g.jobs.back().gang.roles[0].desired_tasks;
  }
  // Arrivals are independent of each other: a Poisson process, given how many
  // there are. The window is as long as the load says.
  const auto window = static_cast<Duration>(
      asked * 100 / (static_cast<__int128>(all_gpus) * options.load_percent));
  for (Job& job : g.jobs) {
    job.gang.submitted =
        random.Below(window / kSecond + 1) * kSecond;  // Whole seconds.
  }
  std::ranges::sort(g.jobs, {}, [](const Job& j) {
    return std::pair(j.gang.submitted, j.gang.key);
  });
  if (!options.failures) return g;
  const int64_t failures = static_cast<int64_t>(static_cast<__int128>(window) *
                                                options.nodes / kNodeMtbf);
  for (int64_t i = 0; i < failures; ++i) {
    const std::string node =
        g.setup.nodes[static_cast<size_t>(random.Below(options.nodes))].key;
    const Time at = random.Below(window / kSecond + 1) * kSecond;
    g.events.push_back({at, NodeDown{node}});
    g.events.push_back({at + kRepair, NodeUp{node}});
  }
  std::ranges::stable_sort(g.events, {}, &WorldEvent::at);
  return g;
}

void WriteScenario(const Generated& g, const GenerateOptions& options,
                   std::ostream& out) {
  out << "title: generated, seed " << options.seed << ", " << options.nodes
      << " nodes, " << options.jobs << " gangs, load " << options.load_percent
      << " %\n"
      << "topologies:\n  - {key: network, levels: [rack]}\n"
      << "queues:\n";
  for (const Queue& q : g.setup.queues) {
    out << "  - {key: " << q.key << ", weight: " << q.weight << "}\n";
  }
  out << "priority_classes:\n";
  for (const PriorityClass& c : g.setup.priority_classes) {
    out << "  - {key: " << c.key << ", value: " << c.value << "}\n";
  }
  out << "nodes:\n";
  for (const Node& n : g.setup.nodes) {
    out << "  - {key: " << n.key << ", capacity: {cpu: " << n.capacity[0] / 1000
        << ", memory: " << n.capacity[1] / kGibi
        << "Gi}, devices: {count: " << n.devices.size()
        << ", model: " << n.devices[0].model
        << "}, labels: {rack: " << n.labels[0].value << "}}\n";
  }
  out << "gangs:\n";
  for (const Job& j : g.jobs) {
    const Role& r = j.gang.roles[0];
    out << "  - {key: " << j.gang.key << ", queue: " << j.gang.queue
        << ", priority_class: " << j.gang.priority_class
        << ", submit: " << j.gang.submitted / kSecond
        << "s, run: " << j.work / kSecond
        << "s, checkpoint_every: " << j.checkpoint_every / kSecond
        << "s, restart_cost: " << j.gang.restart_cost / kSecond
        << "s, min: " << r.min_tasks << ", desired: " << r.desired_tasks
        << ", per_task: {cpu: " << r.shape.resources[0] / 1000
        << ", memory: " << r.shape.resources[1] / kGibi << "Gi, gpu: 1}";
    if (!j.gang.groups.empty()) {
      out << ", topology: {preferred: " << j.gang.groups[0].topology.preferred
          << "}";
    }
    out << "}\n";
  }
  if (g.events.empty()) return;
  out << "events:\n";
  for (const WorldEvent& e : g.events) {
    const EventBody& body = std::get<EventBody>(e.what);
    const auto* down = std::get_if<NodeDown>(&body);
    out << "  - {at: " << e.at / kSecond << "s, "
        << (down != nullptr ? "node_down: " + down->node
                            : "node_up: " + std::get<NodeUp>(body).node)
        << "}\n";
  }
}

}  // namespace muster::inprocess
