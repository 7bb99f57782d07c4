// Threads (muster/heap/threads.h) that may be held up before each of their
// atomic steps, for a while or for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

#include "muster/heap/threads.h"

namespace muster::test {

// What a thread does to itself at each step; it has none until it makes one.
class Delays {
 public:
  // Now and then another thread goes first, for a moment or for long.
  explicit Delays(uint64_t seed) : random_(seed) { mine = this; }
  // Stops at step `step` (1, 2, ...), until Release.
  struct Stop {
    int step;
    std::atomic<bool> reached = false;
    std::atomic<bool> released = false;

    void Release() {
      released.store(true, std::memory_order_release);
      released.notify_all();
    }
  };
  explicit Delays(Stop* stop) : stop_(stop) { mine = this; }
  ~Delays() { mine = nullptr; }
  Delays(const Delays&) = delete;
  Delays& operator=(const Delays&) = delete;

  static void Step() {
    if (mine != nullptr) mine->Take();
  }

 private:
  void Take() {
    ++steps_;
    if (stop_ == nullptr) {
      const uint64_t dice = random_() % 64;
      if (dice < 12) std::this_thread::yield();
      if (dice == 12) {
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % 50));
      }
    } else if (steps_ == stop_->step) {
      stop_->reached.store(true, std::memory_order_release);
      stop_->reached.notify_all();
      stop_->released.wait(false, std::memory_order_acquire);
    }
  }

  static thread_local inline Delays* mine = nullptr;
  std::mt19937_64 random_;
  Stop* stop_ = nullptr;
  int steps_ = 0;
};

struct DelayedThreads {
  template <class T>
  class Atomic {
   public:
    Atomic(T value) : cell_(value) {}
    T load(std::memory_order order) const {
      Delays::Step();
      return cell_.load(order);
    }
    void store(T value, std::memory_order order) {
      Delays::Step();
      cell_.store(value, order);
    }
    T exchange(T value, std::memory_order order) {
      Delays::Step();
      return cell_.exchange(value, order);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order yes,
                               std::memory_order no) {
      Delays::Step();
      return cell_.compare_exchange_weak(expected, value, yes, no);
    }

   private:
    std::atomic<T> cell_;
  };
  template <class T>
  using Plain = T;
  static constexpr bool kShared = true;
  static void Pause(uint32_t) { std::this_thread::yield(); }
};

}  // namespace muster::test
