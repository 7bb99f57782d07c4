#include "lib/preempt/regions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "lib/index/free_on.h"

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
uint32_t EnoughOf(const VictimRegion& region) {
  int64_t missing = region.shortfall;
  if (missing <= 0) return 0;
  for (const CandidateShare& share : region.shares) {
    missing -= share.amount;
    if (missing <= 0) return share.candidate + 1;
  }
  return Regions::kNowhere;
}

// Whether a costs less for what it holds; of equal ones the first.
bool IsCheaper(const CandidateShare& a, const CandidateShare& b) {
  const Wide left = Wide{a.price} * b.per;
  const Wide right = Wide{b.price} * a.per;
  return std::tie(left, a.candidate) < std::tie(right, b.candidate);
}

int64_t PartOf(const CandidateShare& share, int64_t amount) {
  return static_cast<int64_t>(Wide{share.price} * amount / share.per);
}

}  // namespace

Regions::Regions(PreemptionProblem& problem, Fit fit,
                 std::vector<uint32_t>& region_of)
    : problem_(problem), region_of_(region_of) {
  const Cluster& cluster = problem.cluster();
  region_of_.resize(cluster.node_limit(), kUntouched);
  problem.Charge(1, kQuestionNs);
  const std::span<const NodeIndex> within = problem.request().placement.within;
  if (!within.empty()) {
    allowed_.assign(cluster.node_limit(), false);
    for (NodeIndex node : within) allowed_[node] = true;
  }
  FindLeast();
  IndexTasks();
  FindRegions(fit);
  problem.Charge(nodes_.size(), kLookNs);
  free_.reserve(nodes_.size());
  for (const NodeIndex node : nodes_) {
    free_.push_back(
        index::FreeOn(cluster, node, problem.scarce(), Ledger::kLater));
  }
  share_in_.assign(regions_.size(), kNowhere);
  FindShares();
  size_t next = 0;
  for (uint32_t r = 0; r < regions_.size(); ++r) {
    const size_t first = next;
    while (next < shares_.size() && shares_[next].region == r) ++next;
    VictimRegion& region = regions_[r];
    region.members = std::span(members_).subspan(first, next - first);
    region.shares = std::span(shares_).subspan(first, next - first);
    region.shortfall = Shortfall(region);
    region.enough = EnoughOf(region);
  }
}

void Regions::FindLeast() {
  least_ = std::numeric_limits<int64_t>::max();
  for (const std::vector<ShapeId>& shapes : problem_.gang().shapes) {
    for (const ShapeId shape : shapes) {
      least_ =
          std::min(least_, problem_.cluster().demand(shape)[problem_.scarce()]);
    }
  }
}

Regions::~Regions() {
  for (const NodeIndex node : touched_nodes_) region_of_[node] = kUntouched;
}

void Regions::FindRegions(Fit fit) {
  const Cluster& cluster = problem_.cluster();
  const TopologyConstraint* wide = GangWide(problem_.gang().gang);
  const int topology = wide ? cluster.FindTopology(wide->topology) : -1;
  const int level =
      topology >= 0 ? cluster.FindLevel(topology, wide->required) : -1;
  const TopologyIndex* index = level >= 0 ? &cluster.index(topology) : nullptr;
  const bool touched_only = fit != Fit::kFits;
  const bool nodes = index == nullptr
                         ? touched_only && problem_.single()
                         : static_cast<size_t>(level) >= index->levels.size();
  const std::span<const Assignment> fixed = problem_.request().placement.fixed;
  if (nodes) {
    const std::span<const NodeIndex> all =
        touched_only ? std::span<const NodeIndex>(touched_nodes_)
                     : cluster.nodes();
    nodes_.reserve(all.size());
    for (const NodeIndex& node : all) {
      // Where some of its tasks are, the others must go.
      if (index != nullptr && !fixed.empty() && fixed[0].at.node != node) {
        continue;
      }
      AddRegion({&node, 1});
    }
  } else if (index != nullptr) {
    const std::vector<Domain>& all = index->levels[level];
    const std::vector<uint32_t> domains =
        DomainsOf(*index, level, touched_only);
    size_t nodes_in_all = 0;
    for (const uint32_t d : domains) nodes_in_all += all[d].node_count;
    nodes_.reserve(nodes_in_all);
    for (const uint32_t d : domains) {
      const Domain& domain = all[d];
      AddRegion(std::span(index->nodes)
                    .subspan(domain.first_node, domain.node_count));
    }
  } else {
    AddCluster();
  }
}

