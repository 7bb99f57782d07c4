// Tables for terminals.
#pragma once

#include <string>
#include <vector>

namespace muster::kubernetes::plugin {

// Columns as wide as their longest cell, three spaces between them. Texts may
// be anybody's: nothing in them moves a terminal's cursor (client::PlainText).
// Not synchronised.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { Add(std::move(head)); }

  // As many cells as the head has.
  void Add(std::vector<std::string> row);
  // The head and the rows, each with a newline. O(bytes).
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace muster::kubernetes::plugin
