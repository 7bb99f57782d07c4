// Answers about nodes in a state that was met before.
#ifndef MUSTER_LIB_POLICY_MEMO_H_
#define MUSTER_LIB_POLICY_MEMO_H_

#include <array>
#include <cstdint>
#include <vector>

#include "lib/policy/node_state.h"

namespace muster::policy {

// Many nodes of a cluster are in few states (1,904 of 100,000 nodes when they
// run a mix of tasks), and most questions repeat. Whole keys are compared: an
// answer is the one that was stored for exactly this question. Of two that
// meet in one place the later stays. 1 MiB, taken by the first answer.
class Memo {
 public:
  struct Answer {
    int64_t gain = 0;
    DeviceSet device{};
  };

  // Everything an answer depends on, packed.
  class Key {
   public:
    // Kinds of nodes and requests are told apart by their serial numbers.
    Key(uint64_t kind, uint64_t request, const NodeState& state,
        ResourceKind device_kind);
    // False: it is too long, and must not be used.
    bool fits() const { return size_ <= kMostWords; }

   private:
    friend class Memo;
    static constexpr size_t kMostWords = 28;

    void Add(uint64_t word) {
      if (size_ < kMostWords) words_[size_] = word;
      ++size_;
      hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
      hash_ ^= hash_ >> 32;
    }

    std::array<uint64_t, kMostWords> words_;
    size_t size_ = 0;
    uint64_t hash_ = 0;
  };

  // The answer, or null.
  const Answer* Find(const Key& key) const;
  void Store(const Key& key, const Answer& answer);

 private:
  static constexpr size_t kEntries = 1 << 12;

  struct Entry {
    std::array<uint64_t, Key::kMostWords> words{};
    uint64_t size = 0;  // 0: none.
    Answer answer{};
  };

  std::vector<Entry> entries_{};
};

}  // namespace muster::policy

#endif  // MUSTER_LIB_POLICY_MEMO_H_
