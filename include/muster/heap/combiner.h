// A lock whose holder does the work of those who wait for it.
//
//   Combiner<> combiner;
//   int count = 0;
//   combiner.Run([&] { ++count; });  // From any thread.
//
// Thread safety. All from any thread. What runs inside must not call the same
// Combiner again.
//
// Progress. Blocking: who comes while another thread is inside waits until that
// thread, or a third one, has run its function; a thread that stops for ever
// inside stops the others. Who comes alone pays one exchange and one store.
// Before it leaves, a holder runs the functions of those that came in the
// meantime, each once and no later ones, so that none is kept inside for ever.
// Not fair: a newcomer may go before one that waits.
//
// Memory orders.
//   held_, exchange       acquire: what earlier holders wrote is seen.
//   held_, store          release: pairs with it.
//   held_, load           relaxed: a guess, which the exchange checks.
//   requests_, CAS        release: publishes the request and all its thread
//                         wrote before. Relaxed on failure, as the load.
//   requests_, load       relaxed: a request that is missed is seen by its own
//                         thread's next try to enter.
//   requests_, exchange   acquire: pairs with every CAS that it takes.
//   done, store           release: the result, and what the function wrote.
//   done, load            acquire: pairs with it.

#ifndef MUSTER_HEAP_COMBINER_H_
#define MUSTER_HEAP_COMBINER_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <type_traits>

#include "muster/heap/threads.h"

namespace muster {

template <class Threads = ManyThreads>
class Combiner {
 public:
  Combiner() = default;
  Combiner(const Combiner&) = delete;
  Combiner& operator=(const Combiner&) = delete;

  // Runs `function`, here or on the thread inside, alone; returns its result.
  // What it throws comes out here.
  template <class Function>
  auto Run(Function function) {
    using Result = std::invoke_result_t<Function&>;
    if constexpr (std::is_void_v<Result>) {
      Run([&] { return function(), true; });
    } else {
      if (TryEnter()) {
        const Inside inside(this);
        return function();
      }
      Asked<Function, Result> request(&function);
      Ask(&request);
      Result result = request.result;
      return result;
    }
  }

  // Enters to stay; Leave() must follow, on the same thread.
  void Enter() {
    for (uint32_t round = 0; !TryEnter(); ++round) Threads::Pause(round);
  }
  void Leave() {
    ServeOthers();
    held_.store(0, std::memory_order_release);
  }
  // Who stays inside calls this now and then: others wait for it.
  void ServeOthers() {
    if (requests_.load(std::memory_order_relaxed) != nullptr) ServeAll();
  }

 private:
  // On the stack of the thread that waits, until `done`.
  struct Request {
    explicit Request(void (*f)(Request*)) : run(f) {}
    void (*run)(Request*);
    typename Threads::template Plain<Request*> next{nullptr};
    std::exception_ptr error{};
    typename Threads::template Atomic<uint32_t> done{0};
  };
  template <class Function, class Result>
  struct Asked : Request {
    explicit Asked(Function* f) : Request(&Asked::Call), function(f) {}
    static void Call(Request* request) {
      Asked* const self = static_cast<Asked*>(request);
      self->result = (*self->function)();
    }
    Function* function;
    typename Threads::template Plain<Result> result{Result()};
  };
  struct Inside {
    explicit Inside(Combiner* c) : combiner(c) {}
    ~Inside() { combiner->Leave(); }
    Combiner* combiner;
  };

  bool TryEnter() { return held_.exchange(1, std::memory_order_acquire) == 0; }

  void Ask(Request* request) {
    Request* head = requests_.load(std::memory_order_relaxed);
    do {
      request->next = head;
    } while (!requests_.compare_exchange_weak(
        head, request, std::memory_order_release, std::memory_order_relaxed));
    for (uint32_t round = 0; request->done.load(std::memory_order_acquire) == 0;
         ++round) {
      // Once inside, the request is either taken by an earlier holder, and then
      // done, or still there, and then served by Leave.
      if (held_.load(std::memory_order_relaxed) == 0 && TryEnter()) {
        Leave();
      } else {
        Threads::Pause(round);
      }
    }
#if defined(__cpp_exceptions)
    if (request->error) std::rethrow_exception(request->error);
#endif
  }

  void ServeAll() {
    Request* newest = requests_.exchange(nullptr, std::memory_order_acquire);
    Request* oldest = nullptr;
    while (newest != nullptr) {  // Turns the list round.
      Request* const request = newest;
      newest = request->next;
      request->next = oldest;
      oldest = request;
    }
    while (oldest != nullptr) {
      Request* const request = oldest;
      oldest = request->next;
      Serve(request);
      // From here on the request may be gone.
      request->done.store(1, std::memory_order_release);
    }
  }

  static void Serve(Request* request) {
#if defined(__cpp_exceptions)
    try {
      request->run(request);
    } catch (...) {
      request->error = std::current_exception();
    }
#else
    request->run(request);
#endif
  }

  alignas(64) typename Threads::template Atomic<uint32_t> held_{0};
  typename Threads::template Atomic<Request*> requests_{nullptr};
};

}  // namespace muster

#endif  // MUSTER_HEAP_COMBINER_H_
