#include "adapters/report/gangs.h"

#include <algorithm>
#include <map>

namespace muster::inprocess {
namespace {

// FNV-1a, then mixed: names that differ in their last digit lie far apart.
int64_t Lot(const std::string& key) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : key) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  h = (h ^ h >> 32) * 0x9e3779b97f4a7c15;
  return static_cast<int64_t>(h >> 1);
}

Duration WorkedFor(const GangRecord& g) {
  Duration sum = 0;
  for (const Stint& s : g.stints) {
    if (s.cause.has_value()) sum += s.to - s.from;
  }
  return sum;
}

// nullopt: it has no such standing at all.
std::optional<int64_t> ScoreOf(const GangRecord& g, Standing standing) {
  switch (standing) {
    case Standing::kLargest:
      if (g.device_milli == 0) return std::nullopt;
      return g.device_milli;
    case Standing::kInterrupted:
      if (g.stops == 0) return std::nullopt;
      return g.stops;
    case Standing::kWaited:
      if (g.waited == 0) return std::nullopt;
      return g.waited;
    case Standing::kByLot:
      return Lot(g.key);
  }
  return std::nullopt;
}

}  // namespace

void GangSample::Offer(GangRecord gang) {
  ++offered_;
  const Duration worked = WorkedFor(gang);
  std::shared_ptr<const GangRecord> shared;
  const auto share = [&] {
    if (shared == nullptr) {
      shared = std::make_shared<const GangRecord>(std::move(gang));
    }
    return shared;
  };
  for (size_t s = 0; s < kStandings; ++s) {
    const GangRecord& g = shared == nullptr ? gang : *shared;
    const std::optional<int64_t> score = ScoreOf(g, static_cast<Standing>(s));
    if (!score.has_value()) continue;
    std::vector<Scored>& best = best_[s];
    const std::pair<int64_t, int64_t> ranked(*score, worked);
    if (best.size() == per_standing_) {
      if (ranked <= best.front().score) continue;
      std::ranges::pop_heap(best, Higher);
      best.pop_back();
    }
    best.push_back({ranked, share()});
    std::ranges::push_heap(best, Higher);
  }
  if (complete()) {
    all_.push_back(share());
  } else {
    all_.clear();
  }
}

std::vector<GangSample::Picked> GangSample::Picks() const {
  std::map<uint32_t, Picked> by_number;
  for (const auto& gang : all_) by_number[gang->number].gang = gang;
  for (size_t s = 0; s < kStandings; ++s) {
    for (const Scored& scored : best_[s]) {
      Picked& picked = by_number[scored.gang->number];
      picked.gang = scored.gang;
      picked.standing[s] = true;
    }
  }
  std::vector<Picked> picks;
  for (auto& [number, picked] : by_number) picks.push_back(std::move(picked));
  return picks;
}

}  // namespace muster::inprocess
