#include "lib/cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "lib/cluster/cluster_rep.h"
#include "lib/cluster/selector.h"

namespace muster {

Cluster::Cluster(uint32_t resource_count, ResourceKind device_kind,
                 std::vector<Topology> topologies,
                 std::vector<PartitionScheme> partition_schemes,
                 ResourceKind node_kind)
    : rep_(std::make_unique<Rep>(Ledgers(resource_count, device_kind, node_kind,
                                         std::move(partition_schemes)),
                                 std::move(topologies))) {}
Cluster::Cluster(const Cluster& other)
    : rep_(std::make_unique<Rep>(*other.rep_)) {}
Cluster& Cluster::operator=(const Cluster& other) {
  if (this != &other) rep_ = std::make_unique<Rep>(*other.rep_);
  return *this;
}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

// --- Structure --------------------------------------------------------------

void Cluster::StartGenerationsAt(uint32_t first) {
  rep_->nodes.StartGenerationsAt(first);
}
uint32_t Cluster::last_generation() const {
  return rep_->nodes.last_generation();
}
bool Cluster::available(NodeIndex node) const {
  return exists(node) && rep_->nodes[node].available;
}
void Cluster::SetNodeSet(const NodeSet& set) {
  rep_->NodeSetChanged(rep_->sets.Set(set));
}
void Cluster::RemoveNodeSet(std::string_view key) {
  if (HasNodeSet(key)) rep_->NodeSetChanged(rep_->sets.Remove(key));
}
bool Cluster::HasNodeSet(std::string_view key) const {
  return rep_->sets.Has(key);
}

uint32_t Cluster::resource_count() const { return rep_->ledgers.kinds(); }
ResourceKind Cluster::node_kind() const { return rep_->ledgers.node_kind(); }
ResourceKind Cluster::device_kind() const {
  return rep_->ledgers.device_kind();
}
uint32_t Cluster::node_count() const { return rep_->nodes.size(); }
uint32_t Cluster::node_limit() const { return rep_->nodes.limit(); }
bool Cluster::exists(NodeIndex node) const { return rep_->nodes.exists(node); }
NodeId Cluster::id(NodeIndex node) const { return rep_->nodes.id(node); }
NodeId Cluster::Find(std::string_view key) const {
  return rep_->nodes.FindId(key);
}
const Node& Cluster::node(NodeIndex node) const {
  return rep_->nodes[node].node;
}
std::span<const NodeIndex> Cluster::nodes() const {
  return rep_->nodes.InOrder();
}
uint64_t Cluster::structure_version() const { return rep_->structure_version; }

std::span<const Topology> Cluster::topologies() const {
  return rep_->topologies;
}

int Cluster::FindTopology(std::string_view key) const {
  const std::vector<Topology>& all = rep_->topologies;
  if (key.empty()) return all.empty() ? -1 : 0;
  const auto it = std::ranges::find(all, key, &Topology::key);
  return it == all.end() ? -1 : static_cast<int>(it - all.begin());
}

int Cluster::FindLevel(int topology, std::string_view level) const {
  const std::vector<Topology>& all = rep_->topologies;
  if (topology < 0 || static_cast<size_t>(topology) >= all.size()) return -1;
  const std::vector<std::string>& levels =
      all[static_cast<size_t>(topology)].levels;
  const auto it = std::ranges::find(levels, level);
  if (it == levels.end() && level != kHostLevel) return -1;
  return static_cast<int>(it - levels.begin());
}

const TopologyIndex& Cluster::index(int topology) const {
  return rep_->Index(static_cast<size_t>(topology));
}

// --- Shapes -----------------------------------------------------------------

ShapeId Cluster::Intern(const Role& role, uint32_t alternative) {
  return rep_->Intern(role, alternative);
}
ShapeId Cluster::Intern(const Resources& amounts) {
  return rep_->Intern(Filter(), {.resources = amounts});
}
ShapeId Cluster::Intern(ShapeId shape, int32_t most_milli) {
  return rep_->Intern(shape, most_milli);
}
int32_t Cluster::most_milli(ShapeId shape) const {
  return rep_->shape_records[shape].key.most_milli;
}
const Resources& Cluster::demand(ShapeId shape) const {
  return rep_->Demand(shape);
}
const DeviceRequest& Cluster::device_request(ShapeId shape) const {
  return rep_->shape_records[shape].key.request;
}

bool Cluster::has_selector(ShapeId shape) const {
  return !rep_->filters[rep_->shapes[shape].filter].selector.any_of.empty();
}
uint64_t Cluster::shape_serial(ShapeId shape) const {
  return rep_->shape_records[shape].serial;
}
uint64_t Cluster::filter_serial(ShapeId shape) const {
  return rep_->filters.serial(rep_->shapes[shape].filter);
}
bool Cluster::Admits(NodeIndex node, ShapeId shape) const {
  return rep_->Admits(node, shape);
}

std::span<const Toleration> Cluster::tolerations(ShapeId shape) const {
  return rep_->filters[rep_->shapes[shape].filter].tolerations;
}

uint32_t Cluster::SoftTaints(NodeIndex node, ShapeId shape) const {
  if (!exists(node)) return 0;
  const Filter& filter = rep_->filters[rep_->shapes[shape].filter];
  const auto avoid = [&filter](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule &&
           !Tolerates(filter.tolerations, taint);
  };
  return static_cast<uint32_t>(
      std::ranges::count_if(rep_->nodes[node].node.taints, avoid));
}

std::span<const Preference> Cluster::preferences(ShapeId shape) const {
  return rep_->shape_records[shape].key.preferences;
}

int64_t Cluster::Score(NodeIndex node, ShapeId shape) const {
  if (!exists(node)) return 0;
  int64_t score = -kSoftTaintPenalty * SoftTaints(node, shape);
  for (const Preference& p : preferences(shape)) {
    if (Matches(p.term, rep_->nodes[node].node.labels)) score += p.weight;
  }
  return score;
}

// --- Capacity ---------------------------------------------------------------

uint32_t Cluster::Slots(NodeIndex node, ShapeId shape, Ledger ledger,
                        uint32_t limit) const {
  const Shape& s = rep_->shapes[shape];
  if (!rep_->filters.Admits(s.filter, node, rep_->View())) return 0;
  return rep_->ledgers.Slots(node, s.needs, ledger, limit);
}

uint32_t Cluster::SlotsBesideDevices(NodeIndex node, ShapeId shape,
                                     Ledger ledger, uint32_t limit) const {
  return rep_->ledgers.SlotsBesideDevices(node, rep_->shapes[shape].needs,
                                          ledger, limit);
}

bool Cluster::Choose(NodeIndex node, ShapeId shape, Ledger ledger,
                     Allocation* out, uint64_t rails) const {
  if (!rep_->Admits(node, shape)) return false;
  Allocation a{.node = node, .shape = shape};
  if (!rep_->ledgers.Choose(node, rep_->shapes[shape].needs, ledger, rails,
                            &a.devices, &a.first_slice)) {
    return false;
  }
  *out = a;
  return true;
}

uint64_t Cluster::Rails(const Allocation& a) const {
  if (!has_rails() || !exists(a.node)) return 0;
  return rep_->ledgers.Rails(a.node, a.devices);
}
bool Cluster::has_rails() const { return rep_->ledgers.has_rails(); }

void Cluster::ChooseEach(std::span<const NodeIndex> nodes, ShapeId shape,
                         Ledger ledger, std::vector<Allocation>* out) const {
  out->resize(nodes.size());
  const Needs& needs = rep_->shapes[shape].needs;
  const bool has_rails = rep_->ledgers.has_rails();
  uint64_t rails = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Allocation& a = (*out)[i];
    a = {.node = nodes[i], .shape = shape};
    a.devices = rep_->ledgers.AllOf(nodes[i], needs, ledger);
    if (a.devices.empty()) (void)Choose(nodes[i], shape, ledger, &a, rails);
    if (has_rails) rails |= Rails(a);
  }
}

