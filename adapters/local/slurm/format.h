// Lines of fields, as Slurm's -o tells them: "%.18i %.9P %j".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local::slurm {

// A value. "%i" is a field of its own width, "%9i" one that is padded or cut to
// 9 characters, "%.9i" the same, but set to the right; all else is itself.
class Format {
 public:
  // `letters`: the fields that there are. INVALID_ARGUMENT names another one.
  // O(bytes).
  static absl::StatusOr<Format> Parse(std::string_view text,
                                      std::string_view letters);

  // One line, with its newline. Texts of anybody's are made printable.
  std::string Line(const std::function<std::string(char letter)>& text) const;
  bool Has(char letter) const;

 private:
  struct Piece {
    char letter = 0;  // 0: `literal`.
    std::string literal{};
    uint32_t width = 0;  // 0: as wide as it is.
    bool right = false;
  };

  std::vector<Piece> pieces_{};
};

// Cut or filled with blanks to the width; 0: as it is.
std::string Fitted(const std::string& text, uint32_t width, bool right);

}  // namespace muster::local::slurm
