#include "lib/workload/index_ranges.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace muster::workload {

bool ReadIndexRanges(const std::string& text, uint32_t limit, IndexRanges* to) {
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::vector<std::string> ends = absl::StrSplit(part, '-');
    uint32_t first = 0, last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || first > last ||
        last >= limit || (!to->empty() && to->back().second >= first)) {
      return false;
    }
    to->push_back({first, last});
  }
  return true;
}

}  // namespace muster::workload
