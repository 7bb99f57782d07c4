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
    Book& book = books_[i];
    book = {};
    const uint32_t region = rule.region == kEverywhere ? 0 : kOutside;
    book.domains.assign(problem.DomainLimit(rule.tree, rule.level),
                        {.region = region});
    if (rule.skew > 0) FindEligible(rule, &book);
    book.looked_at = rule.level == problem.tree(rule.tree).hosts
                         ? problem.cluster().node_count()
                         : book.domains.size();
    problem.Charge(book.looked_at, kLookNs);
  }
}

// Domains with a node that would take a task of the scope, were it empty.
void SpreadBook::FindEligible(const SpreadRule& rule, Book* book) {
  const Tree& tree = problem_->tree(rule.tree);
  const Cluster& cluster = problem_->cluster();
  book->eligibles.assign(rule.region == kEverywhere
                             ? 1
                             : problem_->DomainLimit(rule.tree, rule.region),
                         0);
  problem_->Charge(cluster.node_count(), kCapacityNs);
  for (const NodeIndex node : cluster.nodes()) {
    const uint32_t d = tree.DomainOf(rule.level, node);
    if (d == kOutside) continue;
    Tally& domain = book->domains[d];
    domain.region = RegionOf(rule, node);
    const auto takes = [&](ShapeId shape) {
      return index::CapacitySlots(cluster, node, shape, 1) != 0;
    };
    for (uint32_t r = 0; r < problem_->role_count(); ++r) {
      if (domain.eligible) break;
      if (!problem_->IsBelow(r, rule.scope)) continue;
      domain.eligible =
          std::ranges::any_of(problem_->request().gang->shapes[r], takes);
      if (domain.eligible) ++book->eligibles[domain.region];
    }
  }
}

void SpreadBook::Fix() {
  for (Book& book : books_) {
    for (Tally& domain : book.domains) domain.fixed = domain.count;
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
    Tally& domain = book.domains[d];
    if (!enter) {
      --book.tasks;
      if (--domain.count == 0) --book.used;
      continue;
    }
    if (book.tasks++ == 0) book.here = domain.region;
    if (domain.count++ == 0) ++book.used;
  }
}

bool SpreadBook::Open(uint32_t role, NodeIndex node) const {
  for (const uint32_t i : problem_->Spreads(role)) {
    const SpreadRule& rule = problem_->spreads()[i];
    const uint32_t d = DomainOf(i, node);
    if (d == kOutside || books_[i].domains[d].count >= rule.most) return false;
  }
  return true;
}

uint64_t SpreadBook::Fewest(size_t spread) const {
  uint64_t& fewest = fewest_[spread];
  if (fewest != kUnknown) return fewest;
  const Book& book = books_[spread];
  fewest = kNoDomain;
  if (book.tasks == 0) fewest = 0;
  for (const Tally& domain : book.domains) {
    if (!domain.eligible || !Within(book, domain)) continue;
    fewest = std::min<uint64_t>(fewest, domain.count);
    if (fewest == 0) break;
  }
  return fewest;
}

bool SpreadBook::Keeps(uint32_t role, NodeIndex node) const {
  if (!Open(role, node)) return false;
  for (const uint32_t i : problem_->Spreads(role)) {
    const SpreadRule& rule = problem_->spreads()[i];
    const Book& book = books_[i];
    const uint64_t count = book.domains[DomainOf(i, node)].count;
    if (count > 0 && book.used < rule.domains) return false;
    if (rule.skew > 0 && count + 1 > Fewest(i) + rule.skew) return false;
  }
  return true;
}

void SpreadBook::Confine(std::span<const NodeIndex> nodes) {
  for (size_t i = 0; i < books_.size(); ++i) {
    Book& book = books_[i];
    for (Tally& domain : book.domains) domain.reachable = false;
    for (const NodeIndex node : nodes) {
      const uint32_t d = DomainOf(i, node);
      if (d != kOutside) book.domains[d].reachable = true;
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
  const Tally& domain = book.domains[DomainOf(spread, node)];
  const uint64_t peak = uint64_t{domain.count} + tasks;
  if (peak > rule.most) return false;
  if (Needed(spread, tasks) > book.used + (domain.count == 0 ? 1 : 0)) {
    return false;
  }
  if (rule.skew == 0) return true;
  // No other domain holds more than all tasks there are.
  return book.eligibles[domain.region] < 2 ||
         peak <= uint64_t{book.tasks} + rule.skew;
}

bool SpreadBook::MayHold(const SpreadRule& rule, const Book& book) const {
  problem_->Charge(book.looked_at, kLookNs);
  const uint32_t add = problem_->AddBelow(rule.scope);
  const uint64_t left = add - (book.tasks - book.fixed_tasks);
  const uint32_t need = std::min(rule.domains, book.fixed_used + add);
  if (left == 0 && rule.skew == 0) return book.used >= need;
  uint64_t room = 0;
  uint64_t fresh = 0;  // Domains that could still be opened.
  uint64_t peak = 0;
  for (const Tally& domain : book.domains) {
    const uint32_t count = domain.count;
    if (count > domain.fixed) peak = std::max<uint64_t>(peak, count);
    if (count >= rule.most || !domain.reachable || !Within(book, domain)) {
      continue;
    }
    room += std::min<uint64_t>(left, rule.most - count);
    if (count == 0) ++fresh;
  }
  if (room < left || book.used + std::min(left, fresh) < need) return false;
  if (rule.skew == 0 || peak <= rule.skew) return true;
  uint64_t lack = 0;  // What the domains with few tasks must still get.
  for (const Tally& domain : book.domains) {
    const uint64_t enough = uint64_t{domain.count} + rule.skew;
    if (!domain.eligible || !Within(book, domain) || enough >= peak) continue;
    if (!domain.reachable) return false;
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
  const uint32_t region = RegionOf(problem_->spreads()[spread], node);
  domains->clear();
  for (const Tally& domain : books_[spread].domains) {
    domains->push_back({.held = domain.count,
                        .counts = domain.eligible && domain.region == region});
  }
}

}  // namespace muster::solver
