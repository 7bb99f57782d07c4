#include "test/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local size_t allocations = 0;
thread_local size_t bytes = 0;
thread_local bool fail = false;

}  // namespace

namespace muster::test {

size_t Allocations() { return allocations; }
size_t AllocatedBytes() { return bytes; }
void FailAllocations(bool now) { fail = now; }

}  // namespace muster::test

// A sanitizer's own would not pair with the delete below. None is inlined, or
// the compiler takes malloc and free for a mismatch.
[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  if (fail) return nullptr;
  ++allocations;
  bytes += size;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t align) {
  const auto a = static_cast<size_t>(align);
  if (fail) throw std::bad_alloc();
  ++allocations;
  bytes += size;
  if (void* memory = std::aligned_alloc(a, (size + a - 1) / a * a)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory,
                                       std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t,
                                       std::align_val_t) noexcept {
  std::free(memory);
}
