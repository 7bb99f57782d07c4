#include "lib/preempt/swap_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace muster::preempt {
namespace {

constexpr uint32_t kNobody = 0xffffffff;
// How often it starts again, and how many steps away at the most.
constexpr uint32_t kKicks = 48;
constexpr uint32_t kAway = 3;

}  // namespace

bool SwapSearch::Improve(const Region& region, uint64_t steps,
                         std::vector<Victim>* found) {
  goal_ = board_.Lacking(0, 0);
  dice_ = Dice(goal_);
  last_step_ =
      std::min(problem_.searched() + steps, problem_.request().max_steps);
  found_ = found;
  best_ = {};
  for (const Victim& v : *found) {
    best_ += problem_.ScoreOf(v.candidate, v.tasks);
  }
  FindPlaces(region);
  StartFrom(*found);
  bool improved = Descend();
  if (book_.involved().empty()) return false;
  for (uint32_t kick = 0; kick < kKicks && problem_.searched() < last_step_;
       ++kick) {
    if (Kick(1 + kick % kAway)) improved = true;
  }
  return improved;
}

// To the best that is near. Whether that is better.
bool SwapSearch::Descend() {
  bool better = false;
  while (problem_.searched() < last_step_ && Improves()) better = true;
  return better;
}

// From a little away, whatever that costs; goes back if it leads nowhere.
bool SwapSearch::Kick(uint32_t away) {
  const Score best = best_;
  const std::vector<Victim> found = *found_;
  levels_.clear();
  for (const uint32_t p : all_) levels_.push_back(book_.Level(p));
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
  best_.cost = std::numeric_limits<int64_t>::max();
  (void)Accept();
  Descend();
  if (best_ < best) return true;
  best_ = best;
  *found_ = found;
  for (const uint32_t p : all_) SetLevel(p, levels_[p]);
  changes_.clear();
  return false;
}

// From so many places, and the cheapest.
void SwapSearch::BeginAnew(uint32_t places) {
  for (const uint32_t p : all_) SetLevel(p, 0);
  for (uint32_t i = 0; i < places; ++i) Raise(dice_.Below(all_.size()));
  (void)Fill(kNobody);
}

// A place, and those that then are the cheapest: its neighbours, mostly.
void SwapSearch::TakeNear(uint32_t neighbours) {
  Raise(dice_.Below(all_.size()));
  for (uint32_t i = 0; i < neighbours; ++i) {
    const uint32_t p = CheapestOf(all_);
    if (p != kNobody) Raise(p);
  }
  Trim();
}

// Victims that are left out, one after the other.
void SwapSearch::LeaveSome(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const std::vector<Victim> victims = Victims();
    if (victims.empty()) return;
    const uint32_t c = victims[dice_.Below(victims.size())].candidate;
    LeaveOut(c);
    if (!Fill(c)) return;
  }
}

// --- What nodes give ---------------------------------------------------------

void SwapSearch::FindPlaces(const Region& region) {
  book_.Begin(region.nodes.size());
  raised_.assign(region.nodes.size(), false);
  all_.resize(region.nodes.size());
  std::iota(all_.begin(), all_.end(), 0);
  std::vector<OfferBook::Offer> offers;
  for (const uint32_t p : all_) {
    if (problem_.searched() >= last_step_) return;
    FindOffers(region.nodes[p], &offers);
    book_.Add(p, offers);
  }
}

// With nobody else gone.
void SwapSearch::FindOffers(NodeIndex node,
                            std::vector<OfferBook::Offer>* offers) {
  offers->clear();
  const uint32_t base = board_.At(0, node);
  std::vector<Victim> moves;
  Score added;
  while (problem_.Spend() && greedy_.OneSlot(node, goal_, &moves, &added)) {
    const bool taken = std::ranges::all_of(moves, [&](const Victim& move) {
      return victims_.Take(move.candidate, move.tasks);
    });
    if (!taken) break;
    const uint32_t slots = board_.At(0, node) - base;
    offers->push_back({slots, victims_.Victims()});
    if (slots >= goal_) break;
  }
  victims_.Clear();
}

// The offers for which all victims are gone already.
void SwapSearch::StartFrom(const std::vector<Victim>& victims) {
  std::vector<uint32_t> gone(problem_.candidate_count(), 0);
  for (const Victim& victim : victims) gone[victim.candidate] = victim.tasks;
  for (const uint32_t p : all_) SetLevel(p, book_.LevelWith(p, gone));
  (void)Fill(kNobody);
  changes_.clear();
}

// --- Neighbours --------------------------------------------------------------

bool SwapSearch::Improves() {
  FindMostSaved();
  for (const uint32_t& p : all_) {
    if (!book_.IsFull(p) && TryRaise({&p, 1})) return true;
  }
  for (const uint32_t c : book_.involved()) {
    const std::span<const uint32_t> places = book_.PlacesOf(c);
    if (book_.Gone(c) > 0 ? TryWithout(c)
                          : places.size() > 1 && TryRaise(places)) {
      return true;
    }
  }
  return false;
}

void SwapSearch::FindMostSaved() {
  most_saved_.clear();
  for (const uint32_t p : book_.taken()) {
    for (uint32_t level = book_.Level(p); level > 0; --level) {
      most_saved_.push_back(book_.MostSavedAt(p, level));
    }
  }
  std::ranges::sort(most_saved_, std::greater<>());
  std::partial_sum(most_saved_.begin(), most_saved_.end(), most_saved_.begin());
}

