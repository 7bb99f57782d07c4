#include "test/solver/tree_knapsack_oracle.h"

#include <algorithm>
#include <numeric>

namespace muster::solver_test {

using solver::TreeAnswer;
using solver::TreeQuestion;

// --- Trees -------------------------------------------------------------------

NumberTree::NumberTree(size_t levels)
    : children_(levels), slots_(levels), parent_(levels) {}

NumberTree NumberTree::Parse(std::string_view text) {
  const size_t first_number = text.find_first_not_of("( ");
  NumberTree tree(static_cast<size_t>(
      std::count(text.begin(), text.begin() + first_number, '(') + 1));
  size_t level = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '(') {
      tree.children_[level].push_back(tree.size(static_cast<int>(level) + 1));
      tree.slots_[level++].push_back(0);
      ++i;
    } else if (text[i] == ')') {
      --level, ++i;
    } else if (text[i] == ' ') {
      ++i;
    } else {
      size_t used = 0;
      tree.slots_[level].push_back(static_cast<uint32_t>(
          std::stoul(std::string(text.substr(i)), &used)));
      i += used;
    }
  }
  tree.Finish();
  return tree;
}

NumberTree NumberTree::Make(
    const std::vector<std::function<uint32_t()>>& fanouts,
    const std::function<uint32_t()>& leaf) {
  NumberTree tree(fanouts.size());
  tree.slots_[0].assign(fanouts[0](), 0);
  for (size_t l = 1; l < fanouts.size(); ++l) {
    std::vector<uint32_t>& narrow = tree.slots_[l];
    for (size_t i = 0; i < tree.slots_[l - 1].size(); ++i) {
      tree.children_[l - 1].push_back(static_cast<uint32_t>(narrow.size()));
      narrow.resize(narrow.size() + fanouts[l]());
    }
  }
  for (uint32_t& slots : tree.slots_.back()) slots = leaf();
  tree.Finish();
  return tree;
}

// From the leaves and the first children: everything else.
void NumberTree::Finish() {
  nodes_.assign(slots_.back().begin(), slots_.back().end());
  for (int l = 0; l < levels(); ++l) parent_[l].resize(size(l));
  for (int l = levels() - 1; l > 0; --l) {
    children_[l - 1].push_back(size(l));
    for (uint32_t i = 0; i < size(l - 1); ++i) {
      slots_[l - 1][i] = 0;
      for (uint32_t c = first(l - 1, i); c < end(l - 1, i); ++c) {
        slots_[l - 1][i] += slots_[l][c];
        parent_[l][c] = i;
      }
    }
  }
  for (int l = 0; l < levels(); ++l) {
    spans_.push_back({children_[l], slots_[l]});
  }
}

TreeQuestion NumberTree::Ask(uint32_t tasks) const {
  TreeQuestion question;
  question.tasks = tasks;
  question.levels = std::span(spans_).first(spans_.size() - 1);
  question.nodes = nodes_;
  question.budget = UINT64_MAX;
  return question;
}

uint64_t NumberTree::total() const {
  return std::accumulate(slots_.back().begin(), slots_.back().end(),
                         uint64_t{0});
}

std::string NumberTree::ToString() const {
  const std::function<std::string(int, uint32_t)> text = [&](int l,
                                                             uint32_t i) {
    if (l + 1 == levels()) return std::to_string(slots(l, i));
    std::string inside = "(";
    for (uint32_t c = first(l, i); c < end(l, i); ++c) {
      if (c > first(l, i)) inside += ' ';
      inside += text(l + 1, c);
    }
    return inside + ")";
  };
  std::string all;
  for (uint32_t i = 0; i < size(0); ++i) all += text(0, i) + ' ';
  return all;
}

// --- Oracles -----------------------------------------------------------------

Counts BruteForce(const NumberTree& tree, uint32_t tasks) {
  const int leaves = tree.levels() - 1;
  Counts best;
  for (uint32_t set = 1; set < 1u << tree.size(leaves); ++set) {
    std::vector<std::vector<bool>> used(tree.levels());
    for (int l = 0; l <= leaves; ++l) used[l].resize(tree.size(l));
    uint64_t slots = 0;
    for (uint32_t leaf = 0; leaf < tree.size(leaves); ++leaf) {
      if ((set >> leaf & 1) == 0) continue;
      slots += tree.slots(leaves, leaf);
      uint32_t domain = leaf;
      for (int l = leaves; l >= 0; --l) {
        used[l][domain] = true;
        domain = tree.parent(l, domain);
      }
    }
    if (slots < tasks) continue;
    Counts counts;
    for (const std::vector<bool>& level : used) {
      counts.push_back(
          static_cast<uint32_t>(std::count(level.begin(), level.end(), true)));
    }
    if (best.empty() || counts < best) best = counts;
  }
  return best;
}

