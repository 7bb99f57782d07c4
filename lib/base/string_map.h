// Hash maps and sets with string keys that are looked up by string_view.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace muster {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const {
    return std::hash<std::string_view>{}(s);
  }
};

// Never iterate where the order could reach a decision.
template <class Value>
using StringMap =
    absl::flat_hash_map<std::string, Value, StringHash, std::equal_to<>>;
using StringSet = absl::flat_hash_set<std::string, StringHash, std::equal_to<>>;

}  // namespace muster
