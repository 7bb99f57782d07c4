#include "adapters/local/controller/core_allocator.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

namespace muster::local {
namespace {

// So many cpus of a NUMA node, or of a core.
struct CpuShare {
  int64_t of = 0;  // The node's number, or the core's.
  size_t count = 0;
};
using CpuShares = std::vector<CpuShare>;

size_t CountOf(const CpuShares& shares) {
  return std::accumulate(
      shares.begin(), shares.end(), size_t{0},
      [](size_t sum, const CpuShare& share) { return sum + share.count; });
}

// `count` cpus, at least 1, of the fewest of those that have so many free: the
// largest as a whole, and of the smallest that suffices what is still missing.
// None: they have too few.
CpuShares FewestOf(CpuShares free, size_t count) {
  if (CountOf(free) < count) return {};
  std::ranges::stable_sort(free, std::greater(), &CpuShare::count);
  for (auto it = free.begin(); it != free.end(); ++it) {
    if (it->count < count) {
      count -= it->count;
      continue;
    }
    const auto end = std::find_if(
        it, free.end(), [count](const CpuShare& s) { return s.count < count; });
    const auto last = std::ranges::min_element(it, end, {}, &CpuShare::count);
    *it = {last->of, count};
    free.erase(std::next(it), free.end());
    return free;
  }
  return {};
}

// Likewise, and among the ways that take the fewest of both, the one with the
// most of `near`. Each that is taken is needed then, so that of `near` the
// largest are, as a whole unless they suffice.
CpuShares NearestOf(CpuShares near, const CpuShares& far, size_t count) {
  CpuShares both = near;
  both.insert(both.end(), far.begin(), far.end());
  const size_t fewest = FewestOf(std::move(both), count).size();
  if (fewest == 0) return {};
  std::ranges::stable_sort(near, std::greater(), &CpuShare::count);
  if (CpuShares all = FewestOf(near, count); all.size() == fewest) return all;
  near.resize(std::min(near.size(), fewest - 1));
  for (;; near.pop_back()) {
    const CpuShares rest = FewestOf(far, count - CountOf(near));
    if (!rest.empty() && near.size() + rest.size() == fewest) {
      near.insert(near.end(), rest.begin(), rest.end());
      return near;
    }
    if (near.empty()) return {};
  }
}

}  // namespace

CoreAllocator::CoreAllocator(const CpuPool& pool) {
  for (size_t i = 0; i < pool.cores.size(); ++i) {
    const CpuCore& core = pool.cores[i];
    all_.insert(core.threads.begin(), core.threads.end());
    if (pool.unit == CpuUnit::kCore) {
      cpus_.push_back({core.numa, i, core.threads});
      continue;
    }
    for (const uint32_t thread : core.threads) {
      cpus_.push_back({core.numa, i, {thread}});
    }
  }
}

bool CoreAllocator::IsFree(const Cpu& cpu) const {
  return std::ranges::none_of(
      cpu.threads, [this](uint32_t thread) { return taken_.contains(thread); });
}

std::vector<uint32_t> CoreAllocator::Take(size_t count,
                                          std::span<const int32_t> near) {
  if (count == 0) return {};
  std::map<int32_t, size_t> free;
  for (const Cpu& cpu : cpus_) {
    if (IsFree(cpu)) ++free[cpu.numa];
  }
  CpuShares near_free, far_free;
  for (const auto& [numa, cpus] : free) {
    const bool is_near = std::ranges::find(near, numa) != near.end();
    (is_near ? near_free : far_free).push_back({numa, cpus});
  }
  std::vector<uint32_t> taken;
  for (const CpuShare& share :
       NearestOf(std::move(near_free), far_free, count)) {
    TakeOfNode(static_cast<int32_t>(share.of), share.count, &taken);
  }
  std::ranges::sort(taken);
  return taken;
}

void CoreAllocator::TakeOfNode(int32_t numa, size_t count,
                               std::vector<uint32_t>* taken) {
  std::map<size_t, std::vector<const Cpu*>> cores;
  for (const Cpu& cpu : cpus_) {
    if (cpu.numa == numa && IsFree(cpu)) cores[cpu.core].push_back(&cpu);
  }
  CpuShares free;
  for (const auto& [core, cpus] : cores) {
    free.push_back({static_cast<int64_t>(core), cpus.size()});
  }
  for (const CpuShare& share : FewestOf(std::move(free), count)) {
    const auto& cpus = cores[static_cast<size_t>(share.of)];
    for (size_t i = 0; i < share.count; ++i) {
      const std::vector<uint32_t>& threads = cpus[i]->threads;
      taken_.insert(threads.begin(), threads.end());
      taken->insert(taken->end(), threads.begin(), threads.end());
    }
  }
}

void CoreAllocator::Claim(std::span<const uint32_t> cpus) {
  for (const uint32_t cpu : cpus) {
    if (all_.contains(cpu)) taken_.insert(cpu);
  }
}

void CoreAllocator::Return(std::span<const uint32_t> cpus) {
  for (const uint32_t cpu : cpus) taken_.erase(cpu);
}

std::vector<uint32_t> CoreAllocator::Free() const {
  std::vector<uint32_t> free;
  std::ranges::set_difference(all_, taken_, std::back_inserter(free));
  return free;
}

}  // namespace muster::local
