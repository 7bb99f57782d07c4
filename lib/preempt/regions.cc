#include "lib/preempt/regions.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "lib/preempt/free_on.h"

namespace muster::preempt {
namespace {

// The constraint that all tasks of the gang must meet as one, or null.
const TopologyConstraint* GangWide(const Gang& gang) {
  if (!gang.groups[0].topology.required.empty()) {
    return &gang.groups[0].topology;
  }
  if (gang.roles.size() != 1) return nullptr;
  for (uint32_t g = gang.roles[0].group; g != 0; g = gang.groups[g].parent) {
    if (!gang.groups[g].topology.required.empty()) {
      return &gang.groups[g].topology;
    }
  }
  const TopologyConstraint& role = gang.roles[0].topology;
  return role.required.empty() ? nullptr : &role;
}

// With fewer of all candidates gone than the first so many, the shortfall
// stays.
uint32_t EnoughOf(const Region& region) {
  int64_t missing = region.shortfall;
  if (missing <= 0) return 0;
  for (const Share& share : region.shares) {
    missing -= share.amount;
    if (missing <= 0) return share.candidate + 1;
  }
  return Regions::kNowhere;
}

}  // namespace

Regions::Regions(Problem& problem) : problem_(problem) {
  const Cluster& cluster = problem.cluster();
  problem.Charge(1, kQuestionNs);
  problem.Charge(cluster.node_count(), kLookNs);
  region_of_.assign(cluster.node_limit(), kNowhere);
  const std::span<const NodeIndex> within = problem.request().placement.within;
  allowed_.assign(cluster.node_limit(), within.empty());
  for (NodeIndex node : within) allowed_[node] = true;
  nodes_.reserve(cluster.node_count());
  FindRegions();
  share_in_.assign(regions_.size(), kNowhere);
  IndexTasks();
  FindShares();
  size_t next = 0;
  for (uint32_t r = 0; r < regions_.size(); ++r) {
    const size_t first = next;
    while (next < shares_.size() && shares_[next].region == r) ++next;
    Region& region = regions_[r];
    region.members = std::span(members_).subspan(first, next - first);
    region.shares = std::span(shares_).subspan(first, next - first);
    region.shortfall = Shortfall(region);
    region.enough = EnoughOf(region);
  }
}

void Regions::FindRegions() {
  const Cluster& cluster = problem_.cluster();
  const TopologyConstraint* wide = GangWide(problem_.gang().gang);
  const int topology = wide ? cluster.FindTopology(wide->topology) : -1;
  const int level =
      topology >= 0 ? cluster.FindLevel(topology, wide->required) : -1;
  if (level < 0) {
    AddRegion(cluster.nodes());
    return;
  }
  const TopologyIndex& index = cluster.index(topology);
  if (static_cast<size_t>(level) >= index.levels.size()) {
    for (const NodeIndex& node : cluster.nodes()) AddRegion({&node, 1});
  } else {
    for (const Domain& domain : index.levels[level]) {
      AddRegion(
          std::span(index.nodes).subspan(domain.first_node, domain.node_count));
    }
  }
  const std::span<const Assignment> fixed = problem_.request().placement.fixed;
  if (!fixed.empty()) KeepOnly(region_of_[fixed[0].at.node]);
}

// Where some of its tasks are, the others must go.
void Regions::KeepOnly(uint32_t home) {
  for (uint32_t& region : region_of_) {
    region = region == home && home != kNowhere ? 0 : kNowhere;
  }
  if (home == kNowhere) {
    regions_.clear();
  } else {
    regions_ = {regions_[home]};
  }
}

bool Regions::Useful(NodeIndex node) const {
  for (const std::vector<ShapeId>& shapes : problem_.gang().shapes) {
    for (ShapeId shape : shapes) {
      if (problem_.cluster().Admits(node, shape)) return true;
    }
  }
  return false;
}

void Regions::AddRegion(std::span<const NodeIndex> nodes) {
  const size_t first = nodes_.size();
  for (NodeIndex node : nodes) {
    if (!allowed_[node] || !Useful(node)) continue;
    nodes_.push_back(node);
    region_of_[node] = static_cast<uint32_t>(regions_.size());
  }
  if (nodes_.size() == first) return;
  regions_.push_back({.nodes = std::span(nodes_).subspan(first)});
}

void Regions::Threshold(uint32_t count) {
  threshold_ = count;
  problem_.Charge(regions_.size() + shares_.size(), kLookNs);
  for (Region& region : regions_) {
    const auto end = std::ranges::lower_bound(region.members, count);
    region.candidates = {region.members.begin(), end};
    region.bound = BoundOf(region);
  }
}

std::span<const TaskRef> Regions::On(NodeIndex node) const {
  const auto first = tasks_.begin() + first_task_[node];
  const auto end = std::partition_point(
      first, tasks_.begin() + first_task_[node + 1],
      [&](const TaskRef& task) { return task.candidate < threshold_; });
  return {first, end};
}

void Regions::IndexTasks() {
  const auto count = static_cast<uint32_t>(problem_.candidate_count());
  first_task_.assign(region_of_.size() + 1, 0);
  for (uint32_t c = 0; c < count; ++c) {
    for (const Assignment& a : problem_.candidate(c).tasks) {
      ++first_task_[a.at.node + 1];
    }
  }
  for (size_t n = 1; n < first_task_.size(); ++n) {
    first_task_[n] += first_task_[n - 1];
  }
  tasks_.resize(first_task_.back());
  std::vector<uint32_t> next(first_task_.begin(), first_task_.end() - 1);
  for (uint32_t c = 0; c < count; ++c) {
    problem_.Charge(problem_.Size(c), kTaskNs);
    for (uint32_t back = 0; back < problem_.Size(c); ++back) {
      tasks_[next[problem_.Task(c, back).node]++] = {c, back};
    }
  }
}

void Regions::FindShares() {
  for (uint32_t c = 0; c < problem_.candidate_count(); ++c) AddShare(c);
  std::ranges::stable_sort(shares_, {}, &Share::region);
  for (const Share& share : shares_) members_.push_back(share.candidate);
}

void Regions::AddShare(uint32_t c) {
  const size_t first = shares_.size();
  const uint32_t surplus = problem_.Surplus(c);
  for (uint32_t back = 0; back < problem_.Size(c); ++back) {
    const Allocation& a = problem_.Task(c, back);
    const uint32_t region = region_of_[a.node];
    if (region == kNowhere) continue;
    if (share_in_[region] == kNowhere) {
      share_in_[region] = static_cast<uint32_t>(shares_.size());
      shares_.push_back({.region = region, .candidate = c});
    }
    Share& share = shares_[share_in_[region]];
    share.amount += problem_.Amount(a);
    if (back >= surplus || share.amount == 0) continue;
    share.surplus_amount = share.amount;
    share.Offer(problem_.ScoreOf(c, back + 1).cost);
  }
  const int64_t whole = problem_.ScoreOf(c, problem_.Size(c)).cost;
  for (size_t s = first; s < shares_.size(); ++s) {
    share_in_[shares_[s].region] = kNowhere;
    shares_[s].Offer(whole);
  }
}

int64_t Regions::Shortfall(const Region& region) const {
  const ResourceKind scarce = problem_.scarce();
  int64_t missing = 0;
  for (const Need& need : problem_.needs()) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (ShapeId shape : problem_.gang().shapes[need.role]) {
      least = std::min(least, problem_.cluster().demand(shape)[scarce]);
    }
    missing += least * need.count;
  }
  for (NodeIndex node : region.nodes) {
    missing -= FreeOn(problem_.cluster(), node, scarce);
  }
  return missing;
}

