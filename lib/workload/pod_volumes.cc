#include "lib/workload/pod_volumes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"

namespace muster::workload {
namespace {

constexpr int64_t kMostMode = 0777;

// Whether it leads out of where it begins.
bool LeadsOut(const std::string& path) {
  return path.starts_with('/') || path == ".." || path.starts_with("../") ||
         path.ends_with("/..") || path.find("/../") != std::string::npos;
}

// As YAML 1.1 has it: a number that begins with 0 is octal.
void ReadMode(const Value& v, uint32_t* to) {
  std::string text;
  v.Read(&text);
  if (text.empty()) return;
  int64_t mode = 0;
  const bool octal = text.starts_with('0');
  if (octal) {
    const std::string digits = text.substr(text.starts_with("0o") ? 2 : 0);
    for (const char c : digits) {
      if (c < '0' || c > '7' || mode > kMostMode) {
        return v.Wrong("'" + text + "' is no mode of a file");
      }
      mode = mode * 8 + (c - '0');
    }
  } else if (!absl::SimpleAtoi(text, &mode)) {
    return v.Wrong("'" + text + "' is no mode of a file");
  }
  if (mode < 0 || mode > kMostMode) {
    return v.Wrong("'" + text + "' is not between 0 and 0777");
  }
  *to = static_cast<uint32_t>(mode);
}

// The field that says of which thing a volume is, by its kind. The kind that
// stands first here is read.
struct SourceRow {
  VolumeKind kind = VolumeKind::kEmptyDir;
  std::string_view name{};
};
constexpr SourceRow kSources[] = {
    {VolumeKind::kHostPath, "path"},     {VolumeKind::kEmptyDir},
    {VolumeKind::kClaim, "claimName"},   {VolumeKind::kConfigMap, "name"},
    {VolumeKind::kSecret, "secretName"},
};

void ReadHostPath(Object* source, Volume* volume) {
  const Value path = source->Required("path");
  path.Read(&volume->source);
  if (path.there() && !volume->source.starts_with('/')) {
    path.Wrong("'" + volume->source + "' is no absolute path");
  }
  (*source)["type"].Read(&volume->host_type);
}

void ReadEmptyDir(Object* source, Volume* volume) {
  std::string medium;
  (*source)["medium"].Read(&medium);
  volume->in_memory = medium == "Memory";
  (*source)["sizeLimit"].ReadQuantity(&volume->size_limit, 1);
}

void ReadFiles(Object* source, std::string_view name, Volume* volume) {
  ReadFileName(source->Required(name), &volume->source);
  ReadMode((*source)["defaultMode"], &volume->default_mode);
  (*source)["optional"].Read(&volume->optional);
  (*source)["items"].Each([&](const Value& element) {
    Object o(element);
    VolumeItem item;
    ReadFileName(o.Required("key"), &item.key);
    const Value path = o.Required("path");
    path.Read(&item.path);
    if (path.there() && (item.path.empty() || LeadsOut(item.path))) {
      path.Wrong("'" + item.path + "' leads out of the volume");
    }
    ReadMode(o["mode"], &item.mode);
    volume->items.push_back(std::move(item));
  });
}

void ReadSource(const Value& v, const SourceRow& row, Volume* volume) {
  Object source(v);
  switch (row.kind) {
    case VolumeKind::kHostPath:
      return ReadHostPath(&source, volume);
    case VolumeKind::kEmptyDir:
      return ReadEmptyDir(&source, volume);
    case VolumeKind::kClaim:
      ReadFileName(source.Required(row.name), &volume->source);
      return source["readOnly"].Read(&volume->read_only);
    case VolumeKind::kConfigMap:
    case VolumeKind::kSecret:
      return ReadFiles(&source, row.name, volume);
  }
}

void ReadVolume(const Value& element, TaskTemplate* task) {
  Object o(element);
  Volume volume;
  ReadFileName(o.Required("name"), &volume.name);
  const auto row = std::ranges::find_if(
      kSources, [&](const SourceRow& r) { return o[Name(r.kind)].there(); });
  if (row != std::end(kSources)) {
    volume.kind = row->kind;
    ReadSource(o[Name(row->kind)], *row, &volume);
  } else if (!o.Has(Name(VolumeKind::kEmptyDir))) {
    element.Unsupported(
        "only hostPath, emptyDir, persistentVolumeClaim, configMap and secret "
        "are supported");
  }
  task->volumes.push_back(std::move(volume));
}

}  // namespace

void ReadFileName(const Value& v, std::string* to) {
  v.Read(to);
  if (!v.there()) return;
  if (to->empty() || *to == "." || *to == ".." ||
      to->find('/') != std::string::npos ||
      to->find('\0') != std::string::npos) {
    v.Wrong("'" + *to + "' is no name");
  }
}

void ReadVolumes(const Value& volumes, TaskTemplate* task) {
  volumes.Each([&](const Value& v) { ReadVolume(v, task); });
}

void ReadMounts(const Value& mounts, TaskTemplate* task) {
  mounts.Each([&](const Value& element) {
    Object o(element);
    Mount m;
    const Value volume = o.Required("name");
    volume.Read(&m.volume);
    if (std::ranges::none_of(task->volumes, [&](const Volume& known) {
          return known.name == m.volume;
        })) {
      element.Wrong("no volume '" + m.volume + "' to mount");
    }
    const Value path = o.Required("mountPath");
    path.Read(&m.path);
    if (path.there() && !m.path.starts_with('/')) {
      path.Wrong("'" + m.path + "' is no absolute path");
    }
    const Value sub = o["subPath"];
    sub.Read(&m.sub_path);
    if (LeadsOut(m.sub_path)) {
      sub.Wrong("'" + m.sub_path + "' leads out of the volume");
    }
    o["readOnly"].Read(&m.read_only);
    task->mounts.push_back(std::move(m));
  });
}

}  // namespace muster::workload