// Ascending: those of the level, or those with a touched node; where some of
// its tasks are, the others must go.
std::vector<uint32_t> Regions::DomainsOf(const TopologyIndex& index, int level,
                                         bool touched_only) const {
  std::vector<uint32_t> domains;
  if (touched_only) {
    for (const NodeIndex node : touched_nodes_) {
      const uint32_t domain = index.domain_of[level][node];
      if (domain != TopologyIndex::kOutside) domains.push_back(domain);
    }
    std::ranges::sort(domains);
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  } else {
    domains.resize(index.levels[level].size());
    std::iota(domains.begin(), domains.end(), 0);
  }
  const std::span<const Assignment> fixed = problem_.request().placement.fixed;
  if (!fixed.empty()) {
    const uint32_t home = index.domain_of[level][fixed[0].at.node];
    std::erase_if(domains, [&](uint32_t domain) { return domain != home; });
  }
  return domains;
}

bool Regions::Useful(NodeIndex node) const {
  if (!allowed_.empty() && !allowed_[node]) return false;
  const Cluster& cluster = problem_.cluster();
  const bool touched = region_of_[node] != kUntouched;
  if (!touched && index::FreeOn(cluster, node, problem_.scarce(),
                                Ledger::kLater) < least_) {
    return false;
  }
  for (const std::vector<ShapeId>& shapes : problem_.gang().shapes) {
    for (ShapeId shape : shapes) {
      if (touched ? cluster.Admits(node, shape)
                  : cluster.Slots(node, shape, Ledger::kLater, 1) > 0) {
        return true;
      }
    }
  }
  return false;
}

// All nodes are one region.
void Regions::AddCluster() {
  const auto key = [&](NodeIndex node) {
    return std::string_view(problem_.cluster().node(node).key);
  };
  std::vector<NodeIndex> roomy;
  problem_.NodesWithRoom(&roomy);
  std::vector<NodeIndex> nodes;
  nodes.reserve(roomy.size() + touched_nodes_.size());
  std::ranges::set_union(roomy, touched_nodes_, std::back_inserter(nodes), {},
                         key, key);
  nodes_.reserve(nodes.size());
  AddRegion(nodes);
}

// `nodes_` has room for them.
void Regions::AddRegion(std::span<const NodeIndex> nodes) {
  const size_t first = nodes_.size();
  for (NodeIndex node : nodes) {
    if (!Useful(node)) continue;
    nodes_.push_back(node);
    if (region_of_[node] == kUntouched) continue;
    region_of_[node] = static_cast<uint32_t>(regions_.size());
  }
  if (nodes_.size() == first) return;
  regions_.push_back({.nodes = std::span(nodes_).subspan(first)});
}

void Regions::Threshold(uint32_t count) {
  threshold_ = count;
  problem_.Charge(regions_.size() + shares_.size(), kLookNs);
  for (VictimRegion& region : regions_) {
    const auto end = std::ranges::lower_bound(region.members, count);
    region.candidates = {region.members.begin(), end};
    region.bound = BoundOf(region);
  }
}

std::span<const VictimTask> Regions::On(NodeIndex node) const {
  const auto here =
      std::ranges::equal_range(tasks_, node, {}, &VictimTask::node);
  const auto end = std::ranges::partition_point(
      here,
      [&](const VictimTask& task) { return task.candidate < threshold_; });
  return {here.begin(), end};
}

void Regions::IndexTasks() {
  const Cluster& cluster = problem_.cluster();
  for (uint32_t c = 0; c < problem_.candidate_count(); ++c) {
    problem_.Charge(problem_.Size(c), kTaskNs);
    for (uint32_t back = 0; back < problem_.Size(c); ++back) {
      tasks_.push_back({problem_.Task(c, back).node, c, back});
    }
  }
  std::ranges::stable_sort(tasks_, {}, &VictimTask::node);
  for (const VictimTask& task : tasks_) {
    if (touched_nodes_.empty() || touched_nodes_.back() != task.node) {
      touched_nodes_.push_back(task.node);
      region_of_[task.node] = kNowhere;
    }
  }
  std::ranges::sort(touched_nodes_, {}, [&](NodeIndex node) {
    return std::string_view(cluster.node(node).key);
  });
}

void Regions::FindShares() {
  for (uint32_t c = 0; c < problem_.candidate_count(); ++c) AddShare(c);
  std::ranges::stable_sort(shares_, {}, &CandidateShare::region);
  for (const CandidateShare& share : shares_)
    members_.push_back(share.candidate);
}

