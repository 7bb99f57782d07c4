// A book of quotas that adds up a list of charges for every question, and trees
// of queues under random changes beside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/queue/quota_checker.h"
#include "test/property/dice.h"

namespace muster {

__extension__ typedef __int128 Sum;
using Amounts = std::vector<int64_t>;  // By kind.

inline const std::vector<std::string> kKinds = {"cpu", "memory", "gpu"};

struct NaiveCharge {
  std::string queue{};
  Amounts amount{};
  bool releasing = false;
};

struct NaiveBook {
  std::map<std::string, Queue> queues{};
  std::vector<NaiveCharge> charges{};

  // The queue, and those above it.
  std::vector<std::string> PathOf(const std::string& key) const {
    std::vector<std::string> path;
    for (std::string k = key; !k.empty(); k = queues.at(k).parent) {
      path.push_back(k);
    }
    return path;
  }
  bool IsAbove(const std::string& above, const std::string& key) const {
    const auto path = PathOf(key);
    return std::find(path.begin(), path.end(), above) != path.end();
  }
  // The path of `key` without what it shares with that of `other`.
  std::vector<std::string> Apart(const std::string& key,
                                 const std::string& other) const {
    auto path = PathOf(key);
    std::erase_if(path, [&](const auto& k) { return IsAbove(k, other); });
    return path;
  }
  Sum Used(const std::string& key, size_t kind, bool both) const {
    Sum used = 0;
    for (const NaiveCharge& c : charges) {
      if ((both || !c.releasing) && IsAbove(key, c.queue)) {
        used += c.amount[kind];
      }
    }
    return used;
  }
  std::optional<int64_t> Said(const std::string& key, size_t kind,
                              std::optional<int64_t> Quota::* what) const {
    for (const Quota& quota : queues.at(key).quotas) {
      if (quota.resource == kKinds[kind]) return quota.*what;
    }
    return std::nullopt;
  }
  // What bounds it: its limit, or what it may borrow beyond its own.
  std::optional<Sum> Limit(const std::string& key, size_t kind) const {
    const auto limit = Said(key, kind, &Quota::limit);
    const auto borrow = Said(key, kind, &Quota::borrow_limit);
    std::optional<Sum> most;
    if (limit) most = *limit;
    if (!borrow) return most;
    const Sum all = Entitled(key, kind) + *borrow;
    return most ? std::min(*most, all) : all;
  }
  Sum Entitled(const std::string& key, size_t kind) const {
    if (const auto own = Guarantee(key, kind)) return *own;
    Sum sum = 0;
    for (const auto& [child, queue] : queues) {
      if (queue.parent == key) sum += Entitled(child, kind);
    }
    return sum;
  }
  std::optional<int64_t> Guarantee(const std::string& key, size_t kind) const {
    return Said(key, kind, &Quota::guarantee);
  }

