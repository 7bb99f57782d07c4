// Tables for terminals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::text {

// A text of anybody's as it may go to a terminal: valid UTF-8, at most `most`
// bytes, a space in place of each control character, so that nothing in it
// moves the cursor. Pure; O(bytes).
std::string Printable(std::string_view text, size_t most = 256);

// Columns as wide as their longest cell, two spaces between them. Cells are
// made printable. Not synchronised.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { Add(std::move(head)); }

  // As many cells as the head has.
  void Add(std::vector<std::string> row);
  // The head and the rows, each with a newline. O(bytes).
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_{};
};

}  // namespace muster::text
