// What PriorityHeap and Combiner need of a machine: atomic cells, plain cells
// that a checker may watch, and a way to wait for a moment. They take it as a
// template parameter, so that the tests run the very same code under a model
// checker or with delays at every step.
//
// A Threads type has
//   Atomic<T>   load, store, exchange, compare_exchange_weak as std::atomic's
//   Plain<T>    converts to and from T; what must never be accessed twice at
//               once, if one of the accesses writes
//   kShared     false: there is one thread, nothing is ever waited for
//   Pause(n)    called in a loop that waits for another thread, n = 0, 1, ...

#ifndef MUSTER_HEAP_THREADS_H_
#define MUSTER_HEAP_THREADS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

namespace muster {

// The default: any number of threads.
struct ManyThreads {
  template <class T>
  using Atomic = std::atomic<T>;
  template <class T>
  using Plain = T;
  static constexpr bool kShared = true;

  // Another thread that runs is soon done; one that does not needs a core.
  static void Pause(uint32_t round) {
    if (round >= kSpins) {
      return std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

 private:
  static constexpr uint32_t kSpins = 16;
};

// One thread, or several that take turns under a lock of their own: no atomic
// instruction is spent.
struct OneThread {
  template <class T>
  class Atomic {
   public:
    Atomic(T value) : value_(value) {}  // NOLINT(*-explicit-*): as std::atomic
    T load(std::memory_order) const { return value_; }
    void store(T value, std::memory_order) { value_ = value; }
    T exchange(T value, std::memory_order) {
      return std::exchange(value_, value);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order,
                               std::memory_order) {
      const bool equal = value_ == expected;
      (equal ? value_ : expected) = equal ? value : value_;
      return equal;
    }

   private:
    T value_;
  };
  template <class T>
  using Plain = T;
  static constexpr bool kShared = false;
  static void Pause(uint32_t) {}
};

}  // namespace muster

#endif  // MUSTER_HEAP_THREADS_H_