  // The least that is left on the path, if anything is bounded.
  std::optional<Sum> Room(const std::string& key, size_t kind,
                          bool both) const {
    std::optional<Sum> room;
    for (const std::string& k : PathOf(key)) {
      const auto limit = Limit(k, kind);
      if (!limit) continue;
      const Sum left = std::max<Sum>(*limit - Used(k, kind, both), 0);
      room = std::min(left, room.value_or(left));
    }
    return room;
  }
  // Whose limit does not hold with `more` beside what is used.
  std::string OverLimit(const std::string& key, const Amounts& asked,
                        const Amounts& more, bool both) const {
    for (const std::string& k : PathOf(key)) {
      for (size_t kind = 0; kind < kKinds.size(); ++kind) {
        const auto limit = Limit(k, kind);
        if (asked[kind] == 0 || !limit) continue;
        if (Used(k, kind, both) + more[kind] > *limit) {
          return k + " " + kKinds[kind];
        }
      }
    }
    return "";
  }
  bool Within(const std::string& key, const Amounts& demand) const {
    bool says = false;
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      const auto guarantee = Guarantee(key, kind);
      if (demand[kind] == 0 || !guarantee) continue;
      says = true;
      if (Used(key, kind, false) + demand[kind] > *guarantee) return false;
    }
    return says;
  }
  bool IsOwed(const std::string& key, size_t kind, int64_t demand) const {
    const auto guarantee = Guarantee(key, kind);
    return guarantee && Used(key, kind, false) + demand <= *guarantee;
  }
  // What the policies say of the queue, or of the nearest above it.
  template <class T>
  T Policy(const std::string& key, std::optional<T> PreemptionPolicy::* what,
           T otherwise) const {
    for (const std::string& k : PathOf(key)) {
      if (const auto said = queues.at(k).preemption.*what) return *said;
    }
    return otherwise;
  }
  PreemptAcross Across(const std::string& key) const {
    return Policy(key, &PreemptionPolicy::across, PreemptAcross::kAny);
  }
  bool Borrows(const std::string& key) const {
    return Policy(key, &PreemptionPolicy::borrowing,
                  PreemptBorrowing::kNever) == PreemptBorrowing::kLower;
  }
  bool MayReclaimAtAll(const std::string& preemptor,
                       const Amounts& demand) const {
    for (const std::string& k : PathOf(preemptor)) {
      for (size_t kind = 0; kind < kKinds.size(); ++kind) {
        if (demand[kind] == 0) continue;
        if (Borrows(preemptor) && Guarantee(k, kind)) return true;
        if (Across(preemptor) != PreemptAcross::kNever &&
            IsOwed(k, kind, demand[kind])) {
          return true;
        }
      }
    }
    return false;
  }
  // Whether all of them hold more than they are guaranteed.
  bool Exceed(const std::vector<std::string>& path, size_t kind) const {
    return std::all_of(path.begin(), path.end(), [&](const auto& k) {
      return Used(k, kind, false) > Guarantee(k, kind).value_or(0);
    });
  }
  bool ExceedAny(const std::vector<std::string>& path,
                 const std::set<size_t>& kinds) const {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](size_t kind) { return Exceed(path, kind); });
  }
  // Of which any of them is guaranteed something.
  std::set<size_t> Stated(const std::vector<std::string>& path) const {
    std::set<size_t> kinds;
    for (const std::string& k : path) {
      for (size_t kind = 0; kind < kKinds.size(); ++kind) {
        if (Guarantee(k, kind)) kinds.insert(kind);
      }
    }
    return kinds;
  }
  // By which the demand is judged; none if it is not within all of them, where
  // it takes what it is owed.
  std::set<size_t> Judged(const std::vector<std::string>& path,
                          const Amounts& demand, const Amounts& held,
                          bool owed) const {
    std::set<size_t> kinds;
    for (const size_t kind : Stated(path)) {
      if (demand[kind] == 0 || held[kind] == 0) continue;
      kinds.insert(kind);
      auto says = path;
      std::erase_if(says, [&](const auto& k) { return !Guarantee(k, kind); });
      if (owed && !IsOwed(says.back(), kind, demand[kind])) return {};
    }
    return kinds;
  }
  // Of any priority that gives way at all.
  bool MayReclaim(const std::string& preemptor, const std::string& victim,
                  const Amounts& demand) const {
    const bool across = Across(preemptor) != PreemptAcross::kNever;
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      Amounts held(kKinds.size());
      held[kind] = 1;
      for (const bool owed : {true, false}) {
        if (owed ? !across : !Borrows(preemptor)) continue;
        if (ExceedAny(Apart(victim, preemptor),
                      Judged(Apart(preemptor, victim), demand, held, owed))) {
          return true;
        }
      }
    }
    return false;
  }
  // `asks`: the book in which the demand is judged, before anything is taken.
  bool MayLose(const std::string& victim, const std::string& preemptor,
               const Amounts& demand, const Amounts& held,
               const Priorities& priorities = {},
               const NaiveBook* asks = nullptr) const {
    const NaiveBook& before = asks == nullptr ? *this : *asks;
    const bool lower = priorities.victim < priorities.preemptor;
    const int32_t threshold =
        Policy(preemptor, &PreemptionPolicy::borrowing_threshold,
               std::numeric_limits<int32_t>::max());
    const PreemptAcross across = Across(preemptor);
    const bool takes = across == PreemptAcross::kAny ||
                       (across == PreemptAcross::kLower && lower);
    const bool borrows =
        Borrows(preemptor) && lower && priorities.victim <= threshold;
    return (takes && Loses(victim, preemptor, demand, held, before, true)) ||
           (borrows && Loses(victim, preemptor, demand, held, before, false));
  }
  bool Loses(const std::string& victim, const std::string& preemptor,
             const Amounts& demand, const Amounts& held,
             const NaiveBook& before, bool owed) const {
    const auto its = Apart(victim, preemptor);
    const auto holds_none = [&](size_t kind) { return held[kind] == 0; };
    const std::set<size_t> judged =
        before.Judged(Apart(preemptor, victim), demand, held, owed);
    std::set<size_t> stated = Stated(its), both;
    std::erase_if(stated, holds_none);
    std::set_intersection(judged.begin(), judged.end(), stated.begin(),
                          stated.end(), std::inserter(both, both.end()));
    if (!both.empty()) return ExceedAny(its, both);
    return ExceedAny(its, judged) && (stated.empty() || ExceedAny(its, stated));
  }
  bool HasPolicies() const {
    return std::any_of(queues.begin(), queues.end(), [](const auto& each) {
      return each.second.preemption != PreemptionPolicy{};
    });
  }
};

inline Resources ToResources(const Amounts& amounts) {
  Resources all;
  for (uint32_t k = 0; k < amounts.size(); ++k) all.Set(k, amounts[k]);
  return all;
}

// A tree under random changes, and the book of them.
class World {
 public:
  explicit World(uint64_t seed)
      : dice_(seed),
        scale_(dice_.OneIn(3) ? int64_t{1} << 55 : 1),
        policies_(dice_.OneIn(2)) {
    for (int i = 0; i < 4; ++i) PutQueue();
  }

