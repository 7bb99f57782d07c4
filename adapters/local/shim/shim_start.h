// ShimStart: the processes of an attempt, written before its task's first
// instruction. The standard library alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/local/shim/process_id.h"
#include "muster/ids.h"

namespace muster::local {

struct ShimStart {
  ProcessId task{};    // The main process, which leads its process group.
  ProcessId shim{};    // It leads the session, if it could.
  std::string boot{};  // Which start of the machine; process ids are of one.
  Time at = 0;         // Since 1970.

  friend bool operator==(const ShimStart&, const ShimStart&) = default;
};

// To bytes and back. False: these are no such bytes, or not all. Any thread;
// O(bytes).
std::string Encode(const ShimStart& start);
bool Decode(std::string_view bytes, ShimStart* start);

// What the kernel calls this start of the machine; "" if it does not tell.
std::string BootId();

}  // namespace muster::local
