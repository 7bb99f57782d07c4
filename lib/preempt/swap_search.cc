#include "lib/preempt/swap_search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace muster::preempt {
namespace {

constexpr uint32_t kNone = 0xffffffff;
// Restarts of the search, and the largest distance of a restart in steps.
constexpr uint32_t kKicks = 64;
constexpr uint32_t kAway = 3;
// What any victims cost less than.
constexpr VictimCost kNothing{.cost = std::numeric_limits<int64_t>::max()};

}  // namespace

bool SwapSearch::Improve(const VictimRegion& region, uint64_t steps,
                         std::vector<Victim>* found) {
  goal_ = region_slots_.Lacking(0, 0);
  dice_ = Dice(goal_);
  last_step_ =
      std::min(problem_.searched() + steps, problem_.request().victim_steps);
  found_ = found;
  best_ = kNothing;
  FindPlaces(region);
  StartFrom(*found);
  best_ = {};
  for (const Victim& v : *found) {
    best_ += problem_.CostOf(v.candidate, v.tasks);
  }
  next_ = 0;
  seen_.clear();
  bool improved = Descend();
  (void)Visit();
  if (node_offers_.involved().empty()) return false;
  for (uint32_t kick = 0; kick < kKicks && problem_.searched() < last_step_;
       ++kick) {
    if (best_.Reaches(region.bound)) break;
    if (Kick(1 + kick % kAway)) improved = true;
  }
  return improved;
}

// Descends to a local optimum. Whether that is better.
bool SwapSearch::Descend() {
  bool better = false;
  while (problem_.searched() < last_step_ && Improves()) better = true;
  return better;
}

// Perturbs the solution, whatever that costs, and descends from there, unless
// it has been there. Returns to the best solution if that is no better.
bool SwapSearch::Kick(uint32_t away) {
  const VictimCost best = std::exchange(best_, kNothing);
  before_kick_ = *found_;
  levels_.clear();
  for (const uint32_t p : all_) levels_.push_back(node_offers_.Level(p));
  switch (dice_.Below(3)) {
    case 0:
      BeginAnew(away);
      break;
    case 1:
      TakeNear(away);
      break;
    default:
      LeaveSome(away);
  }
  raised_.assign(raised_.size(), false);
  Trim();
  changes_.clear();
  if (Visit()) {
    (void)Accept();
    Descend();
    (void)Visit();
  }
  if (best_ < best) return true;
  best_ = best;
  *found_ = before_kick_;
  for (const uint32_t p : all_) SetLevel(p, levels_[p]);
  changes_.clear();
  return false;
}

// What is taken is where a descent begins or ends; whether that is so for the
// first time: most restarts come to few of them. By hash: of two alike one is
// not descended from.
bool SwapSearch::Visit() {
  uint64_t hash = 0;
  for (const uint32_t p : all_) {
    hash = (hash + node_offers_.Level(p) + 1) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  if (std::ranges::find(seen_, hash) != seen_.end()) return false;
  seen_.push_back(hash);
  return true;
}

// Restarts from so many random places, filled up with the cheapest.
void SwapSearch::BeginAnew(uint32_t places) {
  for (const uint32_t p : all_) SetLevel(p, 0);
  for (uint32_t i = 0; i < places; ++i) Raise(dice_.Below(all_.size()));
  (void)Fill(kNone);
}

// Raises a random place and those that are the cheapest then: mostly places
// that share victims with it.
void SwapSearch::TakeNear(uint32_t neighbours) {
  Raise(dice_.Below(all_.size()));
  for (uint32_t i = 0; i < neighbours; ++i) {
    const uint32_t p = CheapestOf(all_);
    if (p != kNone) Raise(p);
  }
  Trim();
}

// Leaves out random victims, one after the other, and replaces each.
void SwapSearch::LeaveSome(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const std::vector<Victim>& victims = Victims();
    if (victims.empty()) return;
    const uint32_t c = victims[dice_.Below(victims.size())].candidate;
    LeaveOut(c);
    if (!Fill(c)) return;
  }
}

// --- What nodes give ---------------------------------------------------------

void SwapSearch::FindPlaces(const VictimRegion& region) {
  node_offers_.Begin(region.nodes.size());
  raised_.assign(region.nodes.size(), false);
  all_.resize(region.nodes.size());
  std::iota(all_.begin(), all_.end(), 0);
  std::vector<NodeOffers::Offer> offers;
  for (const uint32_t p : all_) {
    if (problem_.searched() >= last_step_) return;
    FindOffers(region.nodes[p], &offers);
    node_offers_.Add(p, offers);
  }
}

