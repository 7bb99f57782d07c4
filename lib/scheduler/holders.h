// Who holds something in one queue at one priority, the cheapest to stop first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "lib/queue/gang_rank.h"
#include "lib/scheduler/stop_price.h"
#include "muster/ids.h"

namespace muster {

// Not synchronised. A change is O(log gangs + rows).
class Holders {
 public:
  struct Entry {
    Duration lost = 0;       // StopPrice::lost.
    std::string_view key{};  // The gang's.
    GangIndex gang = kNoGang;

    friend bool operator<(const Entry& a, const Entry& b) {
      return std::tie(a.lost, a.key) < std::tie(b.lost, b.key);
    }
  };
  using Entries = absl::btree_set<Entry>;
  // Gangs whose prices differ by what is lost only: as time passes, their order
  // stays.
  struct Row {
    bool accrues = false;
    int64_t amount = 0;
    Entries gangs{};
  };

  void Add(const StopPrice& price, std::string_view key, GangIndex g,
           bool elastic) {
    RowOf(price).gangs.insert({price.lost, key, g});
    elastic_ += elastic;
  }
  void Remove(const StopPrice& price, std::string_view key, bool elastic) {
    Row& row = RowOf(price);
    row.gangs.erase({price.lost, key});
    if (row.gangs.empty()) {
      std::swap(row, rows_.back());
      rows_.pop_back();
    }
    elastic_ -= elastic;
  }

  bool empty() const { return rows_.empty(); }
  // How many may have more than they need.
  uint32_t elastic() const { return elastic_; }
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
  Row& RowOf(const StopPrice& price) {
    const auto row = std::ranges::find_if(rows_, [&](const Row& r) {
      return r.accrues == price.accrues && r.amount == price.amount;
    });
    if (row != rows_.end()) return *row;
    return rows_.emplace_back(Row{price.accrues, price.amount});
  }

  std::vector<Row> rows_{};  // Few: see StopPrice::Rounded.
  uint32_t elastic_ = 0;
};

}  // namespace muster
