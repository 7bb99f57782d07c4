#include "lib/solver/mix_tree.h"

#include <algorithm>
#include <tuple>

#include "lib/solver/row_hash.h"

namespace muster::solver {
namespace {

// A row of so many sums is one step.
constexpr uint64_t kSumsPerStep = 8;

}  // namespace

bool MixTree::Takes(std::span<const uint32_t> want) {
  if (want.empty() || want.size() > kMaxRoleTypes) return false;
  uint64_t states = 1;
  for (const uint32_t n : want) {
    states *= uint64_t{n} + 1;
    if (states > kMaxStates) return false;
  }
  return true;
}

void MixTree::Start(const MixQuestion& question) {
  question_ = question;
  steps_ = 0;
  out_of_steps_ = false;
  values_.clear();
  keys_.clear();
  domain_types_.clear();
  std::ranges::fill(slots_, 0);
  sums_.clear();
  items_.clear();
  stack_.clear();
  frames_.clear();
  fixed_traffics_.clear();
}

size_t MixTree::Size(const MixCounts& most) const {
  size_t size = 1;
  for (uint32_t k = 0; k < role_types(); ++k) size *= size_t{most[k]} + 1;
  return size;
}

size_t MixTree::IndexOf(const Table& table, const MixCounts& counts) const {
  size_t index = 0;
  for (uint32_t k = 0; k < role_types(); ++k) {
    index = index * (size_t{table.most[k]} + 1) + counts[k];
  }
  return table.first + index;
}

// The next counts up to `most`, in the order of a table.
bool MixTree::Next(const MixCounts& most, MixCounts* counts) const {
  for (uint32_t k = role_types(); k > 0; --k) {
    if ((*counts)[k - 1] < most[k - 1]) {
      ++(*counts)[k - 1];
      return true;
    }
    (*counts)[k - 1] = 0;
  }
  return false;
}

MixTree::Table MixTree::MakeTable(const MixCounts& most) {
  const Table table{most, values_.size()};
  const size_t size = Size(most);
  values_.resize(values_.size() + size, kNever);
  steps_ += 1 + size / kSumsPerStep;
  return table;
}

bool MixTree::Allows(int level, const MixCounts& counts) const {
  for (const MixRule& rule : question_.rules) {
    if (rule.level != level) continue;
    bool all = true;
    bool none = true;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < role_types(); ++k) {
      if ((rule.role_types >> k & 1) == 0) continue;
      all = all && counts[k] == question_.want[k];
      none = none && counts[k] == 0;
      sum += counts[k];
      if (rule.ask != MixRule::Ask::kWhole) continue;
      const uint32_t over = counts[k] % rule.amount;
      if (over != 0 && over != question_.want[k] % rule.amount) return false;
    }
    if (rule.ask == MixRule::Ask::kAllOrNone && !all && !none) return false;
    if (rule.ask == MixRule::Ask::kAtMost && sum > rule.amount) return false;
  }
  return true;
}

int64_t MixTree::Worth(int level, std::span<const int64_t> fixed_traffic,
                       bool has_fixed, const MixCounts& counts) const {
  int64_t worth = 0;
  bool any = false;
  for (uint32_t k = 0; k < role_types(); ++k) {
    const int64_t x = counts[k];
    if (x == 0) continue;
    any = true;
    worth += fixed_traffic[k] * x;
    if (question_.weight.empty()) continue;
    const int64_t* weight = question_.weight.data() + size_t{k} * role_types();
    worth += weight[k] * (x * (x - 1) / 2);
    for (uint32_t j = k + 1; j < role_types(); ++j) {
      worth += weight[j] * x * counts[j];
    }
  }
  return any && !has_fixed ? worth - question_.unit[level] : worth;
}

// From what the children are worth to what the domain is.
void MixTree::Judge(int level, std::span<const int64_t> fixed_traffic,
                    bool has_fixed, Table* table) {
  MixCounts counts{};
  size_t at = table->first;
  do {
    int64_t& value = values_[at++];
    if (!Possible(value)) continue;
    value = Allows(level, counts)
                ? value + Worth(level, fixed_traffic, has_fixed, counts)
                : kNever;
  } while (Next(table->most, &counts));
  steps_ += Size(table->most) / kSumsPerStep;
}

