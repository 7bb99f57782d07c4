#include "adapters/local/client/code_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "adapters/local/client/run_program.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

class Finder {
 public:
  explicit Finder(CodeFiles* code) : code_(*code) {}

  // A path that git names: one of a submodule is a folder.
  absl::Status AddNamed(const std::string& path) {
    std::error_code error;
    const fs::file_status status =
        fs::symlink_status(fs::path(code_.root) / path, error);
    if (error || status.type() == fs::file_type::not_found)
      return absl::OkStatus();  // It is known, and gone.
    if (status.type() == fs::file_type::directory) return AddFolder(path);
    return Add(path, status.type());
  }

  // All below; "": below the root.
  absl::Status AddFolder(const std::string& path) {
    std::error_code error;
    bool any = false;
    for (fs::directory_iterator it(fs::path(code_.root) / path, error), end;
         !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const std::string inner = path.empty() ? name : path + "/" + name;
      if (name == ".git" || IsIgnored(name, inner)) continue;
      any = true;
      const fs::file_type type = it->symlink_status(error).type();
      const absl::Status added = type == fs::file_type::directory
                                     ? AddFolder(inner)
                                     : Add(inner, type);
      if (!added.ok()) return added;
    }
    if (error) {
      return absl::FailedPreconditionError(
          absl::StrCat(code_.root, "/", path, ": ", error.message()));
    }
    if (!any && !path.empty()) code_.paths.push_back(path);
    return absl::OkStatus();
  }

  void ReadIgnored() {
    std::ifstream file(fs::path(code_.root) / ".musterignore");
    for (std::string line; std::getline(file, line);) {
      const auto text = absl::StripAsciiWhitespace(line);
      if (text.empty() || text.front() == '#') continue;
      ignored_.emplace_back(absl::StripSuffix(text, "/"));
    }
  }

 private:
  bool IsIgnored(const std::string& name, const std::string& path) const {
    return std::ranges::any_of(ignored_, [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
             fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
    });
  }

  absl::Status Add(const std::string& path, fs::file_type type) {
    if (type != fs::file_type::regular && type != fs::file_type::symlink)
      return absl::OkStatus();
    code_.paths.push_back(path);
    if (type == fs::file_type::regular) {
      std::error_code error;
      const uint64_t size = fs::file_size(fs::path(code_.root) / path, error);
      if (!error) {
        code_.bytes += size;
        by_folder_[path.substr(0, path.find('/'))] += size;
      }
    }
    if (code_.paths.size() <= kMostCodeFiles && code_.bytes <= kMostCodeBytes)
      return absl::OkStatus();
    const auto largest = std::ranges::max_element(
        by_folder_, {}, [](const auto& entry) { return entry.second; });
    return absl::FailedPreconditionError(absl::StrCat(
        code_.root, ": more than ", kMostCodeFiles, " files or ",
        kMostCodeBytes >> 30, " GiB",
        largest == by_folder_.end()
            ? ""
            : absl::StrCat(", most of it in '", largest->first, "'"),
        "; name what is no code in .gitignore or .musterignore"));
  }

  CodeFiles& code_;
  std::vector<std::string> ignored_{};
  std::map<std::string, uint64_t> by_folder_{};  // Bytes, by the first folder.
};

std::string Line(absl::StatusOr<std::string> output) {
  return output.ok() ? std::string(absl::StripSuffix(*output, "\n")) : "";
}

// What `git -C ROOT ls-files` and the like end with a zero.
std::vector<std::string> Names(const std::string& output) {
  return absl::StrSplit(output, '\0', absl::SkipEmpty());
}

}  // namespace

absl::StatusOr<CodeFiles> FindCode(const std::string& directory) {
  CodeFiles code;
  Finder finder(&code);
  const std::string top =
      Line(OutputOf({"git", "-C", directory, "rev-parse", "--show-toplevel"}));
  absl::Status found;
  if (top.empty()) {
    code.root = directory;
    finder.ReadIgnored();
    found = finder.AddFolder("");
  } else {
    code.root = top;
    code.commit = Line(OutputOf({"git", "-C", top, "rev-parse", "HEAD"}));
    const auto changed =
        OutputOf({"git", "-C", top, "status", "--porcelain", "-z",
                  "--untracked-files=all", "--no-renames"});
    if (!changed.ok()) return changed.status();
    code.uncommitted = static_cast<uint32_t>(Names(*changed).size());
    const auto files = OutputOf({"git", "-C", top, "ls-files", "-z", "--cached",
                                 "--others", "--exclude-standard"});
    if (!files.ok()) return files.status();
    for (const std::string& path : Names(*files)) {
      found = finder.AddNamed(std::string(absl::StripSuffix(path, "/")));
      if (!found.ok()) break;
    }
  }
  if (!found.ok()) return found;
  std::ranges::sort(code.paths);
  const auto twice = std::ranges::unique(code.paths);
  code.paths.erase(twice.begin(), twice.end());
  return code;
}

}  // namespace muster::local
