#include "adapters/local/store/sqlite_status.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

bool NoSpace(int error) { return error == ENOSPC || error == EDQUOT; }
bool NoAccess(int error) {
  return error == EACCES || error == EPERM || error == EROFS;
}

// `error` is the system's, 0 if it had no say.
absl::StatusCode CodeOf(int code, int error) {
  if (code == SQLITE_CONSTRAINT_PRIMARYKEY ||
      code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_ROWID) {
    return absl::StatusCode::kAlreadyExists;
  }
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return absl::StatusCode::kUnavailable;
    case SQLITE_IOERR:  // A quota that is reached comes as this.
      return NoSpace(error) ? absl::StatusCode::kResourceExhausted
                            : absl::StatusCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_CANTOPEN:
      return NoAccess(error) ? absl::StatusCode::kPermissionDenied
                             : absl::StatusCode::kFailedPrecondition;
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status SqliteStatus(sqlite3* db, const std::string& path, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) {
    return absl::OkStatus();
  }
  int primary = code & 0xff;
  bool system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  int error = system && db != nullptr ? sqlite3_system_errno(db) : 0;
  // The connection's words belong to its last error, which may be another.
  bool last = db != nullptr && sqlite3_extended_errcode(db) == code;
  std::string message =
      absl::StrCat(path, ": ", last ? sqlite3_errmsg(db) : sqlite3_errstr(code),
                   " (SQLite's error ", code, ")");
  if (error != 0) absl::StrAppend(&message, ": ", std::strerror(error));
  return absl::Status(CodeOf(code, error), message);
}

}  // namespace muster::local