namespace {

// table[t]: the least counts with which t tasks or more are taken; empty: not
// at all.
using Table = std::vector<Counts>;

Table TableOf(const NumberTree& tree, int level, uint32_t i, uint32_t tasks) {
  const Counts none(tree.levels(), 0);
  Table table(tasks + 1);
  table[0] = none;
  if (level + 1 == tree.levels()) {
    for (uint32_t t = 1; t <= std::min(tasks, tree.slots(level, i)); ++t) {
      table[t] = none;
      table[t][level] = 1;
    }
    return table;
  }
  for (uint32_t c = tree.first(level, i); c < tree.end(level, i); ++c) {
    const Table child = TableOf(tree, level + 1, c, tasks);
    Table merged(tasks + 1);
    for (uint32_t a = 0; a <= tasks; ++a) {
      if (table[a].empty()) continue;
      for (uint32_t b = 0; b <= tasks && !child[b].empty(); ++b) {
        Counts sum = table[a];
        for (size_t l = 0; l < sum.size(); ++l) sum[l] += child[b][l];
        Counts& into = merged[std::min(a + b, tasks)];
        if (into.empty() || sum < into) into = sum;
      }
    }
    // With t tasks or more: what takes more serves as well.
    for (uint32_t t = tasks; t-- > 0;) {
      if (!merged[t + 1].empty() &&
          (merged[t].empty() || merged[t + 1] < merged[t])) {
        merged[t] = merged[t + 1];
      }
    }
    table = std::move(merged);
  }
  for (uint32_t t = 1; t <= tasks; ++t) {
    if (!table[t].empty() && level >= 0) ++table[t][level];
  }
  return table;
}

}  // namespace

Counts MinPlus(const NumberTree& tree, uint32_t tasks) {
  // A domain around everything, which is not counted.
  Table table(tasks + 1);
  table[0] = Counts(tree.levels(), 0);
  for (uint32_t i = 0; i < tree.size(0); ++i) {
    const Table child = TableOf(tree, 0, i, tasks);
    Table merged = table;
    for (uint32_t a = 0; a <= tasks; ++a) {
      for (uint32_t b = 0; b <= tasks; ++b) {
        if (table[a].empty() || child[b].empty()) continue;
        Counts sum = table[a];
        for (size_t l = 0; l < sum.size(); ++l) sum[l] += child[b][l];
        Counts& into = merged[std::min(a + b, tasks)];
        if (into.empty() || sum < into) into = sum;
      }
    }
    table = std::move(merged);
  }
  return table[tasks];
}

// --- Answers -----------------------------------------------------------------

std::string Complaint(const NumberTree& tree, const TreeQuestion& question,
                      const TreeAnswer& answer) {
  const int leaves = tree.levels() - 1;
  if (answer.levels.size() != static_cast<size_t>(tree.levels())) {
    return "levels are missing";
  }
  std::vector<uint64_t> tasks(tree.size(leaves));
  uint64_t sum = 0;
  int64_t last = -1;
  for (const TreeAnswer::PositionTasks& share : answer.shares) {
    const std::string at = " at " + std::to_string(share.position);
    if (share.position <= last) return "not in order" + at;
    last = share.position;
    if (share.tasks == 0) return "a share of nothing" + at;
    if (share.tasks > tree.slots(leaves, share.position))
      return "too much" + at;
    tasks[share.position] = share.tasks;
    sum += share.tasks;
  }
  if (sum != question.tasks) return "not all tasks";
  bool proven = true;
  for (int l = leaves; l >= 0; --l) {
    const std::string at = " at level " + std::to_string(l);
    const auto used = tasks.size() - std::ranges::count(tasks, 0u);
    if (answer.levels[l].used != used) return "miscount" + at;
    if (answer.levels[l].least > answer.levels[l].used) return "no bound" + at;
    proven &= answer.levels[l].least == answer.levels[l].used;
    if (l == 0) break;
    std::vector<uint64_t> around(tree.size(l - 1));
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      around[tree.parent(l, i)] += tasks[i];
    }
    tasks = std::move(around);
  }
  if (proven != answer.optimal) return "the bounds say otherwise";
  return "";
}

Counts Used(const TreeAnswer& answer) {
  Counts counts;
  for (const Certificate::Level& level : answer.levels) {
    counts.push_back(level.used);
  }
  return counts;
}

Counts Least(const TreeAnswer& answer) {
  Counts counts;
  for (const Certificate::Level& level : answer.levels) {
    counts.push_back(level.least);
  }
  return counts;
}

}  // namespace muster::solver_test
