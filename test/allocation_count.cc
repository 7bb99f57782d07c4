#include "test/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local size_t allocations = 0;
thread_local bool fail = false;

}  // namespace

namespace muster::test {

size_t Allocations() { return allocations; }
void FailAllocations(bool now) { fail = now; }

}  // namespace muster::test

// A sanitizer's own would not pair with the delete below. None is inlined, or
// the compiler takes malloc and free for a mismatch.
[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  if (fail) return nullptr;
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
