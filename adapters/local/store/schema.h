// The tables of a store's file.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "adapters/local/store/database.h"

namespace muster::local {

// What SQLite keeps as user_version; each schema has the next one.
extern const int64_t kSchemaVersion;

// Reads only: FAILED_PRECONDITION if it is another program's file, or one that
// a newer version has written.
absl::Status CheckSchema(Database& connection);

// Makes the tables, or brings those of an older version up to this one, a
// transaction for each version. After CheckSchema.
absl::Status Migrate(Database& connection);

}  // namespace muster::local