// Cuts the table, the last one made, down to counts that are possible.
void MixTree::Trim(Table* table) {
  MixCounts most{};
  MixCounts counts{};
  size_t at = table->first;
  do {
    if (!Possible(values_[at++])) continue;
    for (uint32_t k = 0; k < role_types(); ++k) {
      most[k] = std::max(most[k], counts[k]);
    }
  } while (Next(table->most, &counts));
  if (most == table->most) return;
  // Each value moves towards the front, if it moves.
  counts = {};
  size_t to = table->first;
  do {
    values_[to++] = values_[IndexOf(*table, counts)];
  } while (Next(most, &counts));
  values_.resize(to);
  table->most = most;
}

bool MixTree::Fits(std::span<const int64_t> free,
                   const MixCounts& counts) const {
  for (uint32_t r = 0; r < question_.resources; ++r) {
    int64_t need = 0;
    for (uint32_t k = 0; k < role_types(); ++k) {
      need += question_.demand[size_t{k} * question_.resources + r] * counts[k];
    }
    if (need > free[r]) return false;
  }
  return true;
}

// The best way to part every vector of counts between a and b. False if the
// steps end.
bool MixTree::Merge(const Table& one, const Table& other, Table* sum) {
  const uint32_t last = role_types() - 1;
  // Rows run along the table that is longer in the last role type.
  const bool swap = other.most[last] > one.most[last];
  const Table& a = swap ? other : one;
  const Table& b = swap ? one : other;
  MixCounts most{};
  for (uint32_t k = 0; k < role_types(); ++k) {
    most[k] = std::min(question_.want[k], a.most[k] + b.most[k]);
  }
  *sum = MakeTable(most);
  MixCounts y{};
  size_t at = b.first;
  do {
    const int64_t add = values_[at++];
    if (!Possible(add)) continue;
    if (steps_ > question_.budget) {
      out_of_steps_ = true;
      return false;
    }
    // Rows: all counts but the last role type's.
    MixCounts rows{};
    for (uint32_t k = 0; k < last; ++k) {
      rows[k] = std::min(a.most[k], most[k] - y[k]);
    }
    const size_t length = std::min(a.most[last], most[last] - y[last]) + 1;
    MixCounts x{};
    do {
      MixCounts both = y;
      for (uint32_t k = 0; k < last; ++k) both[k] += x[k];
      const int64_t* from = values_.data() + IndexOf(a, x);
      int64_t* to = values_.data() + IndexOf(*sum, both);
      for (size_t i = 0; i < length; ++i) {
        const int64_t value = from[i] + add;
        to[i] = value > to[i] ? value : to[i];
      }
      steps_ += 1 + length / kSumsPerStep;
    } while (Next(rows, &x));
  } while (Next(b.most, &y));
  return true;
}

void MixTree::PushKey(int level, std::span<const int64_t> fixed_traffic,
                      bool has_fixed) {
  keys_.push_back(level);
  keys_.push_back(has_fixed ? 1 : 0);
  keys_.insert(keys_.end(), fixed_traffic.begin(), fixed_traffic.end());
}

// Rehashes into a table twice as large.
void MixTree::Grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), 0);
  for (uint32_t t = 0; t < domain_types_.size(); ++t) {
    const DomainType& type = domain_types_[t];
    size_t slot = HashRow(
        std::span<const int64_t>(keys_.data() + type.key, type.key_size));
    while (slots_[slot & (slots_.size() - 1)] != 0) ++slot;
    slots_[slot & (slots_.size() - 1)] = t + 1;
  }
}

