#include "lib/solver/refiner.h"

#include <algorithm>
#include <utility>

namespace muster::solver {

uint64_t Refiner::StepsLeft() const {
  return deadline_ > problem_->steps ? deadline_ - problem_->steps : 0;
}

// Whether some task could lie outside the first topology.
bool Refiner::MayLieOutside() const {
  const Tree& tree = problem_->tree(0);
  if (tree.index == nullptr ||
      tree.index->nodes.size() == placement_->cluster().node_count()) {
    return false;
  }
  return std::ranges::any_of(problem_->Active(), [&](uint32_t r) {
    return std::ranges::none_of(problem_->Chain(r), [&](ScopeIndex s) {
      return problem_->rule(s).tree == 0;
    });
  });
}

// The domains of domain_.level with slots enough; domain_ alone where fixed
// tasks bind the gang to it.
void Refiner::FindCandidates() {
  candidates_.clear();
  least_.clear();
  const auto add = [&](uint32_t domain) {
    candidates_.push_back({.domain = domain, .first = least_.size()});
    least_.resize(least_.size() + used_.size(), 0);
  };
  const Tree& tree = problem_->tree(0);
  if (domain_.level == kEverywhere || domain_.level == tree.hosts ||
      problem_->anchor(0).any) {
    return add(domain_.index);
  }
  const uint32_t domains =
      static_cast<uint32_t>(tree.index->levels[domain_.level].size());
  problem_->Spend(domains, kLookNs);
  for (uint32_t d = 0; d < domains; ++d) {
    if (bound_.HasSlots({0, domain_.level, d})) add(d);
  }
  if (!MayLieOutside()) return;
  // Nodes outside are domains by themselves.
  const std::span<const NodeIndex> outside = placement_->table().Outside();
  for (size_t i = outside.size(); i-- > 0;) {
    if (!bound_.HasSlots({0, tree.hosts, outside[i]})) continue;
    add(outside[i]);
    candidates_.back().outside = true;
    std::fill_n(least_.end() - used_.size(), used_.size(), 1);
  }
}

// Of best_; nothing but fixed tasks is on the placement.
void Refiner::CountUsed() {
  const Tree& tree = problem_->tree(0);
  used_.assign(tree.hosts + 1, 0);
  for (int l = 0; l <= tree.hosts; ++l) {
    distinct_.clear();
    for (const Assignment& a : best_) {
      if (placement_->HasTasksAround({0, tree.hosts, a.at.node}, l)) continue;
      distinct_.push_back(tree.DomainOrSelf(l, a.at.node));
    }
    std::ranges::sort(distinct_);
    used_[l] = static_cast<uint32_t>(
        std::unique(distinct_.begin(), distinct_.end()) - distinct_.begin());
  }
}

// What is placed is the best so far; it goes from the placement.
void Refiner::KeepPlaced(const PartialPlacement::Mark& mark) {
  best_.assign(placement_->placed().begin(), placement_->placed().end());
  if (!traffic_->empty()) cost_ = traffic_->Total(*placement_);
  placement_->Rollback(mark);
  CountUsed();
}

bool Refiner::MayBeFewer(const RefinedDomain& c) {
  const std::span<const uint32_t> least = Least(c);
  return !c.impossible &&
         std::lexicographical_compare(least.begin(), least.end(), used_.begin(),
                                      used_.end());
}

void Refiner::BoundDomains(RefinedDomain* c, bool nodes) {
  if (StepsLeft() == 0 || c->outside) return;
  const std::span<uint32_t> least = Least(*c);
  bound_.Domains(DomainRefOf(*c), nodes, least);
  c->impossible = std::ranges::find(least, GangBound::kNoRoom) != least.end();
  RaiseToAlone(c);
}

// All need no less than some of them: what these need at a level if they use as
// few as they can at the wider ones holds where all use no more there.
void Refiner::RaiseToAlone(RefinedDomain* c) {
  const std::span<uint32_t> least = Least(*c);
  for (size_t l = 0; l < alone_.size(); ++l) {
    least[l] = std::max(least[l], alone_[l].least);
    if (used_[l] > alone_[l].used) break;
  }
}

// The best there is in the candidate, or its bound.
void Refiner::Solve(RefinedDomain* c) {
  if (c->outside) return;
  switch (mix_.Solve(DomainRefOf(*c), StepsLeft())) {
    case SearchOutcome::kCutShort:
      return;
    case SearchOutcome::kNone:
      c->impossible = true;
      return;
    case SearchOutcome::kFound:
      break;
  }
  c->exact = true;
  c->traffic = mix_.traffic();
  const bool has_traffic = !traffic_->empty();
  if (!has_traffic) {
    std::copy(mix_.domains().begin(), mix_.domains().end(), Least(*c).begin());
  }
  if (has_traffic ? c->traffic >= cost_ : !MayBeFewer(*c)) return;
  const PartialPlacement::Mark mark = placement_->Begin();
  if (mix_.Put()) {
    KeepPlaced(mark);
  } else {
    placement_->Rollback(mark);
  }
}

void Refiner::RefineDomains(bool keep) {
  for (RefinedDomain& c : candidates_) BoundDomains(&c, false);
  std::ranges::sort(candidates_,
                    [&](const RefinedDomain& a, const RefinedDomain& b) {
                      const std::span<const uint32_t> x = Least(a);
                      const std::span<const uint32_t> y = Least(b);
                      const auto order = std::lexicographical_compare_three_way(
                          x.begin(), x.end(), y.begin(), y.end());
                      return order != 0 ? order < 0 : a.domain < b.domain;
                    });
  for (RefinedDomain& c : candidates_) {
    if (MayBeFewer(c)) BoundDomains(&c, true);
    if (!keep && MayBeFewer(c) && StepsLeft() > 0) Solve(&c);
  }
}

// At each level the least of all candidates in which no wider level is known to
// need more than what is used.
void Refiner::CertifyDomains(Certificate* certificate) {
  certificate->levels.clear();
  for (const uint32_t used : used_) certificate->levels.push_back({used, used});
  for (const RefinedDomain& c : candidates_) {
    if (c.impossible) continue;
    const std::span<const uint32_t> least = Least(c);
    bool fewer = false;  // Than used at a wider level.
    for (size_t l = 0; l < used_.size(); ++l) {
      // The least of one that has fewer there says nothing of others.
      const uint32_t known = c.exact && fewer ? 0 : least[l];
      uint32_t& all = certificate->levels[l].least;
      all = std::min(all, known);
      if (known > used_[l]) break;
      fewer = fewer || known < used_[l];
    }
  }
  certificate->optimal = std::ranges::all_of(
      certificate->levels,
      [](const Certificate::Level& l) { return l.used == l.least; });
}

void Refiner::RefineTraffic() {
  for (RefinedDomain& c : candidates_) {
    if (StepsLeft() == 0 || c.outside) continue;
    c.traffic = bound_.LeastTraffic(DomainRefOf(c));
  }
  std::ranges::sort(candidates_, {}, [](const RefinedDomain& c) {
    return std::pair(c.traffic, c.domain);
  });
  for (RefinedDomain& c : candidates_) {
    if (c.traffic < cost_ && StepsLeft() > 0) Solve(&c);
  }
}

int64_t Refiner::LeastTraffic() const {
  int64_t least = cost_;
  for (const RefinedDomain& c : candidates_) {
    if (!c.impossible) least = std::min(least, c.traffic);
  }
  return least;
}

// Exhaustively where it may still become less, then by single moves.
void Refiner::SearchTraffic(PartialPlacement::Mark* mark, Traffic& traffic,
                            uint64_t steps) {
  const uint64_t half = problem_->steps + steps / 2;
  for (RefinedDomain& c : candidates_) {
    if (c.impossible || c.outside || c.traffic >= cost_) continue;
    if (problem_->steps >= half) break;
    const bool proven =
        exact_.Improve(*placement_, mark, DomainRefOf(c), traffic, half);
    cost_ = traffic.Total(*placement_);
    if (proven) c.traffic = std::max(c.traffic, cost_);
  }
  if (LeastTraffic() >= cost_) return;
  traffic.Improve(*placement_, domain_, half + steps / 2);
  cost_ = traffic.Total(*placement_);
}

void Refiner::Refine(PartialPlacement& placement, PartialPlacement::Mark* mark,
                     const DomainRef& domain, Traffic& traffic, bool keep,
                     const Certificate& alone, const Budget& budget,
                     Certificate* certificate) {
  placement_ = &placement;
  problem_ = &placement.problem();
  traffic_ = &traffic;
  domain_ = domain;
  domain_.tree = 0;
  deadline_ = problem_->steps + budget.steps;
  KeepPlaced(*mark);
  alone_ = {};
  if (alone.optimal) alone_ = alone.levels;
  const bool has_traffic = !traffic.empty();
  bound_.Start(placement, traffic);
  mix_.Start(placement, traffic);
  // Of traffic with nodes outside the bounds know nothing.
  const bool claims =
      !has_traffic || domain_.level != kEverywhere || !MayLieOutside();
  FindCandidates();
  if (claims) has_traffic ? RefineTraffic() : RefineDomains(keep);
  *mark = placement.Begin();
  for (const Assignment& a : best_) placement.PutExactly(a.task, a.at);
  if (has_traffic) {
    if (LeastTraffic() < cost_) SearchTraffic(mark, traffic, budget.search);
    certificate->traffic = {
        .has_traffic = true, .cost = cost_, .least = LeastTraffic()};
    certificate->optimal = cost_ == certificate->traffic.least;
  } else if (claims) {
    CertifyDomains(certificate);
  }
}

}  // namespace muster::solver
