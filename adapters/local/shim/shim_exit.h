// ShimExit: how a task ended. The standard library alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "muster/ids.h"

namespace muster::local {

enum class ShimReason {
  kExited,       // By itself, or by somebody else's signal.
  kStopped,      // The daemon had asked for it.
  kTimeLimit,    // It was stopped for its time limit.
  kOutOfMemory,  // The kernel killed it for its memory.
  kNotStarted,   // `message` says why.
};

// "exited", "stopped", "time limit", "out of memory", "not started".
std::string_view Name(ShimReason reason);

struct ShimExit {
  // Of the main process: its exit code, or 128 and the signal that ended it.
  // Not started: 127 if there is no such command, else 126, as shells have it.
  int32_t code = 0;
  ShimReason reason = ShimReason::kExited;
  std::string message{};    // "command: frobnicate: No such file or directory"
  Time started = kForever;  // Since 1970. kForever: there was no process.
  Time ended = 0;           // Since 1970, when nothing of it was left.
  Duration ran = 0;         // On a clock that nobody sets.
  // Of all of its processes that ended while the shim lived.
  Duration user_time = 0;
  Duration system_time = 0;
  int64_t max_rss = 0;  // Bytes, of the largest process.
  // Processes that could not be killed: another user's, say, or those that the
  // kernel does not let go.
  uint32_t left = 0;

  friend bool operator==(const ShimExit&, const ShimExit&) = default;
};

// To bytes and back. False: these are no such bytes, or not all. Any thread;
// O(bytes).
std::string Encode(const ShimExit& exit);
bool Decode(std::string_view bytes, ShimExit* exit);

}  // namespace muster::local
