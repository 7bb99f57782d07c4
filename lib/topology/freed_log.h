// Which nodes gained room, and since when: a bounded log that respects
// transactions.
#ifndef MUSTER_LIB_TOPOLOGY_FREED_LOG_H_
#define MUSTER_LIB_TOPOLOGY_FREED_LOG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "muster/cluster.h"

namespace muster {

// A reader keeps version() and asks later what was freed since. What a
// transaction freed and took back by its rollback is not reported to a reader
// from before it; a reader from inside it (who saw a state that never came to
// be) is told that the log cannot say. A value type.
class FreedLog {
 public:
  uint64_t version() const { return version_; }
  // Remembers at least so many entries from here on; the only call that
  // allocates.
  void Reserve(size_t entries);
  void Add(NodeIndex node) { Push({++version_, 0, node}); }

  // Starts a transaction; the result is Undo's argument.
  uint64_t Begin() { return version_++; }
  // Everything since that Begin() was undone.
  void Undo(uint64_t begin);

  // Appends the nodes freed since `version`; false if the log cannot say.
  bool Since(uint64_t version, std::vector<NodeIndex>* nodes) const;

 private:
  static constexpr size_t kMinEntries = 64;
  static constexpr size_t kMaxEntries = size_t{1} << 16;
  static constexpr NodeIndex kUndone = 0xffffffff;

  struct Entry {
    uint64_t version = 0;
    uint64_t from = 0;  // kUndone: readers in (from, version) are refused.
    NodeIndex node = 0;
  };

  void Push(const Entry& entry);
  const Entry& At(size_t i) const {
    return ring_[(first_ + i) & (ring_.size() - 1)];
  }

  std::vector<Entry> ring_ = std::vector<Entry>(kMinEntries);  // 2^i of them.
  size_t first_ = 0;
  size_t count_ = 0;
  uint64_t version_ = 0;
  uint64_t forgotten_ = 0;  // Readers before this version are refused.
};

}  // namespace muster

#endif  // MUSTER_LIB_TOPOLOGY_FREED_LOG_H_
