// Texts in URLs.
#pragma once

#include <string>
#include <string_view>

namespace muster::text {

// As it may stand in a path or a query: letters, digits and "-._~" are
// themselves, every other byte is "%XX" (RFC 3986). Pure; O(bytes).
std::string PercentEncoded(std::string_view text);
// The same, at the end of `out`.
void AppendPercentEncoded(std::string_view text, std::string* out);

}  // namespace muster::text
