#include "lib/solver/device_bound.h"

#include <algorithm>
#include <optional>

#include "lib/cluster/needs.h"
#include "lib/solver/reasons.h"

namespace muster::solver {
namespace {

// Sizes of devices tried one after the other; clusters have fewer.
constexpr int kMostBounds = 16;

bool IsAlike(const Cluster& cluster, ShapeId shape) {
  return UsesAlike(cluster.device_request(shape));
}

// What the task uses of the device kind on one of its devices.
int64_t MilliOn(const Cluster& cluster, Allocation at, uint32_t device) {
  at.devices = {device};
  return cluster.Usage(at)[cluster.device_kind()];
}

std::optional<Reason> Over(const Cluster& cluster,
                           const PlacementRequest& request,
                           const std::vector<Assignment>& tasks) {
  return OverHeadroom(request.headroom, UsageOf(cluster, tasks), 1);
}

}  // namespace

Resources UsageOf(const Cluster& cluster, std::span<const Assignment> tasks) {
  Resources used(cluster.resource_count());
  for (const Assignment& a : tasks) used.Add(cluster.Usage(a.at));
  return used;
}

bool DeviceBound::Concerns(const Cluster& cluster,
                           const PlacementRequest& request) {
  if (request.headroom == nullptr ||
      cluster.device_kind() >= cluster.resource_count()) {
    return false;
  }
  return !std::ranges::all_of(request.gang->shapes, [&](const auto& shapes) {
    return std::ranges::all_of(
        shapes, [&](ShapeId shape) { return IsAlike(cluster, shape); });
  });
}

bool DeviceBound::Ask(Cluster& cluster, const PlacementRequest& request,
                      PlacementResult* result,
                      absl::FunctionRef<void(const PlacementRequest&)> ask) {
  request_ = &request;
  lossless_ = true;
  uint64_t steps = 0;
  std::optional<Reason> first;
  bool within = false;
  for (int bounds = 0;; ++bounds) {
    result->Clear();
    const Cluster::Mark mark = cluster.Begin();
    ask(first ? bound_ : request);
    ToOwnShapes(&result->tasks);
    steps += result->steps;
    const std::optional<Reason> over = Over(cluster, request, result->tasks);
    if (!over) {
      cluster.Commit(mark);
      within = !first || !result->tasks.empty();
      break;
    }
    cluster.Rollback(mark);
    if (!first) first = over;
    if (bounds == kMostBounds || !Narrow(cluster, result->tasks)) break;
  }
  for (const auto& [bound, own] : shapes_) cluster.Unref(bound);
  shapes_.clear();
  if (!within) {
    const bool cut_short = result->cut_short || !lossless_;
    result->Clear();
    result->reason = *first;
    result->cut_short = cut_short;
  }
  result->steps = steps;
  return within;
}

void DeviceBound::ToOwnShapes(std::vector<Assignment>* tasks) const {
  for (Assignment& a : *tasks) {
    const auto it = std::ranges::find(shapes_, a.at.shape,
                                      &std::pair<ShapeId, ShapeId>::first);
    if (it != shapes_.end()) a.at.shape = it->second;
  }
}

// Whether other numbers of tasks, or tasks of other shapes, would do.
bool DeviceBound::HasChoice() const {
  const Gang& gang = request_->gang->gang;
  return std::ranges::any_of(
             gang.roles,
             [](const Role& r) { return !r.alternatives.empty(); }) ||
         std::ranges::any_of(gang.groups, [](const Group& g) {
           return g.min_children > 0 || g.min_tasks > 0;
         });
}

DeviceBound::MostUsed DeviceBound::Look(
    const Cluster& cluster, const std::vector<Assignment>& tasks) const {
  const ResourceKind kind = cluster.device_kind();
  MostUsed found{.least = kAnyMilli};
  int64_t others = 0;  // The least that all but the most used use.
  int64_t largest = 0;
  for (const Assignment& a : tasks) {
    const int64_t demand = cluster.demand(a.at.shape)[kind];
    others += demand;
    if (IsAlike(cluster, a.at.shape)) continue;
    const int64_t each = demand / std::max(1u, a.at.devices.size());
    largest = std::max(largest, each);
    found.least = std::min(found.least, each);
    for (const uint32_t d : a.at.devices) {
      found.milli = std::max(found.milli, MilliOn(cluster, a.at, d));
    }
  }
  found.within = (*request_->headroom)[kind];
  if (!HasChoice()) found.within -= others - largest;
  return found;
}

// Bars devices after an answer beyond the headroom: false if none is left.
bool DeviceBound::Narrow(Cluster& cluster,
                         const std::vector<Assignment>& tasks) {
  const MostUsed most_used = Look(cluster, tasks);
  const bool lossless = most_used.milli > most_used.within;
  const int64_t most = lossless ? most_used.within : most_used.milli - 1;
  if (most < most_used.least) return false;
  lossless_ &= lossless;
  Bind(cluster, static_cast<int32_t>(most));
  return true;
}

// Shapes with an earlier bound stay until the question is answered.
void DeviceBound::Bind(Cluster& cluster, int32_t most) {
  std::vector<std::pair<ShapeId, ShapeId>> now;
  gang_ = *request_->gang;
  for (std::vector<ShapeId>& shapes : gang_.shapes) {
    for (ShapeId& shape : shapes) {
      if (IsAlike(cluster, shape)) continue;
      const ShapeId own = shape;
      shape = cluster.Intern(own, most);
      now.emplace_back(shape, own);
    }
  }
  fixed_.assign(request_->fixed.begin(), request_->fixed.end());
  for (Assignment& a : fixed_) {
    const auto it = std::ranges::find(now, a.at.shape,
                                      &std::pair<ShapeId, ShapeId>::second);
    if (it != now.end()) a.at.shape = it->first;
  }
  shapes_.insert(shapes_.end(), now.begin(), now.end());
  bound_ = *request_;
  bound_.gang = &gang_;
  bound_.fixed = fixed_;
  bound_.explain = false;
}

}  // namespace muster::solver
