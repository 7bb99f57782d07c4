// The program muster-sim. It counts its allocations, hence a main of its own.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>

#include "adapters/cli/cli.h"

namespace {

// muster-sim has one thread.
uint64_t allocations = 0;

}  // namespace

// The library's temporary buffers ask without throwing: a sanitizer's own would
// not pair with the delete below. None is inlined, or the compiler takes malloc
// and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size,
                                     const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

int main(int argc, char** argv) {
  return muster::inprocess::SimMain(
      argc, argv, {.out = std::cout, .err = std::cerr, .allocations = [] {
                     return allocations;
                   }});
}
