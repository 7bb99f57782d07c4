// Numbers as people write them: "0,2-3".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace muster::workload {

// First and last, ascending.
using IndexRanges = std::vector<std::pair<uint32_t, uint32_t>>;

// False if the text is none, not ascending, or goes beyond 0..limit - 1.
// O(text).
bool ReadIndexRanges(const std::string& text, uint32_t limit, IndexRanges* to);

}  // namespace muster::workload
