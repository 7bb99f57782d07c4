// One run of an SQL statement.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3_stmt;

namespace muster::local {

class Database;

// Bytes that are no text: SQLite's BLOB.
struct Blob {
  std::string_view bytes{};
};

// Database::Use gives it, for one statement that the connection keeps
// prepared: of the same SQL only one may be there at a time, and the connection
// outlives it. Errors, those of preparing and binding too, come with Step or
// Run. One thread at a time.
class Statement {
 public:
  // Ends the run: SQLite's locks of it are given back.
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  // The next parameters, from ?1. What texts and bytes refer to is not copied:
  // it stays until the statement's end. O(parameters).
  template <class... T>
  Statement& Bind(const T&... values) {
    (BindOne(values), ...);
    return *this;
  }

  // To the next row; false: there is none.
  absl::StatusOr<bool> Step();

  // To the end. For statements without rows.
  absl::Status Run();

  // The next columns of the row, from the first; their number and types are
  // those of the SQL. Texts and bytes are copied.
  template <class... T>
  void Read(T*... values) {
    (ReadOne(values), ...);
  }

  // The next column is NULL.
  bool IsNull() const;

 private:
  friend class Database;
  Statement(Database* connection, sqlite3_stmt* prepared, int error)
      : connection_(connection), prepared_(prepared), error_(error) {}

  void BindInteger(int64_t value);
  void BindText(std::string_view value);
  void BindNull();
  void BindOne(Blob value);
  void BindOne(const std::string& value) { BindText(value); }
  void BindOne(std::string_view value) { BindText(value); }
  template <std::integral T>
  void BindOne(T value) {
    BindInteger(static_cast<int64_t>(value));
  }
  template <class T>
  void BindOne(const std::optional<T>& value) {
    value ? BindOne(*value) : BindNull();
  }

  int64_t ReadInteger();
  void ReadOne(std::string* value);
  template <std::integral T>
  void ReadOne(T* value) {
    *value = static_cast<T>(ReadInteger());
  }
  template <class T>
  void ReadOne(std::optional<T>* value) {
    if (IsNull()) {
      value->reset();
      ++column_;
    } else {
      ReadOne(&value->emplace());
    }
  }

  Database* connection_;
  sqlite3_stmt* prepared_;  // Null if it could not be prepared.
  int error_;               // SQLite's, of preparing or binding.
  int parameter_ = 0;       // The last that was bound.
  int column_ = 0;          // The next to read.
};

}  // namespace muster::local
