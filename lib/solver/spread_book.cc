#include "lib/solver/spread_book.h"

#include <algorithm>
#include <limits>

#include "lib/index/capacity_table.h"

namespace muster::solver {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kNoDomain = kUnknown >> 1;

}  // namespace

void SpreadBook::Reset(Problem& problem) {
  problem_ = &problem;
  const std::span<const SpreadRule> rules = problem.spreads();
  books_.resize(rules.size());
  fewest_.assign(rules.size(), kUnknown);
  for (size_t i = 0; i < rules.size(); ++i) {
    const SpreadRule& rule = rules[i];
    const Tree& tree = problem.tree(rule.tree);
    const bool hosts = rule.level == tree.hosts;
    const size_t domains = hosts ? problem.cluster().node_limit()
                                 : tree.index->levels[rule.level].size();
    Book& book = books_[i];
    book = {};
    book.count.assign(domains, 0);
    book.fixed.assign(domains, 0);
    book.reachable.assign(domains, 1);
    book.eligible.assign(domains, 0);
    if (rule.skew > 0) FindEligible(rule, &book);
    book.domains = hosts ? problem.cluster().nodes().size() : domains;
    problem.Charge(book.domains, kLookNs);
  }
}

// Domains with a node that would take a task of the scope, were it empty.
void SpreadBook::FindEligible(const SpreadRule& rule, Book* book) {
  const Tree& tree = problem_->tree(rule.tree);
  const Cluster& cluster = problem_->cluster();
  size_t regions = 1;
  if (rule.region != kEverywhere) {
    book->region.assign(book->count.size(), kOutside);
    regions = rule.region == tree.hosts
                  ? book->count.size()
                  : tree.index->levels[rule.region].size();
  }
  book->eligibles.assign(regions, 0);
  problem_->Charge(cluster.nodes().size(), kCapacityNs);
  for (const NodeIndex node : cluster.nodes()) {
    const uint32_t domain = tree.DomainOf(rule.level, node);
    if (domain == kOutside) continue;
    if (rule.region != kEverywhere) {
      book->region[domain] = tree.DomainOf(rule.region, node);
    }
    for (uint32_t r = 0; r < problem_->role_count(); ++r) {
      if (book->eligible[domain] != 0) break;
      if (!problem_->IsBelow(r, rule.scope)) continue;
      for (const ShapeId shape : problem_->request().gang->shapes[r]) {
        if (index::CapacitySlots(cluster, node, shape, 1) == 0) continue;
        book->eligible[domain] = 1;
        ++book->eligibles[book->region.empty() ? 0 : book->region[domain]];
        break;
      }
    }
  }
}

void SpreadBook::Fix() {
  for (Book& book : books_) {
    book.fixed = book.count;
    book.fixed_tasks = book.tasks;
    book.fixed_used = book.used;
  }
}

void SpreadBook::Enter(uint32_t role, NodeIndex node, bool enter) {
  for (const uint32_t i : problem_->Spreads(role)) {
    const uint32_t d = DomainOf(i, node);
    if (d == kOutside) continue;
    Book& book = books_[i];
    fewest_[i] = kUnknown;
    if (!enter) {
      --book.tasks;
      if (--book.count[d] == 0) --book.used;
      continue;
    }
    if (book.tasks++ == 0 && !book.region.empty()) book.here = book.region[d];
    if (book.count[d]++ == 0) ++book.used;
  }
}

bool SpreadBook::Open(uint32_t role, NodeIndex node) const {
  for (const uint32_t i : problem_->Spreads(role)) {
    const SpreadRule& rule = problem_->spreads()[i];
    const uint32_t d = DomainOf(i, node);
    if (d == kOutside || books_[i].count[d] >= rule.most) return false;
  }
  return true;
}

uint64_t SpreadBook::Fewest(size_t spread) const {
  uint64_t& fewest = fewest_[spread];
  if (fewest != kUnknown) return fewest;
  const Book& book = books_[spread];
  fewest = kNoDomain;
  if (book.tasks == 0) fewest = 0;
  for (uint32_t d = 0; d < book.count.size() && fewest > 0; ++d) {
    if (book.eligible[d] == 0 || !Within(book, d)) continue;
    fewest = std::min<uint64_t>(fewest, book.count[d]);
  }
  return fewest;
}

