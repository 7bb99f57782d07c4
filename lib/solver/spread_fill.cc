#include "lib/solver/spread_fill.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace muster::solver {
namespace {

constexpr uint64_t kNoPeak = std::numeric_limits<uint64_t>::max();

uint64_t Less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

uint64_t SpreadFill::High(const SpreadDomain& d) const {
  return std::min({d.room, Less(rule_->most, d.placed), Less(peak_, d.placed)});
}

uint64_t SpreadFill::Low(const SpreadDomain& d) const {
  if (!d.counts || rule_->skew == 0) return 0;
  return Less(peak_, uint64_t{d.placed} + rule_->skew);
}

// Whether the upper bounds leave room for all tasks.
bool SpreadFill::FitsAll(uint64_t peak, uint32_t tasks) {
  peak_ = peak;
  uint64_t room = 0;
  for (const SpreadDomain& d : *domains_) {
    room += std::min<uint64_t>(High(d), tasks);
  }
  return room >= tasks;
}

// Sets peak_: see the class.
bool SpreadFill::FindPeak(uint32_t tasks) {
  uint64_t fewest = kNoPeak;
  uint64_t most = 0;
  for (const SpreadDomain& d : *domains_) {
    most = std::max<uint64_t>(most, d.placed);
    if (d.counts) fewest = std::min<uint64_t>(fewest, d.placed);
  }
  if (rule_->skew == 0 || fewest == kNoPeak) return FitsAll(kNoPeak, tasks);
  uint64_t low = fewest + rule_->skew;
  if (FitsAll(low, tasks)) return true;
  uint64_t high = std::max(low, most + tasks);
  if (!FitsAll(high, tasks)) return false;
  while (high - low > 1) {  // No room at `low`, room at `high`.
    const uint64_t middle = low + (high - low) / 2;
    (FitsAll(middle, tasks) ? high : low) = middle;
  }
  peak_ = high;
  return true;
}

// Gives one task each to `missing` domains that have none.
bool SpreadFill::OpenNeeded(uint32_t missing, uint32_t* left) {
  if (missing > closed_.size() || missing > *left) return false;
  for (; opened_ < missing; ++opened_) {
    (*domains_)[closed_[opened_]].tasks = 1;
    open_.push_back(closed_[opened_]);
  }
  *left -= missing;
  return true;
}

// Opens domains until `left` more tasks have room, which they do in all.
void SpreadFill::OpenForRoom(uint32_t left) {
  uint64_t room = 0;
  for (const uint32_t d : open_) {
    room += High((*domains_)[d]) - (*domains_)[d].tasks;
  }
  while (room < left) {
    const uint64_t rest = left - room;
    size_t pick = opened_++;
    if (High((*domains_)[closed_[pick]]) >= rest) {
      // The last one: as tight as can be.
      const auto cost = [&](size_t i) {
        const SpreadDomain& d = (*domains_)[closed_[i]];
        return std::tuple(d.nearness, d.room, closed_[i]);
      };
      for (size_t i = pick + 1; i < closed_.size(); ++i) {
        if (High((*domains_)[closed_[i]]) < rest) break;
        if (cost(i) < cost(pick)) pick = i;
      }
    }
    open_.push_back(closed_[pick]);
    room += High((*domains_)[closed_[pick]]);
  }
}

bool SpreadFill::Fill(const SpreadRule& rule, uint32_t need, uint32_t tasks,
                      std::vector<SpreadDomain>* domains) {
  rule_ = &rule;
  domains_ = domains;
  if (!FindPeak(tasks)) return false;
  closed_.clear();
  open_.clear();
  opened_ = 0;
  uint32_t left = tasks;
  for (uint32_t i = 0; i < domains->size(); ++i) {
    SpreadDomain& d = (*domains)[i];
    d.tasks = 0;
    const uint64_t low = Low(d);
    if (low > left || low > High(d)) return false;
    d.tasks = static_cast<uint32_t>(low);
    left -= d.tasks;
    if (d.placed > 0 || low > 0) {
      open_.push_back(i);
    } else if (High(d) > 0) {
      closed_.push_back(i);
    }
  }
  std::ranges::sort(closed_, {}, [&](uint32_t i) {
    const SpreadDomain& d = (*domains)[i];
    return std::tuple(~High(d), d.nearness, d.room, i);
  });
  const uint32_t used = static_cast<uint32_t>(open_.size());
  if (need > used && !OpenNeeded(need - used, &left)) return false;
  OpenForRoom(left);
  for (const uint32_t i : open_) {
    SpreadDomain& d = (*domains)[i];
    const uint64_t more = std::min<uint64_t>(left, High(d) - d.tasks);
    d.tasks += static_cast<uint32_t>(more);
    left -= static_cast<uint32_t>(more);
  }
  return left == 0;
}

uint32_t SpreadFill::Most(const SpreadRule& rule, uint32_t used,
                          uint32_t enough, std::vector<SpreadDomain>* domains) {
  const auto fits = [&](uint32_t tasks) {
    return Fill(rule, std::min(rule.domains, used + tasks), tasks, domains);
  };
  if (fits(enough)) return enough;
  uint32_t most = 0;
  for (uint32_t beyond = enough; beyond - most > 1;) {
    const uint32_t middle = std::midpoint(most, beyond);
    (fits(middle) ? most : beyond) = middle;
  }
  return most;
}

}  // namespace muster::solver
