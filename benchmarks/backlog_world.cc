#include "benchmarks/backlog_world.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "benchmarks/padded.h"

namespace muster::bench {
namespace {

constexpr uint32_t kDevices = 8;
constexpr uint32_t kPools = 4;
constexpr const char* kClasses[] = {"low", "middle", "high"};

struct Size {
  uint32_t upto;  // Of 1,000 shapes.
  uint32_t tasks;
  uint32_t devices;
};
constexpr Size kSizes[] = {{450, 1, 1}, {650, 1, 2}, {770, 1, 4},  {870, 1, 8},
                           {910, 2, 2}, {940, 2, 4}, {965, 2, 8},  {980, 4, 4},
                           {990, 4, 8}, {997, 8, 8}, {1000, 16, 8}};

const Size& SizeOf(uint32_t shape) {
  // Spread over all turns of topology, pool and priority.
  const uint32_t turn = shape * 77 % BacklogWorld::kShapes;
  const uint32_t of_1000 = turn * 1000 / BacklogWorld::kShapes;
  return *std::ranges::find_if(
      kSizes, [of_1000](const Size& size) { return of_1000 < size.upto; });
}

}  // namespace

BacklogWorld::BacklogWorld(uint32_t nodes)
    : host([] {
        SchedulerConfig config = MakeConfig();
        config.preemption = true;
        return config;
      }()),
      nodes_(nodes) {
  for (uint32_t n = 0; n < nodes; ++n) host.Apply(NodeChanged{NodeAt(n)});
  const int64_t all = int64_t{nodes} * kDevices;
  for (uint32_t q = 0; q < kQueues; q += 2) {
    host.AddQueue(Padded("q", q));
    host.AddQueue(Padded("q", q + 1), all * 6 / 10 / (kQueues / 2));
  }
  host.AddClass("low", 0, OnPreempted::kRequeue);
  host.AddClass("middle", 10, OnPreempted::kRequeue);
  host.AddClass("high", 100, OnPreempted::kRequeue);
}

Node BacklogWorld::NodeAt(uint32_t number) const {
  Node node = MakeNode(number, kDevices);
  node.labels.push_back(
      {"pool", Padded("p", number / kSchedulerRack % kPools)});
  std::ranges::sort(node.labels, {}, &Label::key);
  return node;
}

Gang BacklogWorld::MakeKnown() {
  const uint32_t shape = random_.Below(kShapes);
  const uint32_t queue = random_.Below(kQueues);
  const Size& size = SizeOf(shape);
  Gang gang = MakeGang(Padded("g", made_++), Padded("q", queue), size.tasks,
                       size.devices);
  gang.submitted = host.now;
  gang.priority_class = kClasses[shape % 5 < 3 ? 0 : shape % 5 - 2];
  Role& role = gang.roles[0];
  role.shape.resources.Set(0, 1000 + shape);
  switch (shape / 5 % 4) {
    case 1:
      role.topology.preferred = "rack";
      break;
    case 2:
      role.topology.required = "rack";
      break;
    case 3:
      role.topology.required = "block";
      break;
    default:
      break;
  }
  if (shape % 8 == 7) {
    role.shape.selector.any_of = {
        {{{.key = "pool",
           .op = SelectorOp::kIn,
           .values = {Padded("p", shape / 8 % kPools)}}}}};
  }
  gangs_.push_back(gang.key);
  return gang;
}

void BacklogWorld::Submit(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) host.Apply(GangSubmitted{MakeKnown()});
}

Gang BacklogWorld::MakeNew() {
  Gang gang = MakeKnown();
  gang.roles[0].shape.resources.Set(0, 2000 + new_shapes_++);
  return gang;
}

BacklogWorld::Decided& BacklogWorld::Decided::operator+=(const Decided& other) {
  starts += other.starts;
  evictions += other.evictions;
  preemptions += other.preemptions;
  runner_ups += other.runner_ups;
  return *this;
}

BacklogWorld::Decided BacklogWorld::Decided::operator-(
    const Decided& other) const {
  return {.starts = starts - other.starts,
          .evictions = evictions - other.evictions,
          .preemptions = preemptions - other.preemptions,
          .runner_ups = runner_ups - other.runner_ups};
}

void BacklogWorld::Count() {
  decided.starts += host.Decided(DecisionKind::kStart);
  decided.evictions += host.Decided(DecisionKind::kEvict) +
                       host.Decided(DecisionKind::kSuspend) +
                       host.Decided(DecisionKind::kShrink);
  for (const Preemption& preemption : host.plan.preemptions) {
    ++decided.preemptions;
    if (preemption.runner_up.victims > 0) ++decided.runner_ups;
  }
}

void BacklogWorld::Follow() {
  Count();
  if (host.plan.decisions.empty()) return;
  host.Answer();
  Settle();
}

void BacklogWorld::Settle() {
  constexpr int kMostPasses = 1000;
  for (int i = 0; i < kMostPasses; ++i) {
    host.Pass();
    Count();
    if (host.plan.decisions.empty() && host.plan.next_wakeup > host.now) return;
    host.Answer();
  }
  std::abort();  // A case would measure something else.
}

size_t BacklogWorld::DrawAt(GangPhase phase) {
  while (true) {
    const uint32_t i = random_.Below(static_cast<uint32_t>(gangs_.size()));
    if (host.scheduler.Find(gangs_[i])->phase == phase) return i;
  }
}

std::string BacklogWorld::TakeOut(GangPhase phase) {
  std::swap(gangs_[DrawAt(phase)], gangs_.back());
  std::string gang = std::move(gangs_.back());
  gangs_.pop_back();
  return gang;
}

double BacklogWorld::FreeShare() const {
  const ClusterView cluster = host.scheduler.cluster();
  uint64_t free = 0;
  for (const NodeIndex n : cluster.nodes()) {
    free += cluster.free_devices(n, Ledger::kNow);
  }
  return static_cast<double>(free) / (static_cast<double>(nodes_) * kDevices);
}

void BacklogWorld::FillAndSettle() {
  SubmitRunning();
  Settle();
  host.now += 3600 * kSecond;
  SubmitWaiting();
  Settle();
}

namespace {

struct Settled {
  uint32_t nodes = 0;
  std::unique_ptr<BacklogWorld> world{};
};

Settled& TheSettled() {
  static auto& settled = *new Settled;
  return settled;
}

}  // namespace

BacklogWorld& SettledBacklog(uint32_t nodes) {
  auto& [settled_nodes, world] = TheSettled();
  if (world == nullptr || settled_nodes != nodes) {
    DropSettledBacklog();
    settled_nodes = nodes;
    world = std::make_unique<BacklogWorld>(nodes);
    world->FillAndSettle();
  }
  return *world;
}

void DropSettledBacklog() { TheSettled().world.reset(); }

}  // namespace muster::bench
