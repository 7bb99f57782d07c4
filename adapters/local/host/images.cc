#include "adapters/local/host/images.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "adapters/local/model/socket_path.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 512;
// Of a message.
constexpr size_t kMostNamed = 20;

// Where podman finds images that have no registry: "oci:folder".
constexpr std::array<std::string_view, 12> kTransports = {"atomic",
                                                          "containers-storage",
                                                          "dir",
                                                          "docker",
                                                          "docker-archive",
                                                          "docker-daemon",
                                                          "oci",
                                                          "oci-archive",
                                                          "ostree",
                                                          "sif",
                                                          "tarball",
                                                          "unix"};

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}
bool IsLetterOrDigit(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c));
}

bool IsPart(std::string_view text) {
  return !text.empty() && IsLetterOrDigit(text.front()) &&
         std::ranges::all_of(text, [](char c) {
           return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-';
         });
}

// Takes what stands behind the last `c` off the text.
bool TakeBehind(char c, std::string_view* text, std::string_view* behind) {
  const size_t at = text->rfind(c);
  if (at == std::string_view::npos) return false;
  *behind = text->substr(at + 1);
  *text = text->substr(0, at);
  return true;
}

bool IsDigest(std::string_view text) {
  constexpr std::string_view kHash = "sha256:";
  constexpr size_t kDigits = 64;
  return text.starts_with(kHash) && text.size() == kHash.size() + kDigits &&
         std::ranges::all_of(text.substr(kHash.size()), [](char c) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(c));
         });
}

const char* ProgramOf(ImageProgram by) {
  switch (by) {
    case ImageProgram::kBubblewrap:
      return "bwrap";
    case ImageProgram::kPodman:
      return "podman";
    default:
      return "apptainer";
  }
}

bool IsThere(const Images& images, const std::string& path) {
  std::error_code error;
  return images.by == ImageProgram::kBubblewrap ? fs::is_directory(path, error)
                                                : fs::exists(path, error);
}

// "" if it is not there.
std::string InFolder(const Images& images, const std::string& name) {
  // A part of an image is none.
  if (images.folder.empty() || name.find('/') != std::string::npos) return "";
  std::string path = absl::StrCat(images.folder, "/", name);
  if (IsThere(images, path)) return path;
  path += ".sif";
  return images.by == ImageProgram::kApptainer && IsThere(images, path) ? path
                                                                        : "";
}

std::vector<std::string> Allowed(const Images& images) {
  std::vector<std::string> all = images.allow;
  for (const auto& [name, is] : images.names) all.push_back(name);
  std::error_code error;
  if (!images.folder.empty()) {
    for (fs::directory_iterator at(images.folder, error), end;
         !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (IsImageName(name) && IsThere(images, at->path().string())) {
        all.push_back(name);
      }
    }
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > kMostNamed) {
    all.resize(kMostNamed);
    all.emplace_back("...");
  }
  return all;
}

}  // namespace

absl::Status FindProgram(Images* images) {
  if (images->by == ImageProgram::kNone) return absl::OkStatus();
  const std::string name = ProgramOf(images->by);
  if (!images->program.empty()) {
    if (access(images->program.c_str(), X_OK) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, images->program);
  }
  const std::string path = EnvironmentText("PATH");
  const std::vector<std::string> folders = absl::StrSplit(path, ':');
  for (const std::string& folder : folders) {
    const std::string file = absl::StrCat(folder, "/", name);
    if (!folder.starts_with('/') || access(file.c_str(), X_OK) != 0) continue;
    images->program = file;
    return absl::OkStatus();
  }
  return absl::NotFoundError(
      absl::StrCat("there is no ", name, " in musterd's PATH"));
}

bool IsImageName(const std::string& name) {
  if (name.size() > kLongestName) return false;
  std::string_view text = name;
  std::string_view digest, tag;
  if (TakeBehind('@', &text, &digest) && !IsDigest(digest)) return false;
  if (std::ranges::find(kTransports, text.substr(0, text.find(':'))) !=
          kTransports.end() &&
      text.find(':') != std::string_view::npos) {
    return false;
  }
  const size_t last = text.rfind('/');
  std::string_view end =
      last == std::string_view::npos ? text : text.substr(last + 1);
  if (TakeBehind(':', &end, &tag) && !IsPart(tag)) return false;
  if (!IsPart(end)) return false;
  if (last == std::string_view::npos) return true;
  std::string_view before = text.substr(0, last);
  bool first = true;
  for (size_t at = 0; at <= before.size(); first = false) {
    const size_t slash = std::min(before.find('/', at), before.size());
    std::string_view part = before.substr(at, slash - at);
    std::string_view port;
    if (first && TakeBehind(':', &part, &port) &&
        (port.empty() || !std::ranges::all_of(port, IsDigit))) {
      return false;
    }
    if (!IsPart(part)) return false;
    at = slash + 1;
  }
  return true;
}

absl::StatusOr<std::string> FindImage(const Images& images,
                                      const std::string& name) {
  if (!IsImageName(name)) {
    return absl::InvalidArgumentError(
        "expected a name, such as pytorch:2.1 or docker.io/library/debian:12");
  }
  const auto known = images.names.find(name);
  if (known != images.names.end()) {
    const bool is_path = images.by != ImageProgram::kPodman;
    if (!is_path || IsThere(images, known->second)) return known->second;
    return absl::NotFoundError(absl::StrCat(known->second, " is not there"));
  }
  if (std::ranges::any_of(images.allow, [&](const std::string& pattern) {
        return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
      })) {
    return name;
  }
  std::string path = InFolder(images, name);
  if (!path.empty()) return path;
  const std::vector<std::string> allowed = Allowed(images);
  return absl::PermissionDeniedError(
      allowed.empty() ? "there are none here"
                      : absl::StrCat("is none of those allowed here: ",
                                     absl::StrJoin(allowed, ", ")));
}

ImageRules RulesOf(const Images& images, const absl::Status& why_not) {
  if (images.by == ImageProgram::kNone) return {};
  ImageRules rules;
  rules.by = std::string(muster::Name(images.by));
  rules.own_command = images.by == ImageProgram::kPodman;
  rules.memory = images.by == ImageProgram::kBubblewrap;
  rules.check = [images, why_not](const std::string& name) {
    if (why_not.ok()) return FindImage(images, name).status();
    return absl::FailedPreconditionError(absl::StrCat(
        "images are to be run by ", std::string(muster::Name(images.by)),
        ", which does not work: ", why_not.message()));
  };
  return rules;
}

}  // namespace muster::local
