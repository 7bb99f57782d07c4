#include "adapters/local/host/volume_places.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/controller/task_folder.h"
#include "adapters/local/host/user_entry.h"
#include "adapters/local/shim/shim_volume.h"

namespace muster::local {
namespace {

using workload::Volume;
using workload::VolumeKind;

constexpr std::string_view kFilesVariable = "MUSTER_JOB_FILES";

// "" if there is none, or if it is no absolute path.
std::string FolderIn(const std::vector<std::string>& environment,
                     std::string_view name) {
  for (const std::string& variable : environment) {
    const std::string_view text = variable;
    if (text.starts_with(name) && text.substr(name.size()).starts_with("=/")) {
      return variable.substr(name.size() + 1);
    }
  }
  return "";
}

// As the environment says, else the user database; "" if neither does.
std::string HomeOf(const TaskStart& start, const ShimSpec& spec) {
  std::string home = FolderIn(spec.environment, "HOME");
  if (!home.empty()) return home;
  const std::optional<UserEntry> user = FindUser(start.uid);
  return user && user->home.starts_with('/') ? user->home : "";
}

// Folders in which config maps and secrets are looked for.
class FilePlaces {
 public:
  FilePlaces(const TaskStart& start, const VolumePlaces& places,
             const ShimSpec& spec)
      : places_(places),
        home_(HomeOf(start, spec)),
        files_(FolderIn(spec.environment, kFilesVariable)) {}

  const std::string& home() const { return home_; }

  // What came with the job, what its user keeps, what the machine has.
  std::vector<std::string> Sources(bool secret, const std::string& name) const {
    const char* const kind = secret ? "secrets" : "config-maps";
    std::vector<std::string> sources;
    if (!files_.empty()) {
      sources.push_back(absl::StrCat(files_, "/", kind, "/", name));
    }
    if (!home_.empty()) {
      sources.push_back(
          absl::StrCat(home_, "/.config/muster/", kind, "/", name));
    }
    const std::string& of_machine =
        secret ? places_.secrets : places_.config_maps;
    if (!of_machine.empty()) {
      sources.push_back(absl::StrCat(of_machine, "/", name));
    }
    return sources;
  }

 private:
  const VolumePlaces& places_;
  const std::string home_;
  const std::string files_;
};

class VolumeMaker {
 public:
  VolumeMaker(const TaskStart& start, const VolumePlaces& places,
              const std::string& folder, const ShimSpec& spec)
      : places_(places),
        own_(absl::StrCat(folder, "/", kVolumesFolder, "/")),
        files_(start, places, spec),
        data_(FolderIn(spec.environment, "XDG_DATA_HOME")) {
    if (data_.empty() && !files_.home().empty()) {
      data_ = files_.home() + "/.local/share";
    }
  }

  absl::StatusOr<ShimVolume> Make(const Volume& volume) const {
    ShimVolume made{.name = volume.name, .path = own_ + volume.name};
    switch (volume.kind) {
      case VolumeKind::kHostPath:
        made.path = volume.source;
        made.form = volume.host_type == "DirectoryOrCreate"
                        ? VolumeForm::kDirectory
                    : volume.host_type == "FileOrCreate" ? VolumeForm::kFile
                                                         : VolumeForm::kThere;
        break;
      case VolumeKind::kEmptyDir:
        made.form = volume.in_memory ? VolumeForm::kMemory : VolumeForm::kEmpty;
        made.size = volume.size_limit;
        break;
      case VolumeKind::kClaim:
        return Claim(volume, std::move(made));
      case VolumeKind::kConfigMap:
      case VolumeKind::kSecret:
        Files(volume, &made);
    }
    return made;
  }

 private:
  absl::StatusOr<ShimVolume> Claim(const Volume& volume,
                                   ShimVolume made) const {
    const auto known = places_.claims.find(volume.source);
    if (known != places_.claims.end()) {
      made.path = known->second;
      return made;
    }
    if (data_.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "volume '", volume.name, "': claim '", volume.source,
          "' has no directory: its user has no home, and musterd's "
          "configuration does not name it in claims"));
    }
    made.form = VolumeForm::kDirectory;
    made.path = absl::StrCat(data_, "/muster/claims/", volume.source);
    return made;
  }