// The fractional relaxation: as if any part of a victim could be had at its
// best price.
Score Regions::BoundOf(const Region& region) {
  Score bound;
  if (region.shortfall <= 0) return bound;
  const auto shares = region.shares.first(region.candidates.size());
  sorted_.assign(shares.begin(), shares.end());
  std::sort(sorted_.begin(), sorted_.end(), [](const Share& a, const Share& b) {
    const Wide left = Wide{a.price} * b.per;
    const Wide right = Wide{b.price} * a.per;
    return std::tie(left, a.candidate) < std::tie(right, b.candidate);
  });
  int64_t missing = region.shortfall;
  for (const Share& share : sorted_) {
    if (missing <= 0) break;
    if (share.amount == 0) continue;
    const int64_t part = std::min(missing, share.amount);
    bound.cost += static_cast<int64_t>(Wide{share.price} * part / share.per);
    missing -= part;
  }
  missing = region.shortfall;
  for (const Share& share : sorted_) missing -= share.surplus_amount;
  std::ranges::sort(sorted_, {}, [](const Share& s) {
    return std::tuple(s.surplus_amount - s.amount, s.candidate);
  });
  for (const Share& share : sorted_) {
    if (missing <= 0) break;
    missing -= share.amount - share.surplus_amount;
    ++bound.broken;
  }
  return bound;
}

}  // namespace muster::preempt