  Amounts SomeAmounts() {
    Amounts amounts;
    for (size_t k = 0; k < kKinds.size(); ++k) {
      amounts.push_back(dice_.OneIn(3) ? dice_.In(1, 4) * scale_ : 0);
    }
    return amounts;
  }
  std::string SomeQueue() {
    return std::next(book_.queues.begin(), dice_.Below(Count()))->first;
  }
  std::string SomeLeaf() {
    while (true) {
      const std::string key = SomeQueue();
      if (IsLeaf(key)) return key;
    }
  }
  uint32_t Count() const { return static_cast<uint32_t>(book_.queues.size()); }
  const NaiveBook& book() const { return book_; }
  const QueueTree& tree() const { return tree_; }
  const QuotaChecker& quota() const { return quota_; }
  QueueIndex At(const std::string& key) const { return tree_.Find(key); }
  bool IsLeaf(const std::string& key) const { return tree_.IsLeaf(At(key)); }
  Priorities SomePriorities() {
    return {.preemptor = static_cast<int32_t>(dice_.Below(5)),
            .victim = static_cast<int32_t>(dice_.Below(5))};
  }

  void Change() {
    switch (dice_.Below(6)) {
      case 0:
        return PutQueue();
      case 1:
        return RemoveQueue();
      case 2:
      case 3:
        return AddCharge(SomeQueue(), SomeAmounts(), dice_.OneIn(3));
      case 4:
        return TakeCharge();
      default:
        return PutAndTakeBack();
    }
  }
  void AddCharge(const std::string& key, const Amounts& amount, bool releases) {
    if (book_.charges.size() == 12) return;
    book_.charges.push_back({key, amount, releases});
    Charge(book_.charges.back(), 1);
  }

 private:
  void Charge(const NaiveCharge& c, int64_t sign) {
    if (c.releasing) {
      tree_.ChargeReleasing(At(c.queue), ToResources(c.amount), sign);
    } else {
      tree_.Charge(At(c.queue), ToResources(c.amount), sign);
    }
  }
  void TakeCharge() {
    if (book_.charges.empty()) return;
    const auto it = book_.charges.begin() +
                    dice_.Below(static_cast<uint32_t>(book_.charges.size()));
    Charge(*it, -1);
    book_.charges.erase(it);
  }
  std::optional<int64_t> SomeQuota() {
    if (dice_.OneIn(2)) return std::nullopt;
    return dice_.In(0, 10) * scale_;
  }
  PreemptionPolicy SomePolicy() {
    PreemptionPolicy policy;
    const auto said = [&] { return policies_ && dice_.OneIn(2); };
    if (said()) policy.within = static_cast<PreemptWithin>(dice_.Below(3));
    if (said()) policy.across = static_cast<PreemptAcross>(dice_.Below(3));
    if (said())
      policy.borrowing = static_cast<PreemptBorrowing>(dice_.Below(2));
    if (said())
      policy.borrowing_threshold = static_cast<int32_t>(dice_.Below(4));
    return policy;
  }
  Queue SomeValues(const std::string& key) {
    Queue queue{.key = key};
    if (Count() > 0 && !dice_.OneIn(4)) queue.parent = SomeQueue();
    if (book_.queues.contains(key) && !queue.parent.empty() &&
        book_.IsAbove(key, queue.parent)) {
      queue.parent.clear();
    }
    for (const std::string& kind : kKinds) {
      if (dice_.OneIn(2)) continue;
      Quota& quota = queue.quotas.emplace_back();
      quota.resource = kind;
      quota.limit = SomeQuota();
      quota.guarantee = SomeQuota();
      if (dice_.OneIn(3)) quota.borrow_limit = SomeQuota();
    }
    if (dice_.OneIn(2)) queue.preemption = SomePolicy();
    return queue;
  }
  void PutQueue() {
    const Queue queue = SomeValues(std::string(1, 'a' + dice_.Below(8)));
    book_.queues[queue.key] = queue;
    tree_.Upsert(queue);
  }
  void RemoveQueue() {
    const std::string key = SomeQueue();
    if (Count() == 1 || !IsLeaf(key)) return;
    if (std::any_of(book_.charges.begin(), book_.charges.end(),
                    [&](const auto& c) { return c.queue == key; })) {
      return;
    }
    tree_.Remove(At(key));
    if (dice_.OneIn(2)) {
      tree_.UndoRemove(book_.queues.at(key));
    } else {
      book_.queues.erase(key);
    }
  }
  void PutAndTakeBack() { tree_.UndoAdd(tree_.Upsert(SomeValues("z"))); }

  Dice dice_;
  const int64_t scale_;
  const bool policies_;  // Some queues have policies of preemption.
  NaiveBook book_{};
  QueueTree tree_{kKinds};
  QuotaChecker quota_{tree_};
};

}  // namespace muster
