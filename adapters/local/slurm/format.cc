#include "adapters/local/slurm/format.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "adapters/text/table.h"

namespace muster::local::slurm {
namespace {

constexpr uint32_t kMostWidth = 4'096;
constexpr size_t kMostBytes = 4'096;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string Fitted(const std::string& text, uint32_t width, bool right) {
  if (width == 0) return text;
  if (text.size() >= width) return text.substr(0, width);
  const std::string blanks(width - text.size(), ' ');
  return right ? blanks + text : text + blanks;
}

absl::StatusOr<Format> Format::Parse(std::string_view text,
                                     std::string_view letters) {
  Format format;
  std::string literal;
  const auto end_literal = [&] {
    if (literal.empty()) return;
    format.pieces_.push_back({.literal = literal});
    literal.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      literal += text[i];
      continue;
    }
    Piece piece;
    ++i;
    if (i < text.size() && text[i] == '.') {
      piece.right = true;
      ++i;
    }
    for (; i < text.size() && IsDigit(text[i]); ++i) {
      piece.width = std::min(
          kMostWidth, piece.width * 10 + static_cast<uint32_t>(text[i] - '0'));
    }
    const std::string_view field = text.substr(std::min(i, text.size()), 1);
    if (field.empty() || letters.find(field) == std::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("format: '%", std::string(field),
                       "' is none of the fields ", std::string(letters)));
    }
    end_literal();
    piece.letter = field[0];
    format.pieces_.push_back(std::move(piece));
  }
  end_literal();
  return format;
}

std::string Format::Line(
    const std::function<std::string(char letter)>& text) const {
  std::string line;
  for (const Piece& piece : pieces_) {
    line += piece.letter == 0
                ? piece.literal
                : Fitted(text::Printable(text(piece.letter), kMostBytes),
                         piece.width, piece.right);
  }
  return line + "\n";
}

bool Format::Has(char letter) const {
  return std::ranges::any_of(
      pieces_, [&](const Piece& piece) { return piece.letter == letter; });
}

}  // namespace muster::local::slurm