// The offers of the node, with no other victims gone.
void SwapSearch::FindOffers(NodeIndex node,
                            std::vector<NodeOffers::Offer>* offers) {
  offers->clear();
  const uint32_t base = region_slots_.At(0, node);
  std::vector<Victim> moves;
  VictimCost added;
  while (problem_.Spend() && greedy_.OneSlot(node, goal_, &moves, &added)) {
    const bool taken = std::ranges::all_of(moves, [&](const Victim& move) {
      return victims_.Take(move.candidate, move.tasks);
    });
    if (!taken) break;
    const uint32_t slots = region_slots_.At(0, node) - base;
    offers->push_back({slots, victims_.Victims()});
    if (slots >= goal_) break;
  }
  victims_.Clear();
}

// Takes the offers that need no other victims than these.
void SwapSearch::StartFrom(const std::vector<Victim>& victims) {
  std::vector<uint32_t> gone(problem_.candidate_count(), 0);
  for (const Victim& victim : victims) gone[victim.candidate] = victim.tasks;
  for (const uint32_t p : all_) SetLevel(p, node_offers_.LevelWith(p, gone));
  (void)Fill(kNone);
  changes_.clear();
}

// --- Neighbours --------------------------------------------------------------

bool SwapSearch::Improves() {
  FindMostSaved();
  const size_t count = all_.size() + node_offers_.involved().size();
  for (size_t tried = 0; tried < count; ++tried) {
    if (TryNeighbour(next_)) return true;
    next_ = next_ + 1 < count ? next_ + 1 : 0;
  }
  return false;
}

// First those of the places, then those of the candidates.
bool SwapSearch::TryNeighbour(size_t number) {
  if (number < all_.size()) {
    const uint32_t& p = all_[number];
    return !node_offers_.IsFull(p) && TryRaise({&p, 1});
  }
  const uint32_t c = node_offers_.involved()[number - all_.size()];
  if (node_offers_.Gone(c) > 0) return TryWithout(c);
  const std::span<const uint32_t> places = node_offers_.PlacesOf(c);
  return places.size() > 1 && TryRaise(places);
}

void SwapSearch::FindMostSaved() {
  most_saved_.clear();
  most_saved_by_one_ = 0;
  for (const uint32_t p : node_offers_.taken()) {
    most_saved_by_one_ = std::max(most_saved_by_one_, node_offers_.SavedBy(p));
    for (uint32_t level = node_offers_.Level(p); level > 0; --level) {
      most_saved_.push_back(node_offers_.MostSavedAt(p, level));
    }
  }
  std::ranges::sort(most_saved_, std::greater<>());
  std::partial_sum(most_saved_.begin(), most_saved_.end(), most_saved_.begin());
}

// False only if one more slot of these places, or of some of them, cannot save
// what it costs: each level given up elsewhere gives at least one slot, and one
// alone saves no more when more victims are gone.
bool SwapSearch::MayPay(std::span<const uint32_t> places) {
  problem_.Charge(places.size(), kLookNs);
  if (node_offers_.given() < goal_) return true;
  uint64_t spare = node_offers_.given() - goal_;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const uint32_t p : places) {
    if (node_offers_.IsFull(p)) continue;
    spare += node_offers_.MoreSlots(p);
    least = std::min(least, node_offers_.AddedBy(p).cost);
  }
  const uint64_t levels = std::min<uint64_t>(spare, most_saved_.size());
  if (levels == 1) return least <= most_saved_by_one_;
  return levels > 0 && least <= most_saved_[levels - 1];
}

// Raises the places by one level each, cheapest first, until that is better.
bool SwapSearch::TryRaise(std::span<const uint32_t> places) {
  if (!MayPay(places)) return false;
  if (!problem_.Spend()) return false;
  bool better = false;
  while (!better) {
    const uint32_t p = CheapestOf(places);
    if (p == kNone) break;
    Raise(p);
    Trim();
    better = Accept();
  }
  for (const uint32_t p : places) raised_[p] = false;
  if (!better) Undo();
  return better;
}

// The place whose next offer adds the least cost, of those not raised yet.
uint32_t SwapSearch::CheapestOf(std::span<const uint32_t> places) {
  uint32_t best = kNone;
  VictimCost best_added;
  for (const uint32_t p : places) {
    if (raised_[p] || node_offers_.IsFull(p)) continue;
    const VictimCost& added = node_offers_.AddedBy(p);
    if (best == kNone || added < best_added) {
      best = p;
      best_added = added;
    }
  }
  return best;
}

