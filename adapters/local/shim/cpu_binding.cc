#include "adapters/local/shim/cpu_binding.h"

#include <sched.h>

#include <set>
#include <string>
#include <utility>

#include "adapters/local/shim/bind_process.h"

namespace muster::local {
namespace {

// Looks at a tree: none grows so fast that its threads escape for longer.
constexpr int kLooks = 100;

// Where a thread goes that is bound to `now`.
cpu_set_t Next(const cpu_set_t& now, const cpu_set_t& from,
               const cpu_set_t& to) {
  cpu_set_t both;
  CPU_AND(&both, &now, &to);
  return CPU_EQUAL(&now, &from) || CPU_COUNT(&both) == 0 ? to : both;
}

}  // namespace

void Rebind(const ProcessList& list, const std::vector<uint32_t>& from,
            const std::vector<uint32_t>& to) {
  const cpu_set_t old_set = CpuSetOf(from);
  const cpu_set_t new_set = CpuSetOf(to);
  std::set<std::pair<ProcessId, int32_t>> seen;
  // A thread that is seen once is bound, and so is what it starts from then on.
  for (int look = 0, found = 1; look < kLooks && found > 0; ++look) {
    found = 0;
    for (const ProcessStat& process : list()) {
      for (const int32_t thread : ThreadsOf(process.id.pid)) {
        cpu_set_t now;
        if (!seen.insert({process.id, thread}).second ||
            sched_getaffinity(thread, sizeof now, &now) != 0) {
          continue;
        }
        ++found;
        const cpu_set_t next = Next(now, old_set, new_set);
        sched_setaffinity(thread, sizeof next, &next);
      }
    }
  }
}

}  // namespace muster::local
