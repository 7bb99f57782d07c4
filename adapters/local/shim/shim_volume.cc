#include "adapters/local/shim/shim_volume.h"

#include <algorithm>

#include "adapters/local/shim/shim_path.h"

namespace muster::local {
namespace {

constexpr uint32_t kMostMode = 0777;

// One that leads nowhere else.
bool IsInside(const std::string& path) {
  if (path.empty() || path.front() == '/' || HasNul(path)) return false;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (part == "..") return false;
    at = end + 1;
  }
  return true;
}

bool IsFileName(const std::string& name) {
  return IsInside(name) && name != "." && name.find('/') == std::string::npos;
}

bool IsGood(const ShimVolume& volume) {
  const bool items = std::ranges::all_of(volume.items, [](const ShimFile& f) {
    return IsFileName(f.key) && IsInside(f.path) && f.mode <= kMostMode;
  });
  return items && IsAbsolute(volume.path) && !HasNul(volume.name) &&
         std::ranges::all_of(volume.sources, IsAbsolute) && volume.size >= 0 &&
         volume.mode <= kMostMode && volume.form <= VolumeForm::kFiles;
}

// The fields of a volume after its first.
bool DecodeInVolume(std::string_view name, std::string_view value,
                    ShimVolume* to, bool* good) {
  uint32_t number = 0;
  if (name == "volume_form") {
    *good = ParseNumber(value, &number) && number < 256;
    to->form = static_cast<VolumeForm>(number);
  } else if (name == "volume_path") {
    to->path = value;
  } else if (name == "volume_size") {
    *good = ParseNumber(value, &to->size);
  } else if (name == "volume_source") {
    to->sources.emplace_back(value);
  } else if (name == "volume_mode") {
    *good = ParseNumber(value, &to->mode);
  } else if (name == "volume_optional") {
    to->optional = value == "1";
  } else if (name == "volume_item") {
    to->items.push_back({.key = std::string(value)});
  } else if (name == "volume_item_path" && !to->items.empty()) {
    to->items.back().path = value;
  } else if (name == "volume_item_mode" && !to->items.empty()) {
    *good = ParseNumber(value, &to->items.back().mode);
  } else {
    return false;
  }
  return true;
}

bool DecodeInMount(std::string_view name, std::string_view value, ShimMount* to,
                   bool* good) {
  if (name == "mount_target") {
    to->target = value;
  } else if (name == "mount_sub_path") {
    to->sub_path = value;
  } else if (name == "mount_read_only") {
    to->read_only = value == "1";
  } else {
    return false;
  }
  *good = true;
  return true;
}

}  // namespace

std::string ProblemOf(const std::vector<ShimVolume>& volumes,
                      const std::vector<ShimMount>& mounts) {
  for (const ShimVolume& volume : volumes) {
    if (IsGood(volume)) continue;
    return "volumes: '" + volume.name +
           "': expected absolute paths, items within it, and modes of at most "
           "0777";
  }
  for (const ShimMount& mount : mounts) {
    if (mount.volume >= volumes.size()) return "mounts: there is no volume";
    if (!IsPlace(mount.target)) {
      return "mounts: expected an absolute path that is not '/'";
    }
    if (!mount.sub_path.empty() && !IsInside(mount.sub_path)) {
      return "mounts: '" + mount.sub_path + "' leads out of the volume";
    }
  }
  return "";
}

void Add(const std::vector<ShimVolume>& volumes,
         const std::vector<ShimMount>& mounts, RecordWriter* out) {
  for (const ShimVolume& volume : volumes) {
    out->Add("volume", volume.name);
    out->Add("volume_form", static_cast<int64_t>(volume.form));
    out->Add("volume_path", volume.path);
    out->Add("volume_size", volume.size);
    for (const std::string& source : volume.sources) {
      out->Add("volume_source", source);
    }
    for (const ShimFile& item : volume.items) {
      out->Add("volume_item", item.key);
      out->Add("volume_item_path", item.path);
      out->Add("volume_item_mode", item.mode);
    }
    out->Add("volume_mode", volume.mode);
    out->Add("volume_optional", volume.optional ? 1 : 0);
  }
  for (const ShimMount& mount : mounts) {
    out->Add("mount", mount.volume);
    out->Add("mount_target", mount.target);
    out->Add("mount_sub_path", mount.sub_path);
    out->Add("mount_read_only", mount.read_only ? 1 : 0);
  }
}

bool DecodeVolumeField(std::string_view name, std::string_view value,
                       std::vector<ShimVolume>* volumes,
                       std::vector<ShimMount>* mounts, bool* good) {
  if (name == "volume") {
    volumes->push_back({.name = std::string(value)});
    return true;
  }
  if (name == "mount") {
    *good = ParseNumber(value, &mounts->emplace_back().volume);
    return true;
  }
  if (name.starts_with("volume_") && !volumes->empty()) {
    return DecodeInVolume(name, value, &volumes->back(), good);
  }
  if (name.starts_with("mount_") && !mounts->empty()) {
    return DecodeInMount(name, value, &mounts->back(), good);
  }
  return false;
}

}  // namespace muster::local
