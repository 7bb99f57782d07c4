#include "adapters/local/store/statement.h"

#include <sqlite3.h>

#include <utility>

#include "adapters/local/store/database.h"

namespace muster::local {
namespace {

// SQLite takes a null pointer for NULL, not for no bytes.
const char* Data(std::string_view text) {
  return text.data() != nullptr ? text.data() : "";
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      prepared_(std::exchange(other.prepared_, nullptr)),
      error_(other.error_),
      parameter_(other.parameter_),
      column_(other.column_) {}

Statement::~Statement() {
  if (prepared_ == nullptr) return;
  sqlite3_reset(prepared_);
  sqlite3_clear_bindings(prepared_);
}

absl::StatusOr<bool> Statement::Step() {
  if (error_ != SQLITE_OK) return connection_->Error(error_);
  column_ = 0;
  int code = sqlite3_step(prepared_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->Error(code);
}

absl::Status Statement::Run() {
  absl::StatusOr<bool> row = true;
  while (row.ok() && *row) row = Step();
  return row.status();
}

bool Statement::IsNull() const {
  return sqlite3_column_type(prepared_, column_) == SQLITE_NULL;
}

void Statement::BindInteger(int64_t value) {
  if (error_ != SQLITE_OK) return;
  error_ = sqlite3_bind_int64(prepared_, ++parameter_, value);
}

void Statement::BindText(std::string_view value) {
  if (error_ != SQLITE_OK) return;
  error_ = sqlite3_bind_text64(prepared_, ++parameter_, Data(value),
                               value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::BindOne(Blob value) {
  if (error_ != SQLITE_OK) return;
  error_ = sqlite3_bind_blob64(prepared_, ++parameter_, Data(value.bytes),
                               value.bytes.size(), SQLITE_STATIC);
}

void Statement::BindNull() {
  if (error_ != SQLITE_OK) return;
  error_ = sqlite3_bind_null(prepared_, ++parameter_);
}

int64_t Statement::ReadInteger() {
  return sqlite3_column_int64(prepared_, column_++);
}

// As bytes, of a text too: SQLite does not look into them.
void Statement::ReadOne(std::string* value) {
  int column = column_++;
  const void* bytes = sqlite3_column_blob(prepared_, column);
  size_t size = static_cast<size_t>(sqlite3_column_bytes(prepared_, column));
  value->assign(static_cast<const char*>(bytes), bytes != nullptr ? size : 0);
}

}  // namespace muster::local
