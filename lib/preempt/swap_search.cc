#include "lib/preempt/swap_search.h"

#include <algorithm>
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
  if (involved_.empty()) return false;
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
  for (const Place& place : places_) levels_.push_back(place.level);
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
  for (uint32_t p = 0; p < places_.size(); ++p) SetLevel(p, levels_[p]);
  changes_.clear();
  return false;
}

// From so many places, and the cheapest.
void SwapSearch::BeginAnew(uint32_t places) {
  for (const uint32_t p : all_) SetLevel(p, 0);
  for (uint32_t i = 0; i < places; ++i) Raise(dice_.Below(places_.size()));
  (void)Fill(kNobody);
}

// A place, and those that then are the cheapest: its neighbours, mostly.
void SwapSearch::TakeNear(uint32_t neighbours) {
  Raise(dice_.Below(places_.size()));
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
  for (const uint32_t c : involved_) places_of_[c].clear();
  involved_.clear();
  places_of_.resize(problem_.candidate_count());
  tasks_.assign(problem_.candidate_count(), 0);
  places_.assign(region.nodes.size(), {});
  raised_.assign(region.nodes.size(), false);
  all_.resize(places_.size());
  std::iota(all_.begin(), all_.end(), 0);
  score_ = {};
  given_ = 0;
  for (uint32_t p = 0; p < places_.size(); ++p) {
    if (problem_.searched() >= last_step_) return;
    FindOffers(region.nodes[p], &places_[p]);
    if (places_[p].offers.empty()) continue;
    for (const Victim& victim : places_[p].offers.back().victims) {
      std::vector<uint32_t>& places = places_of_[victim.candidate];
      if (places.empty()) involved_.push_back(victim.candidate);
      places.push_back(p);
    }
  }
  std::ranges::sort(involved_);
}

// With nobody else gone.
void SwapSearch::FindOffers(NodeIndex node, Place* place) {
  const uint32_t base = board_.At(0, node);
  std::vector<Victim> moves;
  Score added;
  while (problem_.Spend() && greedy_.OneSlot(node, goal_, &moves, &added)) {
    const bool taken = std::ranges::all_of(moves, [&](const Victim& move) {
      return victims_.Take(move.candidate, move.tasks);
    });
    if (!taken) break;
    const uint32_t slots = board_.At(0, node) - base;
    place->offers.push_back({slots, victims_.Victims()});
    if (slots >= goal_) break;
  }
  victims_.Clear();
}

// The offers for which all victims are gone already.
void SwapSearch::StartFrom(const std::vector<Victim>& victims) {
  std::vector<uint32_t> gone(problem_.candidate_count(), 0);
  for (const Victim& victim : victims) gone[victim.candidate] = victim.tasks;
  for (uint32_t p = 0; p < places_.size(); ++p) {
    const std::vector<Offer>& offers = places_[p].offers;
    uint32_t level = 0;
    while (level < offers.size() &&
           std::ranges::all_of(
               offers[level].victims,
               [&](const Victim& v) { return gone[v.candidate] >= v.tasks; })) {
      ++level;
    }
    if (level > 0) SetLevel(p, level);
  }
  (void)Fill(kNobody);
  changes_.clear();
}

// --- Neighbours --------------------------------------------------------------

bool SwapSearch::Improves() {
  for (uint32_t p = 0; p < places_.size(); ++p) {
    if (places_[p].level < places_[p].offers.size() && TryRaise({&p, 1})) {
      return true;
    }
  }
  for (const uint32_t c : involved_) {
    const bool gone = tasks_[c] > 0;
    if (gone ? TryWithout(c)
             : places_of_[c].size() > 1 && TryRaise(places_of_[c])) {
      return true;
    }
  }
  return false;
}