// The type with the key that ends keys_, which goes if it is known. False if it
// is new: it is made, and its tables are to be.
bool MixTree::FindDomainType(size_t key, uint32_t* type) {
  if (slots_.size() < 2 * (domain_types_.size() + 1)) Grow();
  const std::span<const int64_t> wanted(keys_.data() + key, keys_.size() - key);
  steps_ += 1 + wanted.size() / kSumsPerStep;
  size_t slot = HashRow(wanted);
  for (;; ++slot) {
    const uint32_t found = slots_[slot & (slots_.size() - 1)];
    if (found == 0) break;
    const DomainType& known = domain_types_[found - 1];
    const std::span<const int64_t> other(keys_.data() + known.key,
                                         known.key_size);
    if (!std::equal(wanted.begin(), wanted.end(), other.begin(), other.end())) {
      continue;
    }
    *type = found - 1;
    keys_.resize(key);
    return true;
  }
  *type = static_cast<uint32_t>(domain_types_.size());
  slots_[slot & (slots_.size() - 1)] = *type + 1;
  domain_types_.push_back({.key = key, .key_size = wanted.size()});
  return false;
}

void MixTree::Open(int level, std::span<const int64_t> fixed_traffic,
                   bool has_fixed) {
  frames_.push_back({level, stack_.size(), fixed_traffics_.size(), has_fixed});
  fixed_traffics_.insert(fixed_traffics_.end(), fixed_traffic.begin(),
                         fixed_traffic.end());
}

void MixTree::Leaf(uint32_t id, std::span<const uint32_t> most,
                   std::span<const int64_t> free,
                   std::span<const int64_t> fixed_traffic, bool has_fixed) {
  MixCounts cap{};
  bool any = false;
  for (uint32_t k = 0; k < role_types(); ++k) {
    cap[k] = std::min(most[k], question_.want[k]);
    any = any || cap[k] > 0;
  }
  if (steps_ > question_.budget) out_of_steps_ = true;
  if (!any || out_of_steps_) return;
  // Nodes with enough for all that `most` lets in are alike.
  const bool enough = Fits(free, cap);
  const size_t key = keys_.size();
  PushKey(hosts(), fixed_traffic, has_fixed);
  keys_.insert(keys_.end(), cap.begin(), cap.begin() + role_types());
  if (!enough) keys_.insert(keys_.end(), free.begin(), free.end());
  uint32_t type = 0;
  if (!FindDomainType(key, &type)) {
    Table table = MakeTable(cap);
    MixCounts counts{};
    size_t at = table.first;
    do {
      if (enough || Fits(free, counts)) values_[at] = 0;
      ++at;
    } while (Next(cap, &counts));
    Judge(hosts(), fixed_traffic, has_fixed, &table);
    Trim(&table);
    domain_types_[type].table = table;
  }
  if (Size(domain_types_[type].table.most) > 1) {
    stack_.push_back({.type = type, .id = id});
  }
}

// For a node of a new type: the tables over its first children.
bool MixTree::AddAll(const Node& node) {
  const size_t first = sums_.size();
  domain_types_[node.type].first_sum = first;
  sums_.push_back(domain_types_[items_[node.first].type].table);
  for (uint32_t i = 1; i < node.count; ++i) {
    const Node& child = items_[node.first + i];
    Table sum;
    if (!Merge(sums_[first + i - 1], domain_types_[child.type].table, &sum)) {
      return false;
    }
    sums_.push_back(sum);
  }
  return true;
}

// Moves the children, sorted by type, to items_: of those that look alike no
// more than could all have tasks.
void MixTree::KeepUseful(size_t first) {
  for (size_t i = first; i < stack_.size();) {
    const uint32_t type = stack_[i].type;
    uint64_t useful = 0;
    for (uint32_t k = 0; k < role_types(); ++k) {
      if (domain_types_[type].table.most[k] > 0) useful += question_.want[k];
    }
    for (; i < stack_.size() && stack_[i].type == type; ++i) {
      if (useful == 0) continue;
      --useful;
      items_.push_back(stack_[i]);
    }
  }
}

