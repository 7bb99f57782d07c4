#include "adapters/kubernetes/plugin/table.h"

#include <algorithm>
#include <utility>

#include "adapters/kubernetes/client/error.h"

namespace muster::kubernetes::plugin {

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = client::PlainText(cell);
  rows_.push_back(std::move(row));
}

std::string Table::Text() const {
  constexpr size_t kGap = 3;
  std::vector<size_t> widths(rows_[0].size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + kGap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace muster::kubernetes::plugin
