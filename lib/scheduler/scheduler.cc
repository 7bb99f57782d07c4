#include "muster/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/hash.h"
#include "lib/scheduler/impl.h"
#include "lib/scheduler/validate.h"

namespace muster {

// --- The inbox: what other threads hand in, in an order of its own
// -------------

struct Scheduler::Impl::InboxKey {
  std::string_view key{};  // Of the gang in the node.
  Time submitted = 0;
  uint64_t hash = 0;  // Tells gangs of one key apart.
  friend auto operator<=>(const InboxKey& a, const InboxKey& b) {
    if (const int c = a.key.compare(b.key); c != 0) {
      return c <=> 0;
    }
    if (auto c = a.submitted <=> b.submitted; c != 0) return c;
    return a.hash <=> b.hash;
  }
  friend bool operator==(const InboxKey&, const InboxKey&) = default;
};

struct Scheduler::Impl::InboxNode : HeapNode<InboxKey> {
  explicit InboxNode(Gang g) : gang(std::move(g)) {
    StableHash hash;
    hash.Add(gang);
    set_key({gang.key, gang.submitted, hash.value()});
  }
  Gang gang;
};

// The thread that schedules owns it.
struct Scheduler::Impl::Inbox {
  OwnedHeap<InboxKey, std::less<InboxKey>, InboxNode> heap;
  ~Inbox() {
    heap.PopAll([](InboxNode* node) { delete node; });
  }
};

void Scheduler::Impl::Submit(Gang gang) {
  inbox_->heap.Push(new InboxNode(std::move(gang)));
}

// What was handed in until one instant, in an order that is its own. Journalled
// one by one, as Apply takes them.
void Scheduler::Impl::DrainInbox(Plan* plan) {
  inbox_->heap.PopAll([&](InboxNode* raw) {
    const std::unique_ptr<InboxNode> node(raw);
    const absl::Status status = Apply({now, GangSubmitted{node->gang}});
    if (status.ok()) return;
    Refused& refused = plan->refused.emplace_back();
    refused.gang_key = plan->AddText(node->gang.key);
    refused.error = plan->AddText(
        std::string_view(status.message().data(), status.message().size()));
  });
}

// --- Making and copying
// ------------------------------------------------------------

namespace {

ResourceKind DeviceKind(const SchedulerConfig& config) {
  const auto it = std::find(config.resources.begin(), config.resources.end(),
                            config.device_resource);
  return static_cast<ResourceKind>(it - config.resources.begin());
}

}  // namespace

Scheduler::Impl::Impl(SchedulerConfig c,
                      std::unique_ptr<PlacementSolver> solver,
                      std::unique_ptr<Preemptor> preemptor)
    : config(std::move(c)),
      cluster(static_cast<uint32_t>(config.resources.size()),
              DeviceKind(config), config.topologies, config.partition_schemes),
      queues(config.resources),
      classes(1),
      solver_(solver != nullptr
                  ? std::move(solver)
                  : NewPlacementSolver(config.placement, config.fabrics)),
      preemptor_(preemptor != nullptr ? std::move(preemptor) : NewPreemptor()),
      inbox_(std::make_unique<Inbox>()) {
  class_by_key[""] = 0;
}

Scheduler::Impl::~Impl() = default;

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

absl::StatusOr<Scheduler> Scheduler::Create(
    SchedulerConfig config, std::unique_ptr<PlacementSolver> solver,
    std::unique_ptr<Preemptor> preemptor) {
  if (absl::Status status = ValidateConfig(config); !status.ok()) {
    return status;
  }
  return Scheduler(std::make_unique<Impl>(std::move(config), std::move(solver),
                                          std::move(preemptor)));
}

absl::StatusOr<Scheduler> Scheduler::Restore(
    const SchedulerState& state, std::unique_ptr<PlacementSolver> solver,
    std::unique_ptr<Preemptor> preemptor) {
  absl::StatusOr<Scheduler> s =
      Create(state.config, std::move(solver), std::move(preemptor));
  if (!s.ok()) return s.status();
  if (absl::Status status = s->impl_->Load(state); !status.ok()) {
    return status;
  }
  return s;
}

Scheduler Scheduler::Fork() const {
  // A state the scheduler itself gave is never refused.
  return *Restore(State());
}

// --- The rest of the outside
// ---------------------------------------------------------

absl::Status Scheduler::Apply(const Event& event) {
  return impl_->Apply(event);
}
absl::StatusOr<ReconcileReport> Scheduler::Reconcile(Time at,
                                                     const Reconciled& whole) {
  return impl_->Reconcile(at, whole);
}
void Scheduler::Submit(Gang gang) { impl_->Submit(std::move(gang)); }
void Scheduler::Schedule(Time at, Plan* plan) { impl_->Schedule(at, plan); }

absl::Status Scheduler::Follow(const PlanRecord& plan) {
  Scheduler trial = Fork();
  if (absl::Status status = trial.impl_->Follow(plan); !status.ok()) {
    return status;
  }
  return impl_->Follow(plan);
}

absl::Status Scheduler::WhatIf(Time at, std::span<const Event> events,
                               Plan* plan) const {
  Scheduler fork = Fork();
  for (const Event& event : events) {
    if (absl::Status status = fork.Apply(event); !status.ok()) return status;
  }
  fork.Schedule(at, plan);
  impl_->Adopt(*fork.impl_, plan);
  return absl::OkStatus();
}

absl::StatusOr<Explanation> Scheduler::Explain(std::string_view gang) const {
  return impl_->Explain(gang);
}
SchedulerState Scheduler::State() const { return impl_->State(); }
std::shared_ptr<const SchedulerState> Scheduler::View() const {
  return std::make_shared<const SchedulerState>(impl_->State());
}
uint64_t Scheduler::StateHash() const {
  StableHash hash;
  hash.Add(impl_->State());
  return hash.value();
}
void Scheduler::SetJournal(Journal* journal) { impl_->journal = journal; }
Time Scheduler::now() const { return impl_->now; }
const SchedulerConfig& Scheduler::config() const { return impl_->config; }
const Cluster& Scheduler::cluster() const { return impl_->cluster; }

std::string_view Scheduler::gang_key(GangId id) const {
  if (id.index >= impl_->gangs.limit()) return {};
  const GangRecord& r = impl_->gangs.at(id.index);
  return r.exists && r.generation == id.generation ? std::string_view(r.key)
                                                   : std::string_view();
}

std::string_view Scheduler::queue_key(QueueId id) const {
  if (id.index >= impl_->queues.limit()) return {};
  const QueueTree::Entry& e = impl_->queues.at(id.index);
  return e.exists && e.generation == id.generation
             ? std::string_view(e.queue.key)
             : std::string_view();
}

std::string_view Scheduler::node_key(NodeId id) const {
  const Cluster& c = impl_->cluster;
  return id.valid() && c.exists(id.index) && c.id(id.index) == id
             ? std::string_view(c.node(id.index).key)
             : std::string_view();
}

GangId Scheduler::FindGang(std::string_view key) const {
  const GangIndex g = impl_->gangs.Find(key);
  return g == GangStore::kNoGang ? GangId()
                                 : GangId{g, impl_->gangs.at(g).generation};
}

QueueId Scheduler::FindQueue(std::string_view key) const {
  const QueueIndex q = impl_->queues.Find(key);
  return q == kNoQueue ? QueueId() : QueueId{q, impl_->queues.at(q).generation};
}

NodeId Scheduler::FindNode(std::string_view key) const {
  return impl_->cluster.Find(key);
}

absl::StatusOr<GangState> Scheduler::Find(std::string_view key) const {
  const GangIndex g = impl_->gangs.Find(key);
  if (g == GangStore::kNoGang) {
    return absl::NotFoundError(
        absl::StrCat("gang '", std::string(key), "' is not known"));
  }
  return impl_->StateOf(g);
}

std::vector<uint32_t> Scheduler::PhaseCounts() const {
  std::vector<uint32_t> counts(EnumNames(GangPhase{}).size(), 0);
  for (GangIndex g = 0; g < impl_->gangs.limit(); ++g) {
    const GangRecord& r = impl_->gangs.at(g);
    if (r.exists) ++counts[static_cast<size_t>(r.phase)];
  }
  return counts;
}

Resources Scheduler::QueueUsage(std::string_view queue) const {
  const QueueIndex q = impl_->queues.Find(queue);
  return q == kNoQueue ? Resources() : impl_->queues.at(q).usage;
}

PlanRecord Scheduler::Record(const Plan& plan) const {
  return impl_->Record(plan);
}
NamedReason Scheduler::Named(const Reason& reason, GangId gang) const {
  return impl_->Named(reason, gang.index);
}
absl::Status Scheduler::Validate() const { return impl_->Validate(); }

}  // namespace muster