void Regions::AddShare(uint32_t c) {
  const size_t first = shares_.size();
  const uint32_t surplus = problem_.Surplus(c);
  for (uint32_t back = 0; back < problem_.Size(c); ++back) {
    const Allocation& a = problem_.Task(c, back);
    const uint32_t region = Of(a.node);
    if (region == kNowhere) continue;
    if (share_in_[region] == kNowhere) {
      share_in_[region] = static_cast<uint32_t>(shares_.size());
      shares_.push_back({.region = region, .candidate = c});
    }
    CandidateShare& share = shares_[share_in_[region]];
    share.amount += problem_.Amount(a);
    if (back >= surplus || share.amount == 0) continue;
    share.surplus_amount = share.amount;
    share.Offer(problem_.CostOf(c, back + 1).cost);
  }
  const int64_t whole = problem_.CostOf(c, problem_.Size(c)).cost;
  for (size_t s = first; s < shares_.size(); ++s) {
    share_in_[shares_[s].region] = kNowhere;
    shares_[s].Offer(whole);
  }
}

int64_t Regions::Shortfall(const VictimRegion& region) const {
  const ResourceKind scarce = problem_.scarce();
  int64_t missing = 0;
  for (const RoleNeed& need : problem_.needs()) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (ShapeId shape : problem_.gang().shapes[need.role]) {
      least = std::min(least, problem_.cluster().demand(shape)[scarce]);
    }
    missing += least * need.count;
  }
  for (const NodeIndex& node : region.nodes) {
    missing -= free_[&node - nodes_.data()];
  }
  return missing;
}

// The fractional relaxation: as if any part of a victim could be had at its
// best price.
VictimCost Regions::BoundOf(const VictimRegion& region) {
  VictimCost bound;
  if (region.shortfall <= 0) return bound;
  const auto shares = region.shares.first(region.candidates.size());
  sorted_.assign(shares.begin(), shares.end());
  std::ranges::sort(sorted_, IsCheaper);
  int64_t missing = region.shortfall;
  for (const CandidateShare& share : sorted_) {
    if (missing <= 0) break;
    if (share.amount == 0) continue;
    const int64_t part = std::min(missing, share.amount);
    bound.cost += PartOf(share, part);
    missing -= part;
  }
  bound.cost = std::max(bound.cost, LeastForSlots(region));
  missing = region.shortfall;
  for (const CandidateShare& share : sorted_) missing -= share.surplus_amount;
  std::ranges::sort(sorted_, {}, [](const CandidateShare& s) {
    return std::tuple(s.surplus_amount - s.amount, s.candidate);
  });
  for (const CandidateShare& share : sorted_) {
    if (missing <= 0) break;
    missing -= share.amount - share.surplus_amount;
    ++bound.broken;
  }
  return bound;
}

// The same, but what is released counts only where it gives a node another
// slot: of all such steps the cheapest. A victim's cost is shared among its
// nodes by what it holds there. 0 where roles or shapes differ.
int64_t Regions::LeastForSlots(const VictimRegion& region) {
  const RoleNeed& need = problem_.needs()[0];
  const std::vector<ShapeId>& shapes = problem_.gang().shapes[need.role];
  if (problem_.needs().size() != 1 || shapes.size() != 1) return 0;
  const int64_t each = problem_.cluster().demand(shapes[0])[problem_.scarce()];
  if (each <= 0) return 0;
  share_of_.resize(problem_.candidate_count());
  for (const CandidateShare& share : region.shares)
    share_of_[share.candidate] = &share;
  slot_costs_.clear();
  int64_t lacking = need.count;
  for (const NodeIndex& node : region.nodes) {
    const int64_t free = free_[&node - nodes_.data()];
    lacking -= free / each;
    AddSlotCosts(On(node), each - free % each, each, need.count);
  }
  if (lacking <= 0 || lacking > std::ssize(slot_costs_)) return 0;
  const auto end = slot_costs_.begin() + lacking;
  std::nth_element(slot_costs_.begin(), end - 1, slot_costs_.end());
  return std::accumulate(slot_costs_.begin(), end, int64_t{0});
}

// What the node's next slots cost, one after the other, at most so many. It
// lacks so much for the first, and `each` for each that follows.
void Regions::AddSlotCosts(std::span<const VictimTask> tasks, int64_t lacks,
                           int64_t each, int64_t most) {
  on_node_.clear();
  for (const VictimTask& task : tasks) {
    on_node_.push_back(
        {share_of_[task.candidate],
         problem_.Amount(problem_.Task(task.candidate, task.back))});
  }
  std::ranges::sort(on_node_, [](const NodeHolding& a, const NodeHolding& b) {
    return IsCheaper(*a.share, *b.share);
  });
  int64_t cost = 0;
  for (auto [share, amount] : on_node_) {
    while (amount > 0 && most > 0) {
      const int64_t part = std::min(amount, lacks);
      cost += PartOf(*share, part);
      amount -= part;
      lacks -= part;
      if (lacks > 0) continue;
      slot_costs_.push_back(std::exchange(cost, 0));
      lacks = each;
      --most;
    }
  }
}

}  // namespace muster::preempt
