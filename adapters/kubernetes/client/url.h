// Escapes for paths and queries.
#pragma once

#include <string>
#include <string_view>

namespace muster::kubernetes::client {

// Every byte but letters, digits and -._~ as %XX: for a value of a query and
// for one segment of a path alike. O(size).
std::string QueryEscaped(std::string_view text);

}  // namespace muster::kubernetes::client
