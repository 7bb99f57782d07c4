#include "adapters/local/client/editor.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/model/socket_path.h"

namespace muster::local {
namespace {

constexpr char kEnding[] = ".yaml";

std::string ChosenEditor() {
  for (const char* variable : {"VISUAL", "EDITOR"}) {
    std::string editor = EnvironmentText(variable);
    if (!editor.empty()) return editor;
  }
  return "vi";
}

// Who chose an editor may have given it options, as a shell reads them.
absl::Status Run(const std::string& editor, const std::string& file) {
  std::string words[] = {"sh", "-c", editor + " \"$1\"", "sh", file};
  char* arguments[std::size(words) + 1] = {};
  for (size_t i = 0; i < std::size(words); ++i) arguments[i] = words[i].data();
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, "sh", nullptr, nullptr, arguments, environ);
  if (error != 0) return absl::ErrnoToStatus(error, "sh");
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the editor '", editor, "' has failed: nothing is changed"));
}

}  // namespace

absl::StatusOr<EditedFile> EditedFile::Make() {
  std::string folder = EnvironmentText("TMPDIR");
  if (folder.empty()) folder = "/tmp";
  std::string path = absl::StrCat(folder, "/muster-edit-XXXXXX", kEnding);
  const int file = mkstemps(path.data(), sizeof kEnding - 1);
  if (file < 0) return absl::ErrnoToStatus(errno, path);
  close(file);
  return EditedFile(std::move(path));
}

EditedFile::EditedFile(EditedFile&& other) noexcept
    : path_(std::exchange(other.path_, "")), kept_(other.kept_) {}

EditedFile::~EditedFile() {
  if (!kept_ && !path_.empty()) unlink(path_.c_str());
}

absl::Status EditedFile::Write(std::string_view text) const {
  std::ofstream file(path_, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  return file.good() ? absl::OkStatus()
                     : absl::UnknownError(path_ + ": cannot be written");
}

absl::StatusOr<std::string> EditedFile::Edit(std::string_view text) {
  absl::Status s = Write(text);
  if (s.ok()) s = Run(ChosenEditor(), path_);
  if (!s.ok()) return s;
  std::ifstream file(path_, std::ios::binary);
  if (!file.is_open()) return absl::NotFoundError(path_ + ": is gone");
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

}  // namespace muster::local
