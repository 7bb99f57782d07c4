// SQLite's errors as statuses.
#pragma once

#include <string>

#include "absl/status/status.h"

struct sqlite3;

namespace muster::local {

// What the result code `code` of a call on `db`, the file `path`, says; OK for
// those that are no errors. `db` may be null. The message is "PATH: SQLite's
// words (its name for the code)", and the system's words if it had a say.
//
// RESOURCE_EXHAUSTED: disk, quota or memory is full. UNAVAILABLE: another
// process has the file locked; or the disk failed. DATA_LOSS: damaged, or not
// SQLite's. PERMISSION_DENIED: may not be read or written. FAILED_PRECONDITION:
// cannot be opened. ALREADY_EXISTS: a key that is there. INVALID_ARGUMENT: a
// value that is too large or of another type. Otherwise INTERNAL. Any thread
// that may use `db`.
absl::Status SqliteStatus(sqlite3* db, const std::string& path, int code);

}  // namespace muster::local
