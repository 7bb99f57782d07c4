// The program muster-sim. It counts its allocations, hence a main of its own.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>

#include "adapters/inprocess/cli.h"

namespace {

// muster-sim has one thread.
uint64_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

int main(int argc, char** argv) {
  return muster::inprocess::SimMain(
      argc, argv, {.out = std::cout, .err = std::cerr, .allocations = [] {
                     return allocations;
                   }});
}
