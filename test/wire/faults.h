// What the library asks the system to do to files, one by one: a test sees the
// calls, makes one fail, or kills the process before one is done. The linker
// puts this in the place of those functions (--wrap; CMakeLists.txt).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace muster::wire::faults {

// From now on: kills this process instead of doing call number `n` (from 0).
// Of a write, the first half of the bytes is still done.
void DieAt(int n);

// From now on, until Heal(): each call of this name fails with this errno.
void Fail(const std::string& call, int error);
void Heal();

// Does `something` before the next call of this name, once.
void Before(const std::string& call, std::function<void()> something);

// From now on, calls are listed: "write j.new 120", "fsync j.new",
// "rename j.new j", "fsync .". Paths are relative to the folder `within`.
void Record(const std::string& within);
std::vector<std::string> Recorded();

}  // namespace muster::wire::faults