bool SwapSearch::TryWithout(uint32_t candidate) {
  if (!problem_.Spend()) return false;
  LeaveOut(candidate);
  if (Fill(candidate)) {
    Trim();
    if (Accept()) return true;
  }
  Undo();
  return false;
}

// Takes the next offer of the place, if there is one; Trim keeps it.
void SwapSearch::Raise(uint32_t place) {
  if (node_offers_.IsFull(place)) return;
  raised_[place] = true;
  SetLevel(place, node_offers_.Level(place) + 1);
}

// Lowers all places to levels that do not need the candidate.
void SwapSearch::LeaveOut(uint32_t candidate) {
  for (const uint32_t p : node_offers_.PlacesOf(candidate)) {
    uint32_t level = node_offers_.Level(p);
    while (node_offers_.Asks(p, level, candidate)) --level;
    SetLevel(p, level);
  }
}

// Keeps what is taken if it is better than the best, and allowed.
bool SwapSearch::Accept() {
  if (node_offers_.given() < goal_ || node_offers_.cost() >= best_)
    return false;
  const std::vector<Victim>& victims = Victims();
  const bool allowed = victims_.EnterAll(victims) && victims_.QuotaSuffices();
  victims_.LeaveAll();
  if (!allowed) return false;
  best_ = node_offers_.cost();
  *found_ = victims;
  changes_.clear();
  return true;
}

void SwapSearch::Undo() {
  while (!changes_.empty()) {
    const auto [place, level] = changes_.back();
    SetLevel(place, level);
    changes_.resize(changes_.size() - 2);  // That was one, too.
  }
}

// --- What is taken -----------------------------------------------------------

void SwapSearch::SetLevel(uint32_t place, uint32_t level) {
  const uint32_t before = node_offers_.Level(place);
  if (before == level) return;
  changes_.emplace_back(place, before);
  node_offers_.SetLevel(place, level);
  problem_.Charge(node_offers_.VictimsAt(place, std::max(before, level)),
                  kLookNs);
}

// Takes the cheapest offers by the slot until there are enough, none of them
// with that candidate; false if there are too few, or they cost too much.
bool SwapSearch::Fill(uint32_t without) {
  if (node_offers_.given() >= goal_) return true;
  const auto closed = [&](uint32_t p) {
    return node_offers_.IsFull(p) ||
           node_offers_.Asks(p, node_offers_.Level(p) + 1, without);
  };
  open_.clear();
  std::ranges::remove_copy_if(all_, std::back_inserter(open_), closed);
  while (node_offers_.given() < goal_) {
    if (node_offers_.cost() >= best_) return false;
    problem_.Charge(open_.size(), kLookNs);
    const uint32_t p = CheapestOpen();
    if (p == kNone) return false;
    SetLevel(p, node_offers_.Level(p) + 1);
    if (closed(p)) std::erase(open_, p);
  }
  return true;
}

// The open place of least cost per slot; slots beyond those lacking do not
// count.
uint32_t SwapSearch::CheapestOpen() {
  const uint64_t lacking = goal_ - node_offers_.given();
  uint32_t best = kNone;
  int64_t best_cost = 0;
  int64_t best_slots = 0;
  for (const uint32_t p : open_) {
    const int64_t cost = node_offers_.AddedBy(p).cost;
    const auto slots = static_cast<int64_t>(
        std::min<uint64_t>(lacking, node_offers_.MoreSlots(p)));
    if (best == kNone || Wide{cost} * best_slots < Wide{best_cost} * slots) {
      best = p;
      best_cost = cost;
      best_slots = slots;
    }
  }
  return best;
}

// Gives up offers that are not needed, those that save the most first.
void SwapSearch::Trim() {
  while (node_offers_.given() > goal_) {
    const uint64_t spare = node_offers_.given() - goal_;
    uint32_t best = kNone;
    int64_t best_saved = -1;
    for (const uint32_t p : node_offers_.taken()) {
      if (raised_[p] || node_offers_.LastSlots(p) > spare) continue;
      const int64_t saved = node_offers_.SavedBy(p);
      if (saved > best_saved) {
        best = p;
        best_saved = saved;
      }
    }
    problem_.Charge(node_offers_.taken().size(), kLookNs);
    if (best == kNone) return;
    SetLevel(best, node_offers_.Level(best) - 1);
  }
}

// Valid until the next call.
const std::vector<Victim>& SwapSearch::Victims() {
  gone_.clear();
  for (const uint32_t c : node_offers_.involved()) {
    if (node_offers_.Gone(c) > 0) gone_.push_back({c, node_offers_.Gone(c)});
  }
  return gone_;
}

}  // namespace muster::preempt
