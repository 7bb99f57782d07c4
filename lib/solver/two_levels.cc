#include "lib/solver/two_levels.h"

#include <algorithm>

#include "lib/base/fraction.h"
#include "lib/solver/fewest.h"

namespace muster::solver {
namespace {

constexpr int kRounds = 16;  // Prices tried for one root.

}  // namespace

// Whatever is used, and whatever the price p of a child: `count` domains with K
// children take at most  p x K + value(p)  tasks, value(p) being the sum of the
// `count` domains that are worth most, each the sum over its children of what
// they have above p. So K is at least (tasks - value) / p.
template <class T>
uint64_t TwoLevels::Search(const CoverQuestion<T>& question,
                           std::span<const Root> roots, uint32_t used,
                           uint64_t covered) {
  looked_at_ = 0;
  used_ = used;
  covered_ = covered;
  price_ = 0;
  chosen_.clear();
  rounded_.clear();
  uint32_t least = ~0u;
  for (const Root root : roots) {
    least = std::min(least, SearchRoot(question, root));
  }
  least_ = std::min(least, used_);
  return looked_at_;
}

// At no price: all that the largest domains can take, and at the most all their
// children (a line that falls too fast is below the curve, too).
template <class T>
TwoLevels::Line TwoLevels::AtZero(const CoverQuestion<T>& q, Root root) {
  worth_.clear();
  for (uint32_t d = root.begin; d < root.end; ++d) {
    worth_.push_back(
        {int64_t{q.slots[d]} << kShift, d, q.children[d + 1] - q.children[d]});
  }
  return TakeMost(0, q.count, [](const Worth& a, const Worth& b) {
    return a.value > b.value;
  });
}

// Keeps the first of worth_ in this order.
template <class Before>
TwoLevels::Line TwoLevels::TakeMost(int64_t price, uint32_t count,
                                    const Before& before) {
  std::nth_element(worth_.begin(), worth_.begin() + (count - 1), worth_.end(),
                   before);
  worth_.resize(count);
  Line line{price, 0, 0};
  for (const Worth& w : worth_) {
    line.value += w.value;
    line.uses += w.uses;
  }
  return line;
}

// Leaves the domains worth most in picked_.
template <class T>
TwoLevels::Line TwoLevels::Evaluate(const CoverQuestion<T>& q, Root root,
                                    int64_t price) {
  const auto limit = static_cast<uint32_t>(price >> kShift);
  const size_t domains = root.end - root.begin;
  above_.resize(domains);
  index::SumAbove(q.child_slots, q.children.subspan(root.begin, domains + 1),
                  limit, above_.data());
  looked_at_ += q.children[root.end] - q.children[root.begin];
  worth_.clear();
  for (uint32_t i = 0; i < domains; ++i) {
    worth_.push_back(
        {(int64_t{above_[i].sum} << kShift) - price * above_[i].count,
         root.begin + i, above_[i].count});
  }
  const Line line =
      TakeMost(price, q.count, [](const Worth& a, const Worth& b) {
        return a.value != b.value ? a.value > b.value : a.domain < b.domain;
      });
  picked_.clear();
  for (const Worth& w : worth_) picked_.push_back(w.domain);
  return line;
}

// The picked domains, if they hold the tasks, with the fewest of their
// children.
template <class T>
void TwoLevels::Round(const CoverQuestion<T>& q) {
  std::ranges::sort(picked_);
  if (picked_ == rounded_) return;
  rounded_ = picked_;
  uint64_t slots = 0;
  for (const uint32_t d : picked_) slots += q.slots[d];
  if (slots < q.tasks) return;
  gathered_.clear();
  for (const uint32_t d : picked_) {
    const auto children =
        q.child_slots.subspan(q.children[d], q.children[d + 1] - q.children[d]);
    gathered_.insert(gathered_.end(), children.begin(), children.end());
  }
  looked_at_ += gathered_.size();
  const std::span<const uint32_t> gathered(gathered_);
  const uint32_t used = Fewest(gathered, index::Greatest(gathered), q.tasks);
  if (used > used_ || (used == used_ && slots >= covered_)) return;
  used_ = used;
  covered_ = slots;
  chosen_ = picked_;
}

// The least that the root needs, as far as prices tell; used_ or more if it is
// known not to do with less. The curve is convex: of a line that falls and one
// that rises, both with the price paid for the children that are needed at the
// least, the crossing is tried next.
template <class T>
uint32_t TwoLevels::SearchRoot(const CoverQuestion<T>& q, Root root) {
  const auto needed = int64_t{q.tasks} << kShift;
  Line low = AtZero(q, root);
  const auto children = q.child_slots.subspan(
      q.children[root.begin], q.children[root.end] - q.children[root.begin]);
  const int64_t most = int64_t{index::Greatest(children)} << kShift;
  Line high{most, 0, 0};
  auto least = static_cast<uint32_t>(CeilDiv(needed, most));
  int64_t price = price_;
  for (int round = 0; round < kRounds && least < used_; ++round) {
    if (price <= low.price || price >= high.price) {
      if (high.uses >= low.uses) break;
      price = (low.value + low.uses * low.price - high.value -
               high.uses * high.price) /
              (low.uses - high.uses);
      if (price <= low.price || price >= high.price) break;
    }
    const Line line = Evaluate(q, root, price);
    if (line.value < needed) {
      least = std::max(
          least, static_cast<uint32_t>(CeilDiv(needed - line.value, price)));
    }
    if (least <= used_) Round(q);
    (line.uses < least ? high : low) = line;
    price_ = price;
    price = 0;
  }
  return least;
}

template uint64_t TwoLevels::Search<uint32_t>(const CoverQuestion<uint32_t>&,
                                              std::span<const Root>, uint32_t,
                                              uint64_t);
template uint64_t TwoLevels::Search<uint16_t>(const CoverQuestion<uint16_t>&,
                                              std::span<const Root>, uint32_t,
                                              uint64_t);

}  // namespace muster::solver
