// A text that somebody changes in an editor.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::local {

// A file of the user's alone that is shown in an editor. It is removed with the
// object, unless it is kept. Not synchronised.
class EditedFile {
 public:
  // In the folder for temporary files. Errors are the system's.
  static absl::StatusOr<EditedFile> Make();
  EditedFile(EditedFile&& other) noexcept;
  EditedFile& operator=(EditedFile&&) = delete;
  ~EditedFile();

  const std::string& path() const { return path_; }
  // It stays.
  void Keep() { kept_ = true; }

  // Writes the text, runs $VISUAL, $EDITOR or else vi on the file until it
  // ends, and what the file has then. FAILED_PRECONDITION: the editor ended
  // otherwise than with 0.
  absl::StatusOr<std::string> Edit(std::string_view text);

 private:
  explicit EditedFile(std::string path) : path_(std::move(path)) {}
  absl::Status Write(std::string_view text) const;

  std::string path_;
  bool kept_ = false;
};

}  // namespace muster::local
