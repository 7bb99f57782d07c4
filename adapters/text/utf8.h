// Texts of other people's: bounded before they are sent on or shown. Pure
// functions: any thread; O(bytes).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::text {

// The first bytes of a text in UTF-8, `most` at most, and no character in part.
// Bytes that are no UTF-8 may remain.
std::string_view Truncated(std::string_view text, size_t most);

// The first bytes, `most` at most, as valid UTF-8: what is none becomes U+FFFD,
// which counts as it is sent.
std::string BoundedUtf8(std::string_view text, size_t most);

}  // namespace muster::text