// One slot more of each, one after the other, the cheapest first.
bool SwapSearch::TryRaise(std::span<const uint32_t> places) {
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
uint32_t SwapSearch::CheapestOf(std::span<const uint32_t> places) const {
  uint32_t best = kNobody;
  Score best_added;
  for (const uint32_t p : places) {
    if (raised_[p] || places_[p].level == places_[p].offers.size()) continue;
    const Score added = AddedBy(p);
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
  if (places_[place].level == places_[place].offers.size()) return;
  raised_[place] = true;
  SetLevel(place, places_[place].level + 1);
}

// Nodes do without it.
void SwapSearch::LeaveOut(uint32_t candidate) {
  for (const uint32_t p : places_of_[candidate]) {
    uint32_t level = places_[p].level;
    while (TasksAt(p, level, candidate) > 0) --level;
    SetLevel(p, level);
  }
}

// Keeps what is taken if it is better than the best, and lawful.
bool SwapSearch::Accept() {
  if (given_ < goal_ || score_ >= best_) return false;
  std::vector<Victim> victims = Victims();
  const bool lawful = victims_.EnterAll(victims) && victims_.QuotaSuffices();
  victims_.LeaveAll();
  if (!lawful) return false;
  best_ = score_;
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

// --- Sums --------------------------------------------------------------------

uint32_t SwapSearch::TasksAt(uint32_t place, uint32_t level,
                             uint32_t candidate) const {
  if (level == 0) return 0;
  for (const Victim& v : places_[place].offers[level - 1].victims) {
    if (v.candidate == candidate) return v.tasks;
  }
  return 0;
}

uint32_t SwapSearch::SlotsAt(uint32_t place, uint32_t level) const {
  return level == 0 ? 0 : places_[place].offers[level - 1].slots;
}

void SwapSearch::SetLevel(uint32_t place, uint32_t level) {
  Place& p = places_[place];
  if (p.level == level) return;
  const std::vector<Victim>& concerned =
      p.offers[std::max(p.level, level) - 1].victims;
  changes_.emplace_back(place, p.level);
  given_ += SlotsAt(place, level);
  given_ -= SlotsAt(place, p.level);
  p.level = level;
  for (const Victim& v : concerned) Count(v.candidate);
  problem_.Charge(concerned.size(), kLookNs);
}

// How many tasks are gone, for all places together.
void SwapSearch::Count(uint32_t candidate) {
  uint32_t tasks = 0;
  for (const uint32_t p : places_of_[candidate]) {
    tasks = std::max(tasks, TasksAt(p, places_[p].level, candidate));
  }
  const Score less = problem_.ScoreOf(candidate, tasks_[candidate]);
  score_ += problem_.ScoreOf(candidate, tasks);
  score_.cost -= less.cost;
  score_.broken -= less.broken;
  score_.tasks -= less.tasks;
  tasks_[candidate] = tasks;
}

// What the place's next offer costs more.
Score SwapSearch::AddedBy(uint32_t place) const {
  Score added;
  for (const Victim& v : places_[place].offers[places_[place].level].victims) {
    const uint32_t gone = tasks_[v.candidate];
    if (v.tasks > gone)
      added += problem_.ScoreBeyond(v.candidate, gone, v.tasks);
  }
  return added;
}

// What is saved without its last one.
int64_t SwapSearch::SavedBy(uint32_t place) const {
  const uint32_t level = places_[place].level;
  int64_t saved = 0;
  for (const Victim& v : places_[place].offers[level - 1].victims) {
    uint32_t tasks = TasksAt(place, level - 1, v.candidate);
    for (const uint32_t p : places_of_[v.candidate]) {
      if (p == place) continue;
      tasks = std::max(tasks, TasksAt(p, places_[p].level, v.candidate));
    }
    const uint32_t gone = tasks_[v.candidate];
    if (tasks < gone) {
      saved += problem_.ScoreBeyond(v.candidate, tasks, gone).cost;
    }
  }
  return saved;
}

// Takes the cheapest offers by the slot until there are enough, none of them
// with that candidate; false if there are too few.
bool SwapSearch::Fill(uint32_t without) {
  while (given_ < goal_) {
    uint32_t best = kNobody;
    Score best_added;
    int64_t best_slots = 0;
    for (uint32_t p = 0; p < places_.size(); ++p) {
      const Place& place = places_[p];
      if (place.level == place.offers.size() ||
          TasksAt(p, place.level + 1, without) > 0) {
        continue;
      }
      const Score added = AddedBy(p);
      const auto slots = static_cast<int64_t>(std::min<uint64_t>(
          goal_ - given_,
          SlotsAt(p, place.level + 1) - SlotsAt(p, place.level)));
      if (best == kNobody ||
          Wide{added.cost} * best_slots < Wide{best_added.cost} * slots) {
        best = p;
        best_added = added;
        best_slots = slots;
      }
    }
    problem_.Charge(places_.size(), kLookNs);
    if (best == kNobody) return false;
    SetLevel(best, places_[best].level + 1);
  }
  return true;
}

// Gives back what is not needed, what saves the most first.
void SwapSearch::Trim() {
  while (given_ > goal_) {
    uint32_t best = kNobody;
    int64_t best_saved = -1;
    for (uint32_t p = 0; p < places_.size(); ++p) {
      const uint32_t level = places_[p].level;
      if (level == 0 || raised_[p] ||
          given_ - (SlotsAt(p, level) - SlotsAt(p, level - 1)) < goal_) {
        continue;
      }
      const int64_t saved = SavedBy(p);
      if (saved > best_saved) {
        best = p;
        best_saved = saved;
      }
    }
    problem_.Charge(places_.size(), kLookNs);
    if (best == kNobody) return;
    SetLevel(best, places_[best].level - 1);
  }
}

std::vector<Victim> SwapSearch::Victims() const {
  std::vector<Victim> victims;
  for (const uint32_t c : involved_) {
    if (tasks_[c] > 0) victims.push_back({c, tasks_[c]});
  }
  return victims;
}

}  // namespace muster::preempt
