// The runs behind a comparison.
#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "adapters/experiments/compare.h"
#include "adapters/inprocess/simulator.h"

namespace muster::inprocess {
namespace {

constexpr uint32_t kUsualSeeds = 10;
constexpr size_t kTypicalJobs = 20'000;

// A 64-bit FNV-1a hash of what was decided, when and where. The scheduler's own
// hash would not do: its configuration is part of it.
class DecisionHash final : public Observer {
 public:
  void Planned(const Plan& plan, const Scheduler&) override {
    for (const Decision& d : plan.decisions) {
      Add(static_cast<uint64_t>(plan.now));
      Add(static_cast<uint64_t>(d.kind));
      Add(plan.Text(d.gang_key));
      Add(plan.Text(d.on_behalf_key));
      for (const PlannedTask& task : plan.TasksOf(d)) {
        Add(uint64_t{task.task.role} << 32 | task.task.index);
        Add(plan.Text(task.node_key));
        Add(task.booked.word(0));
        if (task.booked.word(1) != 0) Add(task.booked.word(1));
      }
    }
  }
  uint64_t value() const { return hash_; }

 private:
  void Byte(uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  void Add(uint64_t n) {
    for (int i = 0; i < 64; i += 8) Byte(n >> i & 0xff);
  }
  void Add(std::string_view text) {
    for (const char c : text) Byte(static_cast<unsigned char>(c));
    Byte(0xff);  // No byte of UTF-8: the end.
  }

  uint64_t hash_ = 0xcbf29ce484222325;
};

bool ByLot(const CompareInput& input) {
  return input.setup.config.placement.policy == PlacementPolicy::kRandom;
}

bool SetsSeed(const Variant& variant) {
  return std::ranges::any_of(variant.settings, [](const auto& setting) {
    return setting.first == "placement.seed";
  });
}

// The most frequent shapes of the first jobs, until they are 95 % of their
// tasks: what fragments are measured by, as FGD's authors chose it.
std::vector<TypicalTask> TypicalTasksOf(JobSource* jobs) {
  std::vector<TypicalTask> tasks;
  int64_t all = 0;
  Job job;
  for (size_t i = 0; i < kTypicalJobs && jobs->Next(&job); ++i) {
    for (const Role& role : job.gang.roles) {
      auto it = std::ranges::find(tasks, role.shape, &TypicalTask::shape);
      if (it == tasks.end()) it = tasks.insert(it, {role.shape, 0});
      it->weight += role.desired_tasks;
      all += role.desired_tasks;
    }
  }
  std::ranges::stable_sort(tasks, std::greater<>(), &TypicalTask::weight);
  size_t kept = 0;
  for (int64_t covered = 0;
       kept <
           std::min<size_t>(tasks.size(), PlacementOptions::kMaxTypicalTasks) &&
       covered * 100 < all * 95;
       ++kept) {
    covered += tasks[kept].weight;
  }
  tasks.resize(kept);
  return tasks;
}

// What the policies need that settings do not say.
absl::StatusOr<CompareInput> MakeInput(const CompareSource& source,
                                       uint64_t seed, const Variant& variant) {
  absl::StatusOr<CompareInput> input = source.make(seed, variant);
  if (!input.ok()) return input;
  PlacementOptions& placement = input->setup.config.placement;
  if (ByLot(*input) && !SetsSeed(variant)) placement.seed = seed;
  if (placement.policy == PlacementPolicy::kFragmentation &&
      placement.typical_tasks.empty()) {
    const absl::StatusOr<CompareInput> same = source.make(seed, variant);
    if (!same.ok()) return same.status();
    placement.typical_tasks = TypicalTasksOf(same->jobs.get());
  }
  return input;
}

// The resource whose use is compared: that of the devices, or else the first.
std::string UsedResource(const Setup& setup) {
  const SchedulerConfig& config = setup.config;
  const bool devices = !config.device_kind.empty() &&
                       std::ranges::any_of(setup.nodes, [](const Node& n) {
                         return !n.devices.empty();
                       });
  if (devices) return config.device_kind;
  return config.resources.empty() ? "" : config.resources[0];
}

absl::StatusOr<ComparedRun> RunOnce(
    CompareInput input, Time until,
    const std::function<void(uint64_t, uint64_t)>& progress) {
  DecisionHash hash;
  const std::string used = UsedResource(input.setup);
  absl::StatusOr<Simulator> simulator = Simulator::Create(
      input.setup, input.jobs.get(), std::move(input.events),
      {.host = input.host, .observer = &hash, .progress = progress});
  if (!simulator.ok()) return simulator.status();
  absl::Status status = simulator->Run(until);
  if (status.ok()) status = simulator->Audit();
  if (!status.ok()) return status;
  const Report report = MakeReport({}, *simulator, false);
  return ComparedRun{.measured = MeasuresOf(report, used),
                     .decisions_hash = hash.value(),
                     .refused = report.counts.refused};
}

// Tries every variant before anything runs. How often each is to run.
absl::StatusOr<uint32_t> CheckVariants(const CompareSource& source,
                                       const CompareOptions& options) {
  if (options.variants.size() < 2) {
    return absl::InvalidArgumentError(
        "--variant: two or more are needed, the first is the base");
  }
  std::map<std::string, int> names;
  bool by_lot = false;
  for (const Variant& v : options.variants) {
    if (++names[v.name] > 1) {
      return absl::InvalidArgumentError("--variant " + v.name +
                                        ": there are two of this name");
    }
    const absl::StatusOr<CompareInput> input =
        source.make(source.first_seed, v);
    if (!input.ok()) return input.status();
    by_lot = by_lot || (ByLot(*input) && !SetsSeed(v));
  }
  const bool seeded = source.generated || by_lot;
  if (options.seeds > 1 && !seeded) {
    return absl::InvalidArgumentError(
        "--seeds: all runs would be alike; seeds matter to --generate, and to "
        "a variant with placement.policy=random");
  }
  if (options.seeds > 0) return options.seeds;
  return seeded ? kUsualSeeds : 1;
}

}  // namespace

absl::StatusOr<Comparison> RunComparison(const CompareSource& source,
                                         const CompareOptions& options,
                                         uint64_t* refused) {
  const absl::StatusOr<uint32_t> count = CheckVariants(source, options);
  if (!count.ok()) return count.status();
  const size_t variants = options.variants.size();
  std::vector<std::vector<ComparedRun>> runs(variants);
  std::vector<uint64_t> seeds;
  constexpr uint64_t kOne = 1000;  // Of the progress, for a run.
  uint64_t done = 0;
  *refused = 0;
  for (uint32_t i = 0; i < *count; ++i) {
    const uint64_t seed = source.first_seed + i;
    seeds.push_back(seed);
    for (size_t v = 0; v < variants; ++v) {
      const Variant& variant = options.variants[v];
      absl::StatusOr<CompareInput> input = MakeInput(source, seed, variant);
      if (!input.ok()) return input.status();
      absl::StatusOr<ComparedRun> run = RunOnce(
          *std::move(input), options.until, [&](uint64_t ended, uint64_t all) {
            if (!options.progress || all == 0) return;
            options.progress(done + kOne * ended / all,
                             kOne * *count * variants);
          });
      if (!run.ok()) {
        return absl::Status(run.status().code(),
                            "variant " + variant.name + ": " +
                                std::string(run.status().message()));
      }
      done += kOne;
      *refused += run->refused;
      runs[v].push_back(*std::move(run));
    }
  }
  return Compare(source.title, options.variants, std::move(seeds),
                 source.generated || *count > 1, runs);
}

}  // namespace muster::inprocess
