#include "lib/solver/pack_search.h"

#include <algorithm>
#include <compare>

#include "lib/solver/reasons.h"

namespace muster::solver {

bool PackSearch::Start(PartialPlacement& placement, ScopeIndex s,
                       const DomainRef& domain) {
  placement_ = &placement;
  problem_ = &placement.problem();
  domain_ = domain;
  able_ = true;
  none_ = false;
  width_ = problem_->columns().size() + placement.table().kinds().size();
  level_ = problem_->tree(domain.tree).hosts;
  parts_.clear();
  fixed_.clear();
  others_.clear();
  needs_.clear();
  FindParts(s);
  if (parts_.size() + fixed_.size() < 2) return false;
  FindDims();
  FindBins();
  none_ = !SetFixedApart();
  if (none_) parts_.clear();
  FindTypes();
  if (parts_.empty()) return true;
  packing_.Start({static_cast<uint32_t>(dims_.size()), need_, count_, room_});
  problem_->Charge(packing_.steps(), kPackNs);
  return true;
}

// Groups that require nothing narrower are looked into.
void PackSearch::FindParts(ScopeIndex s) {
  for (const ScopeIndex child : problem_->Children(s)) {
    if (problem_->AddBelow(child) == 0) continue;
    const ScopeConstraint& rule = problem_->rule(child);
    if (rule.tree == domain_.tree && rule.required > domain_.level) {
      const auto row = static_cast<uint32_t>(parts_.size() + fixed_.size());
      needs_.resize(needs_.size() + width_, 0);
      const std::span<int64_t> needs = Row(row);
      const size_t columns = problem_->columns().size();
      placement_->table().AddNeeds(child, needs.first(columns),
                                   needs.subspan(columns));
      level_ = std::min(level_, rule.required);
      (problem_->anchor(child).any ? fixed_ : parts_).push_back({child, row});
    } else if (problem_->IsRole(child) || problem_->anchor(child).any ||
               (rule.required != kEverywhere && rule.tree != domain_.tree)) {
      others_.push_back(child);
    } else {
      FindParts(child);
    }
  }
}

// What some part needs; of one column its slots say all.
void PackSearch::FindDims() {
  dims_.clear();
  const size_t columns = problem_->columns().size();
  for (size_t i = 0; i < width_; ++i) {
    if (i == columns && dims_.size() == 1) break;
    for (size_t at = i; at < needs_.size(); at += width_) {
      if (needs_[at] == 0) continue;
      dims_.push_back(i);
      break;
    }
  }
}

// The nearest to the gang's tasks first.
void PackSearch::FindBins() {
  bins_.clear();
  const Tree& tree = problem_->tree(domain_.tree);
  if (level_ == tree.hosts) {
    placement_->table().ForEachNodeOfAny(domain_, [&](NodeIndex node) {
      if (tree.Contains(node)) AddBin(node);
    });
  } else {
    const auto [first, last] = tree.Inside(domain_, level_);
    for (uint32_t d = first; d < last; ++d) AddBin(d);
  }
  std::ranges::sort(bins_);
  const size_t columns = problem_->columns().size();
  SlotTable& table = placement_->table();
  room_.clear();
  problem_->Charge(bins_.size() * dims_.size(), kNodeNs);
  for (const Bin& bin : bins_) {
    const DomainRef domain = DomainRefOf(bin.domain);
    std::span<const int64_t> useful;
    if (dims_.back() >= columns) useful = table.Useful(domain);
    for (const size_t i : dims_) {
      room_.push_back(i < columns ? static_cast<int64_t>(table.Sum(
                                        static_cast<uint32_t>(i), domain))
                                  : useful[i - columns]);
    }
  }
}

void PackSearch::AddBin(uint32_t domain) {
  bins_.push_back(
      {placement_->Nearness(DomainRefOf(domain)), bins_.size(), domain});
}

// Parts with fixed tasks take what they need of their bins. False if that is
// not there.
bool PackSearch::SetFixedApart() {
  const Tree& tree = problem_->tree(domain_.tree);
  for (Part& part : fixed_) {
    part.type = tree.DomainOf(level_, problem_->anchor(part.scope).node);
    const auto bin = std::ranges::find(bins_, part.type, &Bin::domain);
    if (bin == bins_.end()) return false;
    int64_t* room = room_.data() + (bin - bins_.begin()) * dims_.size();
    for (size_t d = 0; d < dims_.size(); ++d) {
      room[d] -= Row(part.row)[dims_[d]];
      if (room[d] < 0) return false;
    }
  }
  return true;
}

// Parts that need the same are of one type.
void PackSearch::FindTypes() {
  std::ranges::sort(parts_, [&](const Part& a, const Part& b) {
    const auto order = std::lexicographical_compare_three_way(
        Row(a.row).begin(), Row(a.row).end(), Row(b.row).begin(),
        Row(b.row).end());
    return order != 0 ? order > 0 : a.scope < b.scope;
  });
  need_.clear();
  count_.clear();
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (i == 0 ||
        !std::ranges::equal(Row(parts_[i].row), Row(parts_[i - 1].row))) {
      count_.push_back(0);
      for (const size_t d : dims_) need_.push_back(Row(parts_[i].row)[d]);
    }
    ++count_.back();
    parts_[i].type = static_cast<uint32_t>(count_.size()) - 1;
  }
}

SearchOutcome PackSearch::Solve(uint64_t budget) {
  if (none_) return SearchOutcome::kNone;
  if (!able_) return SearchOutcome::kCutShort;
  if (parts_.empty()) return SearchOutcome::kFound;
  const uint64_t before = packing_.steps();
  const SearchOutcome outcome = packing_.Solve(budget);
  problem_->Charge(packing_.steps() - before, kPackNs);
  return outcome;
}

std::optional<Reason> PackSearch::Shortage() const {
  if (parts_.empty()) return std::nullopt;
  const BinPacking::Shortage& shortage = packing_.shortage();
  if (shortage.needed == 0) return std::nullopt;
  const size_t dim = dims_[shortage.dim];
  const size_t columns = problem_->columns().size();
  Reason reason = OfLevel(ReasonCode::kNoDomain, level_, shortage.needed,
                          shortage.available);
  if (dim >= columns)
    reason.resource = placement_->table().kinds()[dim - columns];
  return reason;
}

}  // namespace muster::solver