bool Cluster::Take(NodeIndex node, ShapeId shape, Ledger ledger,
                   Allocation* out) {
  if (!Choose(node, shape, ledger, out)) return false;
  rep_->Post(*out, ledger, 1);
  return true;
}

void Cluster::Charge(const Allocation& a, Ledger ledger) {
  rep_->Post(a, ledger, 1);
}
void Cluster::Credit(const Allocation& a, Ledger ledger) {
  rep_->Post(a, ledger, -1);
}

bool Cluster::Fits(const Allocation& a, Ledger ledger) const {
  return available(a.node) &&
         rep_->ledgers.Fits(a.node, rep_->shapes[a.shape].needs, a.devices,
                            a.first_slice, ledger);
}

Resources Cluster::Usage(const Allocation& a) const {
  const Needs& needs = rep_->shapes[a.shape].needs;
  Resources usage = rep_->shape_records[a.shape].key.resources;
  if (device_kind() >= resource_count()) return usage;
  int64_t milli = 0;
  if (exists(a.node)) {
    const uint32_t count = rep_->ledgers.device_count(a.node);
    for (const uint32_t d : a.devices) {
      if (d < count) milli += rep_->ledgers.ShareOn(a.node, d, needs).milli;
    }
  }
  usage.Set(device_kind(), milli);
  return usage;
}

