#include "lib/preempt/exchange.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace muster::preempt {
namespace {

// More are not compared with each other: the cheapest are.
constexpr size_t kMostBundles = 1024;
// How often sets that are large enough, and have no room after all, are left
// for larger ones.
constexpr int kMostTargets = 8;

enum : uint8_t { kNotAsked, kTogether, kExclude };

}  // namespace

bool Exchange::Build(const VictimRegion& region, uint64_t steps) {
  const uint64_t first = problem_.searched();
  const auto spent = [&] {
    return problem_.Exhausted() || problem_.searched() - first >= steps;
  };
  size_t target = 0;
  for (size_t n = 0; n < problem_.needs().size(); ++n) {
    target += region_slots_.Lacking(n, 0);
  }
  FindBundles(region);
  if (target == 0 || bundles_.size() < target) return false;
  dice_ = Dice(problem_.request().victim_steps);
  for (int targets = 0; targets < kMostTargets; ++targets, ++target) {
    while (taken_.size() < target) {
      if (bundles_.size() < target || spent() || !problem_.Spend()) {
        return false;
      }
      PutIn(Choose());
    }
    if (TakeAll() && region_slots_.Fits()) return true;
    victims_.Clear();
    if (spent()) return false;
  }
  return false;
}

// The victims for which each node gives a slot, with no others gone.
void Exchange::FindBundles(const VictimRegion& region) {
  bundles_.clear();
  taken_.clear();
  turn_ = 0;
  for (const NodeIndex node : region.nodes) {
    ExclusiveBundle bundle;
    if (!problem_.Spend()) break;
    if (!greedy_.OneSlot(node, 0, &bundle.moves, &bundle.added)) continue;
    bundles_.push_back(std::move(bundle));
  }
  std::ranges::stable_sort(bundles_, {}, &ExclusiveBundle::added);
  if (bundles_.size() > kMostBundles) bundles_.resize(kMostBundles);
  known_.assign(bundles_.size() * bundles_.size(), kNotAsked);
}

// Enters what the bundle asks for beyond what is entered; false, with a part of
// it, if the policy refuses.
bool Exchange::Enter(const ExclusiveBundle& bundle) {
  return std::ranges::all_of(bundle.moves, [&](const Victim& move) {
    return victims_.entered(move.candidate) >= move.tasks ||
           victims_.Enter(move.candidate, move.tasks);
  });
}

// Whether the policy refuses the two together.
bool Exchange::Clash(size_t a, size_t b) {
  uint8_t& known = known_[std::min(a, b) * bundles_.size() + std::max(a, b)];
  if (known == kNotAsked) {
    const size_t mark = victims_.Mark();
    const bool together = Enter(bundles_[a]) && Enter(bundles_[b]);
    victims_.RevertTo(mark);
    known = together ? kTogether : kExclude;
  }
  return known == kExclude;
}

// Of those outside, one with the fewest clashes; of equal ones, that which has
// been outside the longest; of equal ones, any.
size_t Exchange::Choose() {
  size_t best = bundles_.size();
  uint64_t equal = 0;
  const auto key = [&](size_t b) {
    return std::tie(bundles_[b].clashes, bundles_[b].left);
  };
  for (size_t b = 0; b < bundles_.size(); ++b) {
    if (bundles_[b].taken) continue;
    if (best == bundles_.size() || key(b) < key(best)) {
      best = b;
      equal = 1;
    } else if (key(b) == key(best) && dice_.Below(++equal) == 0) {
      best = b;
    }
  }
  problem_.Charge(bundles_.size(), kLookNs);
  return best;
}

void Exchange::PutIn(size_t in) {
  ++turn_;
  for (size_t b = 0; b < bundles_.size(); ++b) {
    if (b == in || !Clash(in, b)) continue;
    ++bundles_[b].clashes;
    if (bundles_[b].taken) TakeOut(b);
  }
  bundles_[in].taken = true;
  taken_.push_back(in);
}

void Exchange::TakeOut(size_t out) {
  bundles_[out].taken = false;
  bundles_[out].left = turn_;
  std::erase(taken_, out);
  for (size_t b = 0; b < bundles_.size(); ++b) {
    if (b != out && Clash(out, b)) --bundles_[b].clashes;
  }
}

// Takes the victims of all that are in. Where the policy refuses more than two
// together, the first that it refuses goes out again, and false is returned.
bool Exchange::TakeAll() {
  for (const size_t b : taken_) {
    if (Enter(bundles_[b])) continue;
    victims_.Clear();
    TakeOut(b);
    return false;
  }
  victims_.ReleaseEntered();
  return true;
}

}  // namespace muster::preempt