// Whether one slot more of each, or of some, could save what it costs: of the
// levels below, each gives a slot at the least.
bool SwapSearch::MayPay(std::span<const uint32_t> places) {
  problem_.Charge(places.size(), kLookNs);
  if (book_.given() < goal_) return true;
  uint64_t spare = book_.given() - goal_;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const uint32_t p : places) {
    if (book_.IsFull(p)) continue;
    spare += book_.MoreSlots(p);
    least = std::min(least, book_.AddedBy(p).cost);
  }
  const uint64_t levels = std::min<uint64_t>(spare, most_saved_.size());
  return levels > 0 && least <= most_saved_[levels - 1];
}

// One slot more of each, one after the other, the cheapest first.
bool SwapSearch::TryRaise(std::span<const uint32_t> places) {
  if (!MayPay(places)) return false;
  if (!problem_.Spend()) return false;
  bool better = false;
  while (!better) {
    const uint32_t p = CheapestOf(places);
    if (p == kNobody) break;
    Raise(p);
    Trim();
    better = Accept();
  }
  for (const uint32_t p : places) raised_[p] = false;
  if (!better) Undo();
  return better;
}

// Of those that are not raised.
uint32_t SwapSearch::CheapestOf(std::span<const uint32_t> places) {
  uint32_t best = kNobody;
  Score best_added;
  for (const uint32_t p : places) {
    if (raised_[p] || book_.IsFull(p)) continue;
    const Score& added = book_.AddedBy(p);
    if (best == kNobody || added < best_added) {
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

// One slot more, which Trim leaves; if there is one.
void SwapSearch::Raise(uint32_t place) {
  if (book_.IsFull(place)) return;
  raised_[place] = true;
  SetLevel(place, book_.Level(place) + 1);
}

// Nodes do without it.
void SwapSearch::LeaveOut(uint32_t candidate) {
  for (const uint32_t p : book_.PlacesOf(candidate)) {
    uint32_t level = book_.Level(p);
    while (book_.Asks(p, level, candidate)) --level;
    SetLevel(p, level);
  }
}

// Keeps what is taken if it is better than the best, and lawful.
bool SwapSearch::Accept() {
  if (book_.given() < goal_ || book_.score() >= best_) return false;
  std::vector<Victim> victims = Victims();
  const bool lawful = victims_.EnterAll(victims) && victims_.QuotaSuffices();
  victims_.LeaveAll();
  if (!lawful) return false;
  best_ = book_.score();
  *found_ = std::move(victims);
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
  const uint32_t before = book_.Level(place);
  if (before == level) return;
  changes_.emplace_back(place, before);
  book_.SetLevel(place, level);
  problem_.Charge(book_.VictimsAt(place, std::max(before, level)), kLookNs);
}

// Takes the cheapest offers by the slot until there are enough, none of them
// with that candidate; false if there are too few.
bool SwapSearch::Fill(uint32_t without) {
  if (book_.given() >= goal_) return true;
  const auto closed = [&](uint32_t p) {
    return book_.IsFull(p) || book_.Asks(p, book_.Level(p) + 1, without);
  };
  open_ = all_;
  std::erase_if(open_, closed);
  while (book_.given() < goal_) {
    problem_.Charge(all_.size(), kLookNs);
    const uint32_t p = CheapestOpen();
    if (p == kNobody) return false;
    SetLevel(p, book_.Level(p) + 1);
    if (closed(p)) std::erase(open_, p);
  }
  return true;
}

// By the slot, of which no more than are needed count.
uint32_t SwapSearch::CheapestOpen() {
  const uint64_t lacking = goal_ - book_.given();
  uint32_t best = kNobody;
  int64_t best_cost = 0;
  int64_t best_slots = 0;
  for (const uint32_t p : open_) {
    const int64_t cost = book_.AddedBy(p).cost;
    const auto slots =
        static_cast<int64_t>(std::min<uint64_t>(lacking, book_.MoreSlots(p)));
    if (best == kNobody || Wide{cost} * best_slots < Wide{best_cost} * slots) {
      best = p;
      best_cost = cost;
      best_slots = slots;
    }
  }
  return best;
}

// Gives back what is not needed, what saves the most first.
void SwapSearch::Trim() {
  while (book_.given() > goal_) {
    const uint64_t spare = book_.given() - goal_;
    uint32_t best = kNobody;
    int64_t best_saved = -1;
    for (const uint32_t p : book_.taken()) {
      if (raised_[p] || book_.LastSlots(p) > spare) continue;
      const int64_t saved = book_.SavedBy(p);
      if (saved > best_saved) {
        best = p;
        best_saved = saved;
      }
    }
    problem_.Charge(book_.taken().size(), kLookNs);
    if (best == kNobody) return;
    SetLevel(best, book_.Level(best) - 1);
  }
}

std::vector<Victim> SwapSearch::Victims() const {
  std::vector<Victim> victims;
  for (const uint32_t c : book_.involved()) {
    if (book_.Gone(c) > 0) victims.push_back({c, book_.Gone(c)});
  }
  return victims;
}

}  // namespace muster::preempt
