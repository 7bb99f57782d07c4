// ShimVolume, ShimMount: folders that a task finds at places of its own. The
// standard library alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/shim/record.h"

namespace muster::local {

enum class VolumeForm : uint8_t {
  kThere,      // `path` has to be there.
  kDirectory,  // Made if it is not there, as are those above it.
  kFile,       // Likewise a file, in a folder that is there.
  // The attempt's own: made for it, and removed behind it. `path` is in the
  // folder "volumes" of the attempt.
  kEmpty,
  kMemory,  // As kEmpty, and on no disk where the task has mounts.
  kFiles,   // As kMemory, with copies of files.
};

// Whether it is made for the attempt alone.
inline bool IsOwn(VolumeForm form) { return form >= VolumeForm::kEmpty; }

// A file of a volume of files.
struct ShimFile {
  std::string key{};   // Its name where it is copied from.
  std::string path{};  // Relative, within the volume.
  uint32_t mode = 0644;

  friend bool operator==(const ShimFile&, const ShimFile&) = default;
};

// All of it is opened, read and made with the rights of the task's user.
struct ShimVolume {
  std::string name{};  // Of messages.
  VolumeForm form = VolumeForm::kThere;
  std::string path{};  // Absolute.
  int64_t size = 0;    // Bytes, of kMemory; 0: no limit but the kernel's.
  // Of kFiles: folders, of which the first that is there has the files.
  std::vector<std::string> sources{};
  std::vector<ShimFile> items{};  // Those to copy; none: all.
  uint32_t mode = 0644;           // Of files that are not items.
  bool optional = false;          // Empty where folder or items are not there.

  friend bool operator==(const ShimVolume&, const ShimVolume&) = default;
};

struct ShimMount {
  uint32_t volume = 0;     // Its position in ShimSpec::volumes.
  std::string target{};    // Absolute, not "/".
  std::string sub_path{};  // Relative, within the volume; "": all of it.
  bool read_only = false;

  friend bool operator==(const ShimMount&, const ShimMount&) = default;
};

// The folder in an attempt's that has its own volumes.
inline constexpr char kVolumesFolder[] = "volumes";

// What is wrong with them, beginning with the field's name; "": nothing.
// O(bytes).
std::string ProblemOf(const std::vector<ShimVolume>& volumes,
                      const std::vector<ShimMount>& mounts);

// As fields of the spec, and back: false, it is no field of theirs, or `good`
// is false and it is damaged. A field of a volume belongs to the last one.
// O(bytes).
void Add(const std::vector<ShimVolume>& volumes,
         const std::vector<ShimMount>& mounts, RecordWriter* out);
bool DecodeVolumeField(std::string_view name, std::string_view value,
                       std::vector<ShimVolume>* volumes,
                       std::vector<ShimMount>* mounts, bool* good);

}  // namespace muster::local
