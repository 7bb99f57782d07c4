#include "lib/preempt/node_offers.h"

#include <algorithm>
#include <utility>

namespace muster::preempt {

void NodeOffers::Begin(size_t places) {
  for (const uint32_t c : involved_) {
    places_of_[c].clear();
    asked_[c].clear();
    gone_[c] = {};
  }
  involved_.clear();
  places_of_.resize(problem_.candidate_count());
  asked_.resize(problem_.candidate_count());
  gone_.resize(problem_.candidate_count());
  places_.assign(places, {.slots = {0}, .victims = {0}});
  taken_.clear();
  cost_ = {};
  given_ = 0;
}

void NodeOffers::Add(uint32_t p, std::span<const Offer> offers) {
  if (offers.empty()) return;
  Place& place = places_[p];
  for (const Victim& victim : offers.back().victims) {
    const uint32_t c = victim.candidate;
    place.parts.push_back({c, static_cast<uint32_t>(places_of_[c].size())});
    if (places_of_[c].empty()) {
      involved_.insert(std::ranges::upper_bound(involved_, c), c);
    }
    places_of_[c].push_back(p);
    asked_[c].push_back(0);
    ++gone_[c].places;
  }
  place.tasks.assign((offers.size() + 1) * place.parts.size(), 0);
  uint32_t* tasks = place.tasks.data();
  for (const Offer& offer : offers) {
    place.slots.push_back(offer.slots);
    place.victims.push_back(static_cast<uint32_t>(offer.victims.size()));
    tasks += place.parts.size();
    for (const Victim& victim : offer.victims) {
      tasks[PartOf(place, victim.candidate)] = victim.tasks;
    }
  }
  place.costs.push_back(0);
  for (uint32_t level = 1; level < place.slots.size(); ++level) {
    place.costs.push_back(CostOfLevel(place, level));
  }
}

int64_t NodeOffers::CostOfLevel(const Place& place, uint32_t level) const {
  VictimCost cost;
  for (size_t i = 0; i < place.parts.size(); ++i) {
    const uint32_t before = TasksAt(place, level - 1, i);
    const uint32_t tasks = TasksAt(place, level, i);
    if (tasks == before) continue;
    cost += problem_.CostBeyond(place.parts[i].candidate, before, tasks);
  }
  return cost.cost;
}

size_t NodeOffers::PartOf(const Place& place, uint32_t candidate) {
  const auto part = std::ranges::lower_bound(place.parts, candidate, {},
                                             &OfferPart::candidate);
  const bool has = part != place.parts.end() && part->candidate == candidate;
  return has ? part - place.parts.begin() : kNone;
}

bool NodeOffers::Asks(uint32_t p, uint32_t level, uint32_t candidate) const {
  const size_t part = PartOf(places_[p], candidate);
  return part != kNone && TasksAt(places_[p], level, part) > 0;
}

uint32_t NodeOffers::LevelWith(uint32_t p,
                               std::span<const uint32_t> gone) const {
  const Place& place = places_[p];
  const auto enough = [&](uint32_t level) {
    for (size_t i = 0; i < place.parts.size(); ++i) {
      if (gone[place.parts[i].candidate] < TasksAt(place, level, i)) {
        return false;
      }
    }
    return true;
  };
  uint32_t level = 0;
  while (level < Offers(p) && enough(level + 1)) ++level;
  return level;
}

void NodeOffers::SetLevel(uint32_t p, uint32_t level) {
  Place& place = places_[p];
  const uint32_t before = place.level;
  if (before == level) return;
  given_ += place.slots[level];
  given_ -= place.slots[before];
  place.level = level;
  if (before == 0) {
    taken_.insert(std::ranges::lower_bound(taken_, p), p);
  } else if (level == 0) {
    taken_.erase(std::ranges::lower_bound(taken_, p));
  }
  place.knows_added = place.knows_saved = false;
  for (size_t i = 0; i < place.parts.size(); ++i) {
    const uint32_t tasks = TasksAt(place, level, i);
    if (tasks != TasksAt(place, before, i)) Ask(place.parts[i], tasks);
  }
}

// The part's place asks for so many tasks now.
void NodeOffers::Ask(const OfferPart& part, uint32_t tasks) {
  const uint32_t c = part.candidate;
  const uint32_t asked = std::exchange(asked_[c][part.number], tasks);
  Most& gone = gone_[c];
  const Most before = gone;
  if (tasks > gone.tasks) {
    gone = {tasks, 1};
  } else {
    if (tasks == gone.tasks) ++gone.places;
    if (asked == gone.tasks && --gone.places == 0) gone = MostOf(c);
  }
  const bool changes = gone.tasks != before.tasks;
  if (changes) {
    cost_ += problem_.CostOf(c, gone.tasks);
    cost_ -= problem_.CostOf(c, before.tasks);
  }
  // With two places or more that ask for the most, none of them saves anything.
  if (!changes && gone.places > 1 && before.places > 1) return;
  for (const uint32_t p : places_of_[c]) {
    places_[p].knows_saved = false;
    if (changes) places_[p].knows_added = false;
  }
}

NodeOffers::Most NodeOffers::MostOf(uint32_t candidate) const {
  Most most;
  for (const uint32_t tasks : asked_[candidate]) {
    if (tasks > most.tasks) most = {tasks, 0};
    if (tasks == most.tasks) ++most.places;
  }
  return most;
}

// What other places ask for of the part's candidate, at the most.
uint32_t NodeOffers::MostBeside(const OfferPart& part) const {
  const std::vector<uint32_t>& asked = asked_[part.candidate];
  uint32_t most = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (i != part.number) most = std::max(most, asked[i]);
  }
  return most;
}

void NodeOffers::LearnAdded(Place* place) const {
  place->added = {};
  for (size_t i = 0; i < place->parts.size(); ++i) {
    const uint32_t c = place->parts[i].candidate;
    const uint32_t tasks = TasksAt(*place, place->level + 1, i);
    if (tasks > Gone(c)) {
      place->added += problem_.CostBeyond(c, Gone(c), tasks);
    }
  }
  place->knows_added = true;
}

void NodeOffers::LearnSaved(Place* place) const {
  place->saved = 0;
  for (size_t i = 0; i < place->parts.size(); ++i) {
    const OfferPart& part = place->parts[i];
    const Most& gone = gone_[part.candidate];
    const uint32_t without = TasksAt(*place, place->level - 1, i);
    const bool alone =
        gone.places == 1 && TasksAt(*place, place->level, i) == gone.tasks;
    if (!alone || without == gone.tasks) continue;
    const uint32_t tasks = std::max(without, MostBeside(part));
    place->saved += problem_.CostBeyond(part.candidate, tasks, gone.tasks).cost;
  }
  place->knows_saved = true;
}

}  // namespace muster::preempt
