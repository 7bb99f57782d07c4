// What nodes give for the victims on them, how much of it is taken, and what
// taking more or less changes: the sums of the local search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/preempt/preemption_problem.h"

namespace muster::preempt {

// A place is a node of the region, by its position on RegionSlots. It
// makes offers, each with the slots and victims of those before it; the first
// `level` of them are taken. A victim that several places ask for is gone once,
// with the most tasks that any of them asks for.
//
// What a place adds or saves is kept until something changes it: a search looks
// at all places for each step, and a step changes few of them.
class NodeOffers {
 public:
  struct Offer {
    uint32_t slots = 0;
    std::vector<Victim> victims{};  // By candidate.
  };

  explicit NodeOffers(const PreemptionProblem& problem) : problem_(problem) {}

  // So many places, which offer nothing.
  void Begin(size_t places);
  // All that the place offers: each with no fewer tasks of any candidate than
  // the one before. Places are added in ascending order, before anything is
  // taken.
  void Add(uint32_t place, std::span<const Offer> offers);

  uint32_t Offers(uint32_t place) const {
    return static_cast<uint32_t>(places_[place].slots.size()) - 1;
  }
  uint32_t Level(uint32_t place) const { return places_[place].level; }
  bool IsFull(uint32_t place) const { return Level(place) == Offers(place); }
  // The slots that the next offer gives beyond this level; those that this one
  // gives beyond the one before.
  uint32_t MoreSlots(uint32_t place) const {
    const Place& p = places_[place];
    return p.slots[p.level + 1] - p.slots[p.level];
  }
  uint32_t LastSlots(uint32_t place) const {
    const Place& p = places_[place];
    return p.slots[p.level] - p.slots[p.level - 1];
  }
  // Those that are not at level 0, ascending.
  const std::vector<uint32_t>& taken() const { return taken_; }
  // What the victims of that level cost beyond those of the one before, were
  // they gone for this place alone: going back saves no more, whatever other
  // places do.
  int64_t MostSavedAt(uint32_t place, uint32_t level) const {
    return places_[place].costs[level];
  }
  // How many victims that level has.
  uint32_t VictimsAt(uint32_t place, uint32_t level) const {
    return places_[place].victims[level];
  }
  // Whether at that level some of the candidate's tasks are gone.
  bool Asks(uint32_t place, uint32_t level, uint32_t candidate) const;
  // The highest level for which `gone`, by candidate, is enough.
  uint32_t LevelWith(uint32_t place, std::span<const uint32_t> gone) const;
  // O(victims of the place), and of those whose tasks change, their places.
  void SetLevel(uint32_t place, uint32_t level);

  // Candidates that some place asks for, ascending; and the places of one.
  std::span<const uint32_t> involved() const { return involved_; }
  std::span<const uint32_t> PlacesOf(uint32_t candidate) const {
    return places_of_[candidate];
  }

  // How many of its tasks are gone.
  uint32_t Gone(uint32_t candidate) const { return gone_[candidate].tasks; }
  const VictimCost& cost() const { return cost_; }  // Of all that is taken.
  uint64_t given() const { return given_; }         // Slots.
  // What the place's next offer costs more.
  const VictimCost& AddedBy(uint32_t place) {
    Place& p = places_[place];
    if (!p.knows_added) LearnAdded(&p);
    return p.added;
  }
  // What is saved without the last one that is taken.
  int64_t SavedBy(uint32_t place) {
    Place& p = places_[place];
    if (!p.knows_saved) LearnSaved(&p);
    return p.saved;
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  struct OfferPart {
    uint32_t candidate = 0;
    uint32_t number = 0;  // The place's among those of the candidate.
  };
  struct Place {
    uint32_t level = 0;
    std::vector<uint32_t> slots{};    // By level; none at 0.
    std::vector<uint32_t> victims{};  // By level: how many.
    std::vector<OfferPart> parts{};   // By candidate: those of the last offer.
    std::vector<uint32_t> tasks{};    // [level x parts + part]
    std::vector<int64_t> costs{};     // By level: MostSavedAt.
    bool knows_added = false;
    bool knows_saved = false;
    VictimCost added{};
    int64_t saved = 0;
  };
  // Of one candidate: the most tasks that a place asks for, and how many places
  // ask for so many.
  struct Most {
    uint32_t tasks = 0;
    uint32_t places = 0;
  };

  uint32_t TasksAt(const Place& place, uint32_t level, size_t part) const {
    return place.tasks[level * place.parts.size() + part];
  }
  // kNone: it is not there.
  static size_t PartOf(const Place& place, uint32_t candidate);
  int64_t CostOfLevel(const Place& place, uint32_t level) const;
  void Ask(const OfferPart& part, uint32_t tasks);
  void LearnAdded(Place* place) const;
  void LearnSaved(Place* place) const;
  Most MostOf(uint32_t candidate) const;
  uint32_t MostBeside(const OfferPart& part) const;

  const PreemptionProblem& problem_;
  std::vector<Place> places_;
  std::vector<uint32_t> taken_;
  std::vector<uint32_t> involved_;
  // By candidate: the places that ask for it, ascending, and for how much.
  std::vector<std::vector<uint32_t>> places_of_;
  std::vector<std::vector<uint32_t>> asked_;
  std::vector<Most> gone_;  // By candidate.
  VictimCost cost_{};
  uint64_t given_ = 0;
};

}  // namespace muster::preempt
