// Who holds something in one queue at one priority, the cheapest to stop first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "lib/base/text_key.h"
#include "lib/queue/queue_position.h"
#include "lib/scheduler/stop_cost.h"
#include "muster/ids.h"

namespace muster {

// Not synchronised. A change is O(log gangs + rows).
class Holders {
 public:
  struct Entry {
    Duration lost = 0;  // StopCost::lost.
    TextKey key{};      // The gang's.
    GangIndex gang = kNoGang;

    friend bool operator<(const Entry& a, const Entry& b) {
      return std::tie(a.lost, a.key) < std::tie(b.lost, b.key);
    }
  };
  using Entries = absl::btree_set<Entry>;
  // What a gang may give without being stopped.
  enum class Spare : uint8_t {
    kNothing,
    kSurplus,   // It is elastic.
    kPromised,  // It is nominated only.
  };
  // Gangs whose stop costs differ by what is lost only: as time passes, their
  // order stays.
  struct Row {
    bool accrues = false;
    int64_t amount = 0;
    Spare spare = Spare::kNothing;
    Entries gangs{};
  };

  void Add(const StopCost& stop_cost, Spare spare, std::string_view key,
           GangIndex g) {
    RowOf(stop_cost, spare).gangs.insert({stop_cost.lost, TextKey(key), g});
  }
  void Remove(const StopCost& stop_cost, Spare spare, std::string_view key) {
    Row& row = RowOf(stop_cost, spare);
    row.gangs.erase({stop_cost.lost, TextKey(key)});
    if (!row.gangs.empty()) return;
    std::swap(row, rows_.back());
    rows_.pop_back();
  }

  bool empty() const { return rows_.empty(); }
  // Whether some may have more than they need. O(rows).
  bool elastic() const {
    return std::ranges::find(rows_, Spare::kSurplus, &Row::spare) !=
           rows_.end();
  }
  // In no order; none is empty.
  const std::vector<Row>& rows() const { return rows_; }
  // Calls f(GangIndex) with each gang, in no order.
  template <class F>
  void ForEach(const F& f) const {
    for (const Row& row : rows_) {
      for (const Entry& entry : row.gangs) f(entry.gang);
    }
  }

 private:
  Row& RowOf(const StopCost& stop_cost, Spare spare) {
    const auto row = std::ranges::find_if(rows_, [&](const Row& r) {
      return r.accrues == stop_cost.accrues && r.amount == stop_cost.amount &&
             r.spare == spare;
    });
    if (row != rows_.end()) return *row;
    return rows_.emplace_back(Row{stop_cost.accrues, stop_cost.amount, spare});
  }

  std::vector<Row> rows_{};  // Few: see StopCost::Rounded.
};

}  // namespace muster
