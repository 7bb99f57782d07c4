#include "test/queue/heap_model.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "muster/heap/priority_heap.h"
#include "test/queue/heap_recorder.h"
#include "test/queue/linearizability.h"

// Last: Relacy defines words of the language and of the standard library anew.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <relacy/relacy.hpp>
#pragma GCC diagnostic pop
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace muster::test {

namespace {

// --- Threads for the heap ----------------------------------------------------

struct ModelThreads {
  static rl::memory_order Order(std::memory_order order) {
    switch (order) {
      case std::memory_order_relaxed:
        return rl::mo_relaxed;
      case std::memory_order_consume:
      case std::memory_order_acquire:
        return rl::mo_acquire;
      case std::memory_order_release:
        return rl::mo_release;
      case std::memory_order_acq_rel:
        return rl::mo_acq_rel;
      default:
        return rl::mo_seq_cst;
    }
  }

  template <class T>
  class Atomic {
   public:
    Atomic(T value) { cell_.store(value, rl::mo_relaxed, RL_INFO); }
    T load(std::memory_order order) const {
      return cell_.load(Order(order), RL_INFO);
    }
    void store(T value, std::memory_order order) {
      cell_.store(value, Order(order), RL_INFO);
    }
    T exchange(T value, std::memory_order order) {
      return cell_.exchange(value, Order(order), RL_INFO);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order yes,
                               std::memory_order no) {
      return cell_.compare_exchange_weak(expected, value, Order(yes), RL_INFO,
                                         Order(no), RL_INFO);
    }

   private:
    rl::atomic<T> cell_;
  };

  template <class T>
  class Plain {
   public:
    Plain(T value) { cell_(RL_INFO).store(value); }
    Plain& operator=(T value) {
      cell_(RL_INFO).store(value);
      return *this;
    }
    operator const T&() const { return copy_ = cell_(RL_INFO).load(); }

   private:
    mutable rl::var<T> cell_;
    mutable T copy_{};
  };

  static constexpr bool kShared = true;
  static void Pause(uint32_t) { rl::yield(1, RL_INFO); }
};

// Relacy takes over the free store, and asks at each release whether the memory
// is to be used again: many choices of no interest. Not while one of these is.
class OwnFreeStore {
 public:
  OwnFreeStore() { Disable() += 1; }
  ~OwnFreeStore() { Disable() -= 1; }
  OwnFreeStore(const OwnFreeStore&) = delete;
  OwnFreeStore& operator=(const OwnFreeStore&) = delete;

 private:
  struct Context : rl::context {
    static auto Member() { return &Context::disable_alloc_; }
  };
  static int& Disable() { return rl::ctx().*Context::Member(); }
};

// --- What the programs have in common ----------------------------------------

struct Clock {
  uint64_t operator()() const { return ++*now; }
  uint64_t* now;
};

// kBase: the first key; below 61 all keys have levels, else none has.
template <class Derived, int kThreads, int kBase>
struct HeapProgram : OwnFreeStore, rl::test_suite<Derived, kThreads> {
  using Recorder = HeapRecorder<ModelThreads, Clock>;
  using Job = typename Recorder::Job;
  using Heap = typename Recorder::Heap;

  HeapProgram() {
    for (int i = 0; i < kThreads; ++i) on.emplace_back(&heap, Clock{&now});
  }

  // Whatever the threads saw, one thread could have seen; and the heap works.
  void after() {
    Recorder last(&heap, Clock{&now});
    while (last.PopBest() != nullptr) {
    }
    std::vector<HeapCall> calls = last.calls();
    for (const Recorder& each : on) {
      calls.insert(calls.end(), each.calls().begin(), each.calls().end());
    }
    if (!Linearizable(calls)) {
      rl::ctx().exec_log_msg(RL_INFO, Print(calls).c_str());
      RL_ASSERT(!"linearizable");
    }
  }

  static constexpr int Key(int key) { return kBase + key; }

  Heap heap;
  uint64_t now = 0;
  std::vector<Recorder> on;  // By thread.
};

// --- The programs ------------------------------------------------------------

// Two push, one of them of what it wrote before; one takes.
template <int kBase>
struct PushPushPop : HeapProgram<PushPushPop<kBase>, 3, kBase> {
  void thread(unsigned t) {
    auto& on = this->on[t];
    if (t < 2) {
      said[t].emplace(static_cast<int>(t) + 7);
      on.Push(&jobs[t]);
      if (t == 1) on.Push(&jobs[2]);
    } else {
      for (int turn = 0; turn < 3; ++turn) {
        auto* const job = on.PopBest();
        if (job == nullptr || job->id == 2) continue;
        RL_ASSERT(*said[job->id] == job->id + 7);
        said[job->id].reset();  // And its memory is the taker's.
      }
    }
  }
  typename PushPushPop::Job jobs[3] = {
      {0, this->Key(1)}, {1, this->Key(1)}, {2, this->Key(0)}};
  std::optional<ModelThreads::Plain<int>> said[2];
};

// Three that take at once, in different ways; each node goes to one of them.
template <int kBase>
struct ManyTake : HeapProgram<ManyTake<kBase>, 3, kBase> {
  void before() {
    for (auto& job : jobs) this->on[0].Push(&job);
  }
  void thread(unsigned t) {
    auto& on = this->on[t];
    if (t == 0) {
      std::array<typename ManyTake::Job*, 2> out;
      on.PopBest(out);
    } else if (t == 1) {
      on.PopBest();
      on.size();
    } else {
      on.PeekBest();
      on.PopBest();
    }
  }
  typename ManyTake::Job jobs[3] = {
      {0, this->Key(2)}, {1, this->Key(1)}, {2, this->Key(2)}};
};

// Two want the same node: who gets it frees it when the other is through, or
// pushes it again at once.
template <int kBase>
struct EraseOrPop : HeapProgram<EraseOrPop<kBase>, 3, kBase> {
  void before() {
    this->on[0].Push(&*mine);
    this->on[0].Push(&other);
  }
  void thread(unsigned t) {
    auto& on = this->on[t];
    switch (t) {
      case 0:
        if (on.Erase(&*mine)) {  // No other thread names it.
          mine.reset();
          mine.emplace(2, this->Key(0));
          on.Push(&*mine);
        }
        break;
      case 1:
        if (auto* const job = on.PopBest(); job == &other) {
          job->set_key(this->Key(2));
          on.Push(job);
        }
        break;
      default:
        on.Push(&late);
        break;
    }
  }
  typename EraseOrPop::Job other{1, this->Key(1)}, late{3, this->Key(1)};
  std::optional<typename EraseOrPop::Job> mine{std::in_place, 0, this->Key(1)};
};

// A node that may still be in the inbox gets other keys, from two threads.
template <int kBase>
struct ReprioritizeInInbox : HeapProgram<ReprioritizeInInbox<kBase>, 3, kBase> {
  void before() { this->on[0].Push(&jobs[0]); }
  void thread(unsigned t) {
    auto& on = this->on[t];
    switch (t) {
      case 0:
        on.Push(&jobs[1]);
        on.Reprioritize(&jobs[1], this->Key(0));
        on.Erase(&jobs[1]);
        break;
      case 1:
        on.Reprioritize(&jobs[0], this->Key(2));
        on.Push(&jobs[2]);
        break;
      default:
        on.PopBest();
        on.PopBest();
    }
  }
  typename ReprioritizeInInbox::Job jobs[3] = {
      {0, this->Key(1)}, {1, this->Key(1)}, {2, this->Key(2)}};
};

// A node leaves and is pushed again while another push still has its address:
// ABA, if the inbox had the problem.
template <int kBase>
struct PushedAgain : HeapProgram<PushedAgain<kBase>, 2, kBase> {
  void before() { this->on[0].Push(&first); }
  void thread(unsigned t) {
    auto& on = this->on[t];
    if (t == 0) {
      on.Push(&second);
    } else if (auto* const job = on.PopBest(); job == &first) {
      on.Push(&third);
      on.PopBest();
      on.Push(&first);
    }
  }
  typename PushedAgain::Job first{0, this->Key(0)}, second{1, this->Key(1)},
      third{2, this->Key(0)};
};

// Stays inside while others ask.
template <int kBase>
struct InSession : HeapProgram<InSession<kBase>, 3, kBase> {
  void before() {
    for (auto& job : jobs) this->on[0].Push(&job);
  }
  void thread(unsigned t) {
    auto& on = this->on[t];
    if (t == 0) {
      typename InSession::Heap::Session session(&this->heap);
      auto* const one = session->PopBest();
      auto* const two = session->PopBest();
      RL_ASSERT(one == nullptr || two == nullptr || one->key() <= two->key());
      if (one != nullptr) session->Push(one);
      if (two != nullptr) session->Push(two);
    } else if (t == 1) {
      on.PopBest();
    } else {
      on.Erase(&jobs[0]);
    }
  }
  void after() {}  // What the session did is not written down.
  typename InSession::Job jobs[3] = {
      {0, this->Key(0)}, {1, this->Key(1)}, {2, this->Key(2)}};
};

// All heaps have one order: two threads, each of which pushes to one heap and
// then looks into the other, cannot both find nothing.
template <int kBase>
struct OneOrder : HeapProgram<OneOrder<kBase>, 2, kBase> {
  void thread(unsigned t) {
    auto& mine = t == 0 ? this->heap : other;
    auto& yours = t == 0 ? other : this->heap;
    mine.Push(&jobs[t]);
    found[t] = yours.PeekBest() != nullptr;
  }
  void after() { RL_ASSERT(found[0] || found[1]); }
  typename OneOrder::Heap other;
  typename OneOrder::Job jobs[2] = {{0, this->Key(0)}, {1, this->Key(0)}};
  bool found[2] = {};
};

// --- Running them ------------------------------------------------------------

template <class Program>
ModelResult Simulate(ModelSearch search, uint64_t how_many) {
  std::ostringstream out;
  rl::test_params params;
  params.output_stream = &out;
  params.progress_stream = &out;
  params.execution_depth_limit = 5000;
  if (search == ModelSearch::kRandom) {
    params.search_type = rl::sched_random;
    params.iteration_count = how_many;
  } else {
    params.search_type = rl::sched_bound;
    params.context_bound = static_cast<unsigned>(how_many);
  }
  ModelResult result;
  result.ok = rl::simulate<Program>(params);
  result.executions = params.stop_iteration;
  result.report = out.str();
  return result;
}

constexpr int kLevels = 1, kKeys = 1000;

}  // namespace

std::span<const Model> Models() {
  static constexpr Model kModels[] = {
      {"push, push, pop; levels", Simulate<PushPushPop<kLevels>>},
      {"push, push, pop; keys", Simulate<PushPushPop<kKeys>>},
      {"many take; levels", Simulate<ManyTake<kLevels>>},
      {"many take; keys", Simulate<ManyTake<kKeys>>},
      {"erase or pop; levels", Simulate<EraseOrPop<kLevels>>},
      {"erase or pop; keys", Simulate<EraseOrPop<kKeys>>},
      {"reprioritize; levels", Simulate<ReprioritizeInInbox<kLevels>>},
      {"reprioritize; keys", Simulate<ReprioritizeInInbox<kKeys>>},
      {"reprioritize; 62 to 64", Simulate<ReprioritizeInInbox<62>>},
      {"pushed again; levels", Simulate<PushedAgain<kLevels>>},
      {"pushed again; keys", Simulate<PushedAgain<kKeys>>},
      {"session; levels", Simulate<InSession<kLevels>>},
      {"one order of two heaps", Simulate<OneOrder<kLevels>>},
  };
  return kModels;
}

}  // namespace muster::test
