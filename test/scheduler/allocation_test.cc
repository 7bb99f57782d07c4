// Counts allocations: a pass that has nothing new to decide makes none.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace {

thread_local size_t allocations = 0;

}  // namespace

// Not inlined, or the compiler takes malloc and free for a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// A sanitizer's own would not pair with the delete below.
[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace muster {
namespace {

// Gangs that run, wait in classes, are nominated, could grow, are parked.
void Fill(Story& s) {
  for (int n = 0; n < 8; ++n) s.HasNode("n" + std::to_string(n), 4);
  s.HasQueue("q");
  s.HasQueue("bounded", {GpuQuota(1, 2)});
  s.HasClasses();
  for (int g = 0; g < 14; ++g) {
    s.Submit(Job("small" + std::to_string(g), 1, 1, "low"));
  }
  s.Submit(Elastic("elastic", 1, 50, "low"));
  s.Pass();
  s.AllDone();
  Gang parked = Job("parked");
  parked.not_before = 1'000 * kSecond;
  s.Submit(parked);
  Gang held = Job("held");
  held.held = true;
  s.Submit(held);
  for (int g = 0; g < 5; ++g) {
    s.Submit(Job("twin" + std::to_string(g), 2, 4));
    s.Submit(Job("other" + std::to_string(g), 3 + g, 4, "mid"));
    Gang gang = Job("bounded" + std::to_string(g), 3);
    gang.queue = "bounded";
    s.Submit(gang);
  }
  s.Submit(Job("promised", 1, 2, "high"));
}

TEST(Allocations, NoneInASteadyPass) {
  Story s;
  Fill(s);
  Plan plan;
  for (int warm = 0; warm < 4; ++warm) s.scheduler().Schedule(s.now, &plan);
  ASSERT_TRUE(plan.decisions.empty());
  ASSERT_EQ(s.Phase("promised"), "nominated");
  ASSERT_FALSE(plan.waiting.empty());
  for (int pass = 1; pass <= 3; ++pass) {
    const size_t before = allocations;
    s.scheduler().Schedule(s.now + pass * kSecond, &plan);
    EXPECT_EQ(allocations - before, 0u) << "pass " << pass;
  }
}

TEST(Allocations, NoneForAnsweredEvents) {
  Story s;
  Fill(s);
  s.Pass();
  const Event checkpoint{s.now, CheckpointTaken{"small0", 0}};
  const Event again{s.now, DecisionApplied{1}};
  for (const Event* event : {&checkpoint, &again}) {
    ASSERT_TRUE(s.scheduler().Apply(*event).ok());
    const size_t before = allocations;
    ASSERT_TRUE(s.scheduler().Apply(*event).ok());
    EXPECT_EQ(allocations - before, 0u);
  }
}

}  // namespace
}  // namespace muster
