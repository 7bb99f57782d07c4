#include "adapters/kubernetes/client/file.h"

#include <filesystem>
#include <fstream>

#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {

absl::StatusOr<std::string> ReadFile(const std::string& file) {
  constexpr size_t kLongest = size_t{4} << 20;
  if (std::error_code error; std::filesystem::is_directory(file, error)) {
    return absl::InvalidArgumentError(Concat(file, ": is a folder"));
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return absl::NotFoundError(Concat(file, ": cannot be read"));
  std::string text(kLongest + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) {
    return absl::NotFoundError(Concat(file, ": cannot be read"));
  }
  if (text.size() > kLongest) {
    return absl::InvalidArgumentError(
        Concat(file, ": is longer than ", kLongest, " bytes"));
  }
  text.shrink_to_fit();
  return text;
}

}  // namespace muster::kubernetes::client
