// Text out of pieces. (Where absl::string_view is not std::string_view,
// absl::StrCat does not take the latter.)
#ifndef MUSTER_LIB_WORKLOAD_CAT_H_
#define MUSTER_LIB_WORKLOAD_CAT_H_

#include <concepts>
#include <string>
#include <string_view>

namespace muster::workload {

inline void AppendPiece(std::string* to, std::string_view piece) {
  to->append(piece);
}
template <std::integral I>
void AppendPiece(std::string* to, I number) {
  to->append(std::to_string(number));
}

// Texts and integers, one behind the other.
template <class... Pieces>
std::string Cat(const Pieces&... pieces) {
  std::string text;
  (AppendPiece(&text, pieces), ...);
  return text;
}

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_CAT_H_
