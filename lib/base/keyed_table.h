// Tables whose rows stay where they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <string_view>
#include <vector>

#include "lib/base/string_map.h"

namespace muster {

// The position of `rows` that was given back last, as it was left, or a new one
// behind all.
template <class Rows>
uint32_t TakePosition(Rows& rows, std::vector<uint32_t>& unused) {
  if (unused.empty()) {
    rows.emplace_back();
    return static_cast<uint32_t>(rows.size() - 1);
  }
  const uint32_t position = unused.back();
  unused.pop_back();
  return position;
}

// Rows by position and by key, which `kKey` reads from a `Row`. `exists` and
// `generation`, which tells a row from those at its place before, stand in each
// row where they do not push apart what is read more often. A row that is gone
// stays readable until its position is given out again: to the next that comes,
// of those that are gone the last first. Any code may read, only derived
// classes write. A value type. In a std::deque references to rows hold.
template <class Id, class Row, auto kKey,
          template <class...> class Sequence = std::vector>
class KeyedTable {
 public:
  static constexpr uint32_t kNone = Id::kNone;

  // kNone if unknown.
  uint32_t Find(std::string_view key) const {
    const auto it = by_key_.find(key);
    return it == by_key_.end() ? kNone : it->second;
  }
  const Row& at(uint32_t position) const { return rows_[position]; }
  std::string_view KeyAt(uint32_t position) const {
    return std::invoke(kKey, rows_[position]);
  }
  // One past the largest position in use.
  uint32_t limit() const { return static_cast<uint32_t>(rows_.size()); }
  uint32_t size() const { return static_cast<uint32_t>(by_key_.size()); }

  // Invalid if nothing is there, or unknown.
  Id id(uint32_t position) const {
    if (position >= limit() || !rows_[position].exists) return {};
    return {position, rows_[position].generation};
  }
  Id FindId(std::string_view key) const { return id(Find(key)); }
  bool Has(Id known) const { return known.valid() && id(known.index) == known; }
  // Empty if it is gone.
  std::string_view KeyOf(Id known) const {
    return Has(known) ? KeyAt(known.index) : std::string_view();
  }

  // The positions in use: in their order, and by key in O(n log n).
  auto Positions() const {
    return std::views::iota(uint32_t{0}, limit()) |
           std::views::filter([this](uint32_t p) { return rows_[p].exists; });
  }
  std::vector<uint32_t> Sorted() const {
    std::vector<uint32_t> all;
    all.reserve(size());
    std::ranges::copy(Positions(), std::back_inserter(all));
    std::ranges::sort(all, {}, [this](uint32_t p) { return KeyAt(p); });
    return all;
  }

  // Of positions that come to be from now on.
  void StartGenerationsAt(uint32_t first) { first_generation_ = first; }
  uint32_t last_generation() const {
    uint32_t last = first_generation_;
    for (const Row& row : rows_) last = std::max(last, row.generation);
    return last;
  }

 protected:
  Row& row(uint32_t position) { return rows_[position]; }
  // The caller gives the new row its key at once.
  uint32_t Add(std::string_view key) {
    const uint32_t positions = limit();
    const uint32_t p = TakePosition(rows_, unused_);
    if (p == positions) rows_[p].generation = first_generation_;
    Put(p, key, rows_[p].generation + 1);
    return p;
  }
  void Remove(uint32_t position) {
    by_key_.erase(KeyAt(position));
    rows_[position].exists = false;
    unused_.push_back(position);
  }

  // Take back the last Add, at this position, and the last Remove, of this key:
  // everything since has been taken back. Positions and generations are given
  // out again as if it had not been.
  void UndoAdd(uint32_t position) {
    const uint32_t before = rows_[position].generation - 1;
    Remove(position);
    rows_[position] = Row();
    rows_[position].generation = before;
  }
  uint32_t UndoRemove(std::string_view key) {
    const uint32_t p = TakePosition(rows_, unused_);
    Put(p, key, rows_[p].generation);
    return p;
  }

 private:
  void Put(uint32_t position, std::string_view key, uint32_t generation) {
    Row& fresh = rows_[position] = Row();
    fresh.exists = true;
    fresh.generation = generation;
    by_key_.emplace(key, position);
  }

  Sequence<Row> rows_{};
  std::vector<uint32_t> unused_{};  // Last in, first out.
  StringMap<uint32_t> by_key_{};
  uint32_t first_generation_ = 0;
};

}  // namespace muster
