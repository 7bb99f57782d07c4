#include "adapters/local/client/grid_file.h"

#include <fstream>
#include <istream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/grid/grid_options.h"

namespace muster::local {
namespace {

// Far more than a grid may have: what goes on without end is not read so long.
constexpr size_t kMostBytes = size_t{64} << 20;

absl::StatusOr<std::string> ReadText(Session* session,
                                     const std::string& file) {
  std::ifstream opened;
  if (file != "-") opened.open(file, std::ios::binary);
  std::istream& in = file == "-" ? session->in() : opened;
  std::string text;
  std::vector<char> buffer(size_t{64} << 10);
  while (in.good() && text.size() <= kMostBytes) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    text.append(buffer.data(), static_cast<size_t>(in.gcount()));
  }
  if ((file != "-" && !opened.is_open()) || in.bad()) {
    return absl::NotFoundError(
        absl::StrCat("--grid-file: ", file, ": cannot be read"));
  }
  if (text.size() > kMostBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "--grid-file: ", file, ": has more than ", kMostBytes, " bytes"));
  }
  return text;
}

}  // namespace

absl::StatusOr<ParameterGrid> ReadGrid(Session* session,
                                       const SubmitOptions& options) {
  std::vector<ParameterAxis> axes;
  for (const std::string& option : options.grid) {
    auto axis = AxisOfOption(option);
    if (!axis.ok()) return axis.status();
    axes.push_back(*std::move(axis));
  }
  if (!options.grid_file.empty()) {
    const auto text = ReadText(session, options.grid_file);
    if (!text.ok()) return text.status();
    auto axis = AxisOfFile(options.grid_file, *text);
    if (!axis.ok()) return axis.status();
    axes.push_back(*std::move(axis));
  }
  return ParameterGrid::Make(std::move(axes));
}

}  // namespace muster::local