  void Files(const Volume& volume, ShimVolume* made) const {
    made->form = VolumeForm::kFiles;
    made->sources =
        files_.Sources(volume.kind == VolumeKind::kSecret, volume.source);
    made->mode = volume.default_mode;
    made->optional = volume.optional;
    for (const workload::VolumeItem& item : volume.items) {
      made->items.push_back({item.key, item.path,
                             item.mode != 0 ? item.mode : volume.default_mode});
    }
  }

  const VolumePlaces& places_;
  const std::string own_;
  const FilePlaces files_;
  std::string data_;
};

void SetVariable(const std::string& name, const std::string& value,
                 ShimSpec* spec) {
  std::vector<std::string>& all = spec->environment;
  const auto known = std::ranges::find_if(
      all, [&](const std::string& v) { return v.starts_with(name + "="); });
  if (known != all.end()) {
    if (known - all.begin() < spec->inherited) --spec->inherited;
    all.erase(known);
  }
  all.push_back(absl::StrCat(name, "=", value));
}

// Where a file is whose name is below a mount; what is in memory is nowhere
// else.
void ReplaceMounted(const ShimSpec& spec, std::string* file) {
  const ShimMount* of = nullptr;
  for (const ShimMount& mount : spec.mounts) {
    if ((*file == mount.target || file->starts_with(mount.target + "/")) &&
        (of == nullptr || of->target.size() < mount.target.size())) {
      of = &mount;
    }
  }
  if (of == nullptr) return;
  const ShimVolume& volume = spec.volumes[of->volume];
  if (volume.form >= VolumeForm::kMemory) return;
  *file = absl::StrCat(volume.path, of->sub_path.empty() ? "" : "/",
                       of->sub_path, file->substr(of->target.size()));
}

}  // namespace

absl::Status AddVolumes(const TaskStart& start, const VolumePlaces& places,
                        const std::string& folder, ShimSpec* spec) {
  if (start.mounts.empty()) return absl::OkStatus();
  const VolumeMaker maker(start, places, folder, *spec);
  const bool in_image = !start.image.empty();  // AddImage sees to the mounts.
  for (const workload::Mount& mount : start.mounts) {
    const auto volume =
        std::ranges::find(start.volumes, mount.volume, &Volume::name);
    if (volume == start.volumes.end()) continue;
    auto known =
        std::ranges::find(spec->volumes, mount.volume, &ShimVolume::name);
    if (known == spec->volumes.end()) {
      absl::StatusOr<ShimVolume> made = maker.Make(*volume);
      if (!made.ok()) return made.status();
      SetVariable(VolumeVariable(volume->name),
                  in_image ? mount.path : made->path, spec);
      spec->volumes.push_back(*std::move(made));
      known = std::prev(spec->volumes.end());
    }
    const bool read_only = mount.read_only || volume->read_only ||
                           known->form == VolumeForm::kFiles;
    const bool is_there =
        mount.sub_path.empty() && !read_only && known->path == mount.path;
    if (!in_image && (is_there || !places.mounts)) continue;
    spec->mounts.push_back(
        {.volume = static_cast<uint32_t>(known - spec->volumes.begin()),
         .target = mount.path,
         .sub_path = mount.sub_path,
         .read_only = read_only});
  }
  ReplaceMounted(*spec, &spec->output);
  ReplaceMounted(*spec, &spec->error);
  return absl::OkStatus();
}

absl::Status AddVariables(const TaskStart& start, const VolumePlaces& places,
                          ShimSpec* spec) {
  if (start.launch.from_host.empty()) return absl::OkStatus();
  const FilePlaces files(start, places, *spec);
  for (const workload::EnvVar& v : start.launch.from_host) {
    const bool secret = v.from == workload::EnvSource::kSecret;
    if (!secret && v.from != workload::EnvSource::kConfigMap) continue;
    if (!v.key.empty() && IsReserved(v.name)) continue;
    ShimVariable variable{.name = v.name,
                          .key = v.key,
                          .sources = files.Sources(secret, v.source),
                          .optional = v.optional};
    if (!ProblemOf({variable}).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("variable '", absl::CHexEscape(v.name), "' of '",
                       absl::CHexEscape(v.source),
                       "': expected a name without '=', and a key"));
    }
    spec->variables.push_back(std::move(variable));
  }
  return absl::OkStatus();
}

}  // namespace muster::local