bool SpreadBook::Keeps(uint32_t role, NodeIndex node) const {
  if (!Open(role, node)) return false;
  for (const uint32_t i : problem_->Spreads(role)) {
    const SpreadRule& rule = problem_->spreads()[i];
    const Book& book = books_[i];
    const uint32_t d = DomainOf(i, node);
    if (book.count[d] > 0 && book.used < rule.domains) return false;
    if (rule.skew > 0 && book.count[d] + uint64_t{1} > Fewest(i) + rule.skew) {
      return false;
    }
  }
  return true;
}

void SpreadBook::Confine(std::span<const NodeIndex> nodes) {
  for (size_t i = 0; i < books_.size(); ++i) {
    Book& book = books_[i];
    std::ranges::fill(book.reachable, 0);
    for (const NodeIndex node : nodes) {
      const uint32_t d = DomainOf(i, node);
      if (d != kOutside) book.reachable[d] = 1;
    }
  }
}

uint32_t SpreadBook::Needed(uint32_t spread, uint32_t tasks) const {
  return std::min(problem_->spreads()[spread].domains,
                  books_[spread].fixed_used + tasks);
}

bool SpreadBook::MayGoIntoOne(uint32_t spread, uint32_t tasks,
                              NodeIndex node) const {
  const SpreadRule& rule = problem_->spreads()[spread];
  const Book& book = books_[spread];
  const uint32_t d = DomainOf(spread, node);
  const uint64_t peak = uint64_t{book.count[d]} + tasks;
  if (peak > rule.most) return false;
  if (Needed(spread, tasks) > book.used + (book.count[d] == 0 ? 1 : 0)) {
    return false;
  }
  if (rule.skew == 0) return true;
  const uint32_t region = book.region.empty() ? 0 : book.region[d];
  // No other domain holds more than all tasks there are.
  return book.eligibles[region] < 2 || peak <= uint64_t{book.tasks} + rule.skew;
}

bool SpreadBook::MayHold(const SpreadRule& rule, const Book& book) const {
  problem_->Charge(book.domains, kLookNs);
  const uint32_t add = problem_->AddBelow(rule.scope);
  const uint64_t left = add - (book.tasks - book.fixed_tasks);
  const uint32_t need = std::min(rule.domains, book.fixed_used + add);
  if (left == 0 && rule.skew == 0) return book.used >= need;
  uint64_t room = 0;
  uint64_t fresh = 0;  // Domains that could still be opened.
  uint64_t peak = 0;
  for (uint32_t d = 0; d < book.count.size(); ++d) {
    const uint32_t count = book.count[d];
    if (count > book.fixed[d]) peak = std::max<uint64_t>(peak, count);
    if (count >= rule.most || book.reachable[d] == 0 || !Within(book, d)) {
      continue;
    }
    room += std::min<uint64_t>(left, rule.most - count);
    if (count == 0) ++fresh;
  }
  if (room < left || book.used + std::min(left, fresh) < need) return false;
  if (rule.skew == 0 || peak <= rule.skew) return true;
  uint64_t lack = 0;  // What the domains with few tasks must still get.
  for (uint32_t d = 0; d < book.count.size(); ++d) {
    const uint64_t enough = uint64_t{book.count[d]} + rule.skew;
    if (book.eligible[d] == 0 || !Within(book, d) || enough >= peak) continue;
    if (book.reachable[d] == 0) return false;
    lack += peak - enough;
  }
  return lack <= left;
}

bool SpreadBook::MayHold() const {
  for (size_t i = 0; i < books_.size(); ++i) {
    if (problem_->AddBelow(problem_->spreads()[i].scope) == 0) continue;
    if (!MayHold(problem_->spreads()[i], books_[i])) return false;
  }
  return true;
}

void SpreadBook::Describe(uint32_t spread, NodeIndex node,
                          std::vector<SpreadDomain>* domains) const {
  const SpreadRule& rule = problem_->spreads()[spread];
  const Book& book = books_[spread];
  const Tree& tree = problem_->tree(rule.tree);
  const uint32_t region =
      book.region.empty() ? 0 : tree.DomainOf(rule.region, node);
  domains->assign(book.count.size(), {});
  for (uint32_t d = 0; d < domains->size(); ++d) {
    SpreadDomain& domain = (*domains)[d];
    domain.held = book.count[d];
    domain.counts = book.eligible[d] != 0 &&
                    (book.region.empty() || book.region[d] == region);
  }
}

}  // namespace muster::solver