int64_t Cluster::free(NodeIndex node, ResourceKind kind, Ledger ledger) const {
  return rep_->ledgers.free(node, kind, ledger);
}
void Cluster::FreeDevicesEach(std::span<const NodeIndex> nodes, Ledger ledger,
                              std::vector<uint8_t>* out) const {
  out->resize(nodes.size());
  std::ranges::transform(nodes, out->begin(), [&](NodeIndex node) {
    return static_cast<uint8_t>(rep_->ledgers.free_devices(node, ledger));
  });
}
uint32_t Cluster::free_devices(NodeIndex node, Ledger ledger) const {
  return rep_->ledgers.free_devices(node, ledger);
}
int32_t Cluster::free_milli(NodeIndex node, uint32_t device,
                            Ledger ledger) const {
  return rep_->ledgers.Offered(node, device, ledger).milli;
}
int64_t Cluster::free_memory(NodeIndex node, uint32_t device,
                             Ledger ledger) const {
  return rep_->ledgers.Offered(node, device, ledger).memory;
}
uint32_t Cluster::busy_slices(NodeIndex node, uint32_t device,
                              Ledger ledger) const {
  return rep_->ledgers.BusySlices(node, device, ledger);
}
DeviceSet Cluster::split_devices(NodeIndex node, Ledger ledger) const {
  return rep_->ledgers.split(node, ledger);
}
DeviceSet Cluster::clashing_devices(NodeIndex node, Ledger ledger) const {
  return rep_->ledgers.Clashes(node, ledger);
}
void Cluster::PartitionPlaces(NodeIndex node, ShapeId shape, Ledger ledger,
                              std::vector<Allocation>* out) const {
  if (Slots(node, shape, ledger, 1) == 0) return;
  rep_->ledgers.ForEachPlace(node, rep_->shapes[shape].needs, ledger,
                             [&](uint32_t device, uint32_t slot) {
                               out->push_back({node, shape, {device}, slot});
                             });
}
uint32_t Cluster::PartitionCapacity(NodeIndex node, ShapeId shape) const {
  return rep_->ledgers.PartitionCapacity(node, rep_->shapes[shape].needs);
}
int64_t Cluster::capacity(NodeIndex node, ResourceKind kind) const {
  return rep_->ledgers.capacity(node, kind);
}
const Resources& Cluster::total_capacity() const {
  return rep_->total_capacity;
}
const Resources& Cluster::nodes_capacity() const {
  return rep_->nodes_capacity;
}
uint32_t Cluster::task_count(NodeIndex node, Ledger ledger) const {
  return exists(node) ? rep_->ledgers.TaskCount(node, ledger) : 0;
}
bool Cluster::Overcommitted(NodeIndex node, Ledger ledger) const {
  return exists(node) && rep_->ledgers.Overcommitted(node, ledger);
}

uint64_t Cluster::changed_version() const { return rep_->changed.version(); }
bool Cluster::ChangedSince(uint64_t version,
                           std::vector<NodeIndex>* nodes) const {
  nodes->clear();
  return rep_->changed.Since(version, nodes);
}
uint64_t Cluster::layout_version() const { return rep_->layout_version; }
const std::shared_ptr<const char>& Cluster::identity() const {
  return rep_->identity.token();
}

uint64_t Cluster::Hash() const { return rep_->Hash(); }
absl::Status Cluster::Validate() const { return rep_->Validate(); }

}  // namespace muster
