// The folder of an attempt: the files of muster-shim in it, how they are read
// and written. The standard library and POSIX alone. Any thread.
//
// Whoever reads a file of the shim sees all of it or none: it is written under
// another name and renamed. It is there after kill -9, not after loss of power.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "adapters/local/shim/open_file.h"

namespace muster::local {

inline constexpr char kSpecFile[] = "spec";         // ShimSpec; by the daemon.
inline constexpr char kLockFile[] = "lock";         // Locked while a shim runs.
inline constexpr char kStartedFile[] = "started";   // ShimStart.
inline constexpr char kExitFile[] = "exit";         // ShimExit.
inline constexpr char kGraceFile[] = "grace";       // Of a stop; by the daemon.
inline constexpr char kCpusFile[] = "cpus";         // By the daemon.
inline constexpr char kInputFile[] = "input";       // A FIFO: TaskInput.
inline constexpr char kNoInputFile[] = "no-input";  // Its end; by the daemon.
inline constexpr char kNewSuffix[] = ".new";  // Of a file that is written.

// Exit codes of muster-shim; others are an errno of what went wrong before the
// task was started.
inline constexpr int kShimDone = 0;       // The file "exit" is there.
inline constexpr int kShimRuns = 200;     // Another shim has the folder.
inline constexpr int kShimWasHere = 201;  // The task had been started before.

// In place of a folder: muster-shim only tells, by 0 or an errno as its code,
// whether tasks can have mounts here.
inline constexpr char kTryMounts[] = "--try-mounts";

// Whether a file of this name is the shim's or is about to be.
bool IsShimFile(std::string_view name);

// The folder, for the functions below. errno says why not: EPERM, it is
// somebody else's, or others may write in it.
OpenFile OpenAttemptFolder(const std::string& path);

// All of it; `folder` may be AT_FDCWD. Symbolic links are not followed. 0 or an
// errno. O(bytes).
int ReadFile(int folder, const char* name, std::string* bytes);

// All of it into an open file. 0 or an errno. O(bytes).
int WriteAll(int fd, std::string_view bytes);
// All of it into a file that is there, as those are by which the kernel is told
// something; no symbolic link is followed as its last part. 0 or an errno.
int WriteExisting(const char* path, std::string_view bytes);

// Makes it anew, readable by its owner only. 0 or an errno. O(bytes).
int WriteFile(int folder, const std::string& name, std::string_view bytes);

// Keeps room for a WriteFile of up to `bytes` on the disk. 0 or an errno.
int ReserveFile(int folder, const std::string& name, size_t bytes);

}  // namespace muster::local