// Makes one node of the frame's children, if there are any. False if the steps
// end.
bool MixTree::Combine(const Frame& frame, Node* node) {
  if (out_of_steps_ || stack_.size() == frame.children) return false;
  // The least roomy first, so that they are filled first.
  const auto size = [&](const Node& n) {
    return std::tuple(Size(domain_types_[n.type].table.most), n.type, n.id,
                      n.first);
  };
  std::ranges::sort(std::span(stack_).subspan(frame.children), {}, size);
  node->first = static_cast<uint32_t>(items_.size());
  KeepUseful(frame.children);
  node->count = static_cast<uint32_t>(items_.size()) - node->first;
  const std::span<const int64_t> fixed_traffic(
      fixed_traffics_.data() + frame.fixed_traffic, role_types());
  const size_t key = keys_.size();
  PushKey(frame.level, fixed_traffic, frame.has_fixed);
  for (uint32_t c = 0; c < node->count; ++c) {
    keys_.push_back(items_[node->first + c].type);
  }
  if (FindDomainType(key, &node->type)) return true;
  if (!AddAll(*node)) return false;
  const Table& sum = sums_.back();
  Table table = MakeTable(sum.most);
  std::copy_n(values_.begin() + sum.first, Size(sum.most),
              values_.begin() + table.first);
  Judge(frame.level, fixed_traffic, frame.has_fixed, &table);
  Trim(&table);
  domain_types_[node->type].table = table;
  return true;
}

MixTree::Item MixTree::Close() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  Node node;
  const bool made = Combine(frame, &node);
  stack_.resize(frame.children);
  fixed_traffics_.resize(frame.fixed_traffic);
  if (!made) return kNone;
  if (frames_.empty()) {
    items_.push_back(node);
    return static_cast<Item>(items_.size()) - 1;
  }
  if (Size(domain_types_[node.type].table.most) > 1) stack_.push_back(node);
  return kNone;
}

bool MixTree::Best(Item item, int64_t* worth) const {
  const Table& table = domain_types_[items_[item].type].table;
  MixCounts want{};
  for (uint32_t k = 0; k < role_types(); ++k) {
    want[k] = question_.want[k];
    if (table.most[k] < want[k]) return false;
  }
  *worth = values_[IndexOf(table, want)];
  return Possible(*worth);
}

// What the child gets of `counts`, of which the rest is parted among those
// before it: the fewest.
MixCounts MixTree::Split(const Table& rest, const Table& child, int64_t value,
                         const MixCounts& counts) const {
  MixCounts most{};
  for (uint32_t k = 0; k < role_types(); ++k) {
    most[k] = std::min(child.most[k], counts[k]);
  }
  MixCounts y{};
  do {
    MixCounts left{};
    bool inside = true;
    for (uint32_t k = 0; k < role_types(); ++k) {
      left[k] = counts[k] - y[k];
      inside = inside && left[k] <= rest.most[k];
    }
    if (!inside) continue;
    const int64_t a = values_[IndexOf(rest, left)];
    const int64_t b = values_[IndexOf(child, y)];
    if (Possible(a) && Possible(b) && a + b == value) return y;
  } while (Next(most, &y));
  return {};
}

void MixTree::Descend(Item item, const MixCounts& counts,
                      std::vector<LeafShare>* shares) {
  const Node node = items_[item];
  if (node.count == 0) {
    shares->push_back({node.id, counts});
    return;
  }
  MixCounts left = counts;
  const size_t first_sum = domain_types_[node.type].first_sum;
  for (uint32_t c = node.count; c > 0; --c) {
    const Item child = node.first + c - 1;
    MixCounts part = left;
    if (c > 1) {
      const Table& sum = sums_[first_sum + c - 1];
      part = Split(sums_[first_sum + c - 2],
                   domain_types_[items_[child].type].table,
                   values_[IndexOf(sum, left)], left);
    }
    bool any = false;
    for (uint32_t k = 0; k < role_types(); ++k) {
      left[k] -= part[k];
      any = any || part[k] > 0;
    }
    if (any) Descend(child, part, shares);
  }
}

void MixTree::Collect(Item item, std::vector<LeafShare>* shares) {
  MixCounts want{};
  std::copy(question_.want.begin(), question_.want.end(), want.begin());
  Descend(item, want, shares);
}

}  // namespace muster::solver
