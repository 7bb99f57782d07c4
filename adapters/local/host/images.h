// Images: which ones tasks may have on this machine, and by which program they
// are run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/image_rules.h"
#include "muster/enum_names.h"

namespace muster::local {

enum class ImageProgram : uint8_t { kNone, kBubblewrap, kPodman, kApptainer };
MUSTER_ENUM_NAMES(ImageProgram, "none", "bubblewrap", "podman", "apptainer");

enum class ImagePull : uint8_t { kNever, kMissing };
MUSTER_ENUM_NAMES(ImagePull, "never", "missing");

// A value. Without a program no image is used.
struct Images {
  ImageProgram by = ImageProgram::kNone;
  // The program's absolute path; empty: the one that FindProgram finds.
  std::string program{};
  // What the program is told in place of an image's name: by kPodman another
  // name, else an absolute path. These images are allowed.
  std::map<std::string, std::string> names{};
  // Of kBubblewrap and kApptainer: NAME is FOLDER/NAME, or FOLDER/NAME.sif of
  // the latter. Absolute; empty: there are none but `names`.
  std::string folder{};
  // Of kPodman: the names that are allowed, as shells have patterns.
  std::vector<std::string> allow{};
  ImagePull pull = ImagePull::kNever;  // Of kPodman.
  // What of the machine is in all images, read-only: PATH, or PATH:PLACE.
  std::vector<std::string> binds{};
  // Of the program, beside those that Muster gives.
  std::vector<std::string> options{};
};

// Sets the program's path if it is empty: in PATH. NOT_FOUND: it is not there.
// Some calls of the file system.
absl::Status FindProgram(Images* images);

// "pytorch:2.1", "docker.io/library/debian@sha256:...": a name and nothing
// else, such as a path or a place where podman finds images. O(bytes).
bool IsImageName(const std::string& name);

// What the program is told for an image, which may be had: a path of what is
// there, or a name. INVALID_ARGUMENT: it is no name; PERMISSION_DENIED: it is
// none of those that are allowed, which the message names; NOT_FOUND: what
// `names` has for it is not there. O(names + patterns), or the folder's
// entries where it is none.
absl::StatusOr<std::string> FindImage(const Images& images,
                                      const std::string& name);

// `why_not`: why the program does not work; it is told with each image.
ImageRules RulesOf(const Images& images, const absl::Status& why_not);

}  // namespace muster::local
