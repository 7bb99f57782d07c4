// Texts out of pieces. Abseil's StrCat takes its own string_view, which in
// Debian's build is not the standard's.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace muster::kubernetes::client {

// A piece of Concat as text: any string or view of characters, or an integer.
template <std::integral Number>
std::string Piece(Number number) {
  return std::to_string(number);
}
inline std::string_view Piece(const char* text) { return text; }
template <class Text>
  requires requires(const Text& text) { text.data(), text.size(); }
std::string_view Piece(const Text& text) {
  return {text.data(), text.size()};
}

// The pieces one after another. O(size of the result).
template <class... Pieces>
std::string Concat(const Pieces&... pieces) {
  std::string text;
  ((text += Piece(pieces)), ...);
  return text;
}

}  // namespace muster::kubernetes::client
