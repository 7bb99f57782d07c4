// Processes as /proc tells of them, and signals to all of a tree. The standard
// library and Linux alone. Any thread.
//
// A tree changes while it is read: what is found is stopped, and looked at
// again, until nothing is new and all of it stands still. (The kernel ends a
// fork that has begun before it stops the process.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "adapters/local/shim/process_id.h"

namespace muster::local {

struct ProcessStat {
  ProcessId id{};
  int32_t parent = 0;
  int32_t session = 0;
  char state = '?';  // 'R', 'S', 'D', 'T' (stopped), 'Z' (a zombie) ...

  friend bool operator==(const ProcessStat&, const ProcessStat&) = default;
};

// Nothing: there is no such process.
std::optional<ProcessStat> StatOf(int32_t pid);

// False: that process is not there any more, or errno says why it cannot be
// signalled. Never to another one that has its number by now.
bool Signal(const ProcessId& process, int signal);

// Its children, their children, and so on, parents first. O(processes of the
// tree), or of the machine where the kernel does not tell the children.
std::vector<ProcessStat> DescendantsOf(int32_t pid);
// Numbers of its threads; none: there is no such process. O(threads).
std::vector<int32_t> ThreadsOf(int32_t pid);
// Those of a session. O(processes of the machine).
std::vector<ProcessStat> ProcessesOfSession(int32_t session);

using ProcessList = std::function<std::vector<ProcessStat>()>;

// SIGSTOP to all that `list` gives, until nothing is new and all are stopped.
// Those that do not stop (they wait for a disk, say) are waited for for about
// so many milliseconds. Gives those that it found.
std::vector<ProcessId> Freeze(const ProcessList& list, int patience_ms);
// SIGCONT, children first, so that nobody sees a child that is stopped.
void Thaw(const ProcessList& list);
// Freezes with little patience, then SIGKILL. Who is killed may still be there
// for a moment, and what has escaped needs another call.
std::vector<ProcessId> Slay(const ProcessList& list);

}  // namespace muster::local
