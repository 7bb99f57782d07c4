#include "adapters/local/host/task_image.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::local {
namespace {

using Words = std::vector<std::string>;

constexpr char kSocketVariable[] = "MUSTER_SOCKET";
constexpr char kDevicesVariable[] = "CUDA_VISIBLE_DEVICES";
// A volume of the shim's own, where bubblewrap finds the others.
constexpr char kMountsVolume[] = ".mounts";
// What most programs want of the machine, where it is there.
constexpr const char* kUsualBinds[] = {"/etc/group", "/etc/hosts",
                                       "/etc/passwd", "/etc/resolv.conf"};

std::string VariableOf(const ShimSpec& spec, std::string_view name) {
  for (const std::string& variable : spec.environment) {
    const std::string_view text = variable;
    if (text.starts_with(name) && text.substr(name.size()).starts_with("=")) {
      return variable.substr(name.size() + 1);
    }
  }
  return "";
}

// Without "." and "..", and no slash at its end.
std::string Normal(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

// What NVIDIA's tools call the task's devices; those that the configuration has
// invented are none.
Words NvidiaDevices(const ShimSpec& spec) {
  const std::string visible = VariableOf(spec, kDevicesVariable);
  Words devices = absl::StrSplit(visible, ',', absl::SkipEmpty());
  std::erase_if(devices, [](const std::string& name) {
    return !name.starts_with("GPU-") && !name.starts_with("MIG-");
  });
  return devices;
}

class ImageMaker {
 public:
  ImageMaker(const TaskStart& start, const Images& images, ShimSpec* spec)
      : start_(start), images_(images), spec_(*spec) {}

  void Bind(const std::string& path) {
    const std::string normal = Normal(path);
    if (normal.starts_with('/') && normal != "/") {
      Put({.source = normal, .target = normal});
    }
  }

  void BindOfMachine() {
    for (const std::string& bind : images_.binds) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(bind, absl::MaxSplits(':', 1));
      const auto& [source, target] = parts;
      Put({.source = source,
           .target = Normal(target.empty() ? source : target),
           .read_only = true});
    }
    if (!images_.binds.empty() || images_.by != ImageProgram::kBubblewrap) {
      return;
    }
    for (const char* path : kUsualBinds) {
      Put({path, path, /*read_only=*/true, /*optional=*/true});
    }
  }

  // At their paths in the machine.
  void BindVolumes() {
    for (const ShimMount& mount : std::exchange(spec_.mounts, {})) {
      const ShimVolume& volume = spec_.volumes[mount.volume];
      Put({.source = absl::StrCat(
               volume.path, mount.sub_path.empty() ? "" : "/", mount.sub_path),
           .target = Normal(mount.target),
           .read_only = mount.read_only});
    }
  }

  // The shim mounts them in a folder of the attempt, from where they are bound:
  // so what is in memory is, and no subPath leads out of its volume.
  void BindMounted(const std::string& folder) {
    if (spec_.mounts.empty()) return;
    const std::string at =
        absl::StrCat(folder, "/", kVolumesFolder, "/", kMountsVolume);
    spec_.volumes.push_back(
        {.name = kMountsVolume, .form = VolumeForm::kMemory, .path = at});
    for (size_t i = 0; i < spec_.mounts.size(); ++i) {
      ShimMount& mount = spec_.mounts[i];
      std::string place = absl::StrCat(at, "/", i);
      Put({.source = place,
           .target = Normal(mount.target),
           .read_only = mount.read_only});
      mount.target = std::move(place);
    }
  }

  void UseBubblewrap(const std::string& root) {
    spec_.image = {.root = root,
                   .program = images_.program,
                   .options = images_.options,
                   .binds = std::move(binds_)};
  }

  void UsePodman(const std::string& name, const std::string& container) {
    Words words = {
        images_.program, "--remote=false", "--cgroup-manager=cgroupfs", "run",
        "--rm", "--replace", absl::StrCat("--name=", container),
        absl::StrCat("--pull=", std::string(muster::Name(images_.pull))),
        // It stays in the task's cgroup, for which podman wants a namespace of
        // processes: whose first one ignores SIGTERM, unless it is an init.
        "--cgroups=disabled", "--init", "--network=host", "--ipc=host",
        "--log-driver=none", "--cap-drop=all",
        "--security-opt=no-new-privileges", "--security-opt=label=disable"};
    if (start_.uid != 0) {
      words.emplace_back("--userns=keep-id");
      words.push_back(absl::StrCat("--user=", start_.uid, ":", start_.gid));
    }
    if (start_.input) words.emplace_back("--interactive");
    AddVariables(&words);
    for (const std::string& device : NvidiaDevices(spec_)) {
      words.push_back(absl::StrCat("--device=nvidia.com/gpu=", device));
    }
    AddMounts(&words);
    words.push_back(absl::StrCat("--workdir=", spec_.directory));
    Append(images_.options, &words);
    const bool has_command = !start_.image_command && !spec_.command.empty();
    if (has_command) {
      words.push_back(absl::StrCat("--entrypoint=", spec_.command.front()));
    }
    words.push_back(name);
    words.insert(words.end(), spec_.command.begin() + (has_command ? 1 : 0),
                 spec_.command.end());
    Become(std::move(words));
    // Who starts a container need not pass signals on: podman without root does
    // not, but ends.
    spec_.stop = {images_.program, "--remote=false", "kill", "--signal=TERM",
                  container};
    spec_.cleanup = {images_.program, "--remote=false", "rm",     "--force",
                     "--ignore",      "--time=0",       container};
  }

  void UseApptainer(const std::string& file) {
    Words words = {images_.program, "--quiet", "exec",
                   // Root's task has no capabilities either, as by podman.
                   "--no-privs",
                   // What is there is what a manifest says.
                   "--no-mount=home,cwd"};
    if (!NvidiaDevices(spec_).empty()) words.emplace_back("--nv");
    AddMounts(&words);
    words.push_back(absl::StrCat("--pwd=", spec_.directory));
    Append(images_.options, &words);
    words.push_back(file);
    Append(spec_.command, &words);
    Become(std::move(words));
  }

 private:
  // In the place of what was to be there: podman refuses two.
  void Put(ShimBind bind) {
    std::erase_if(binds_, [&](const ShimBind& other) {
      return other.target == bind.target;
    });
    binds_.push_back(std::move(bind));
  }

  static void Append(const Words& more, Words* words) {
    words->insert(words->end(), more.begin(), more.end());
  }

  // Those of the submission are weaker than the image's, all others stronger.
  // Values are in the program's own environment, where nobody else sees them.
  void AddVariables(Words* words) const {
    words->emplace_back("--env-host");
    for (size_t i = spec_.inherited; i < spec_.environment.size(); ++i) {
      const std::string& variable = spec_.environment[i];
      words->push_back(
          absl::StrCat("--env=", variable.substr(0, variable.find('='))));
    }
    for (const ShimVariable& variable : spec_.variables) {
      if (variable.key.empty()) continue;  // Its names are not known yet.
      words->push_back(absl::StrCat("--env=", variable.name));
    }
  }

  // A field of a line of CSV, as both programs read them.
  static std::string Field(const std::string& key, const std::string& value) {
    const std::string field = absl::StrCat(key, "=", value);
    if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
    std::string quoted = "\"";
    for (const char c : field) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
  }

  void AddMounts(Words* words) const {
    for (const ShimBind& bind : binds_) {
      words->push_back(absl::StrCat(
          "--mount=type=bind,", Field("source", bind.source), ",",
          Field("destination", bind.target), bind.read_only ? ",ro" : ""));
    }
  }

  void Become(Words words) {
    spec_.command = std::move(words);
    spec_.directory = "/";
  }

  const TaskStart& start_;
  const Images& images_;
  ShimSpec& spec_;
  std::vector<ShimBind> binds_;
};

}  // namespace

absl::Status AddImage(const TaskKey& task, const TaskStart& start,
                      const Images& images, const std::string& job_folder,
                      const std::string& folder, bool mounts, ShimSpec* spec) {
  if (start.image.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> image = FindImage(images, start.image);
  if (!image.ok()) {
    return absl::Status(
        image.status().code(),
        absl::StrCat("image '", start.image, "': ", image.status().message()));
  }
  if (start.image_command && images.by != ImageProgram::kPodman) {
    return absl::InvalidArgumentError(absl::StrCat(
        "command: is missing, and ", std::string(muster::Name(images.by)),
        " does not know that of image '", start.image, "'"));
  }
  spec->container = true;
  ImageMaker maker(start, images, spec);
  maker.BindOfMachine();
  const std::string socket = VariableOf(*spec, kSocketVariable);
  // A later daemon has another socket there.
  maker.Bind(std::filesystem::path(socket).parent_path().string());
  if (!start.image_directory.empty()) maker.Bind(start.image_directory);
  maker.Bind(job_folder);
  switch (images.by) {
    case ImageProgram::kBubblewrap:
      if (mounts) {
        maker.BindMounted(folder);
      } else {
        maker.BindVolumes();
      }
      maker.UseBubblewrap(*image);
      break;
    case ImageProgram::kPodman:
      maker.BindVolumes();
      maker.UsePodman(*image, absl::StrCat("muster-", task.job, "-", task.role,
                                           "-", task.index, "-", task.attempt));
      break;
    case ImageProgram::kApptainer:
      maker.BindVolumes();
      maker.UseApptainer(*image);
      break;
    case ImageProgram::kNone:
      return absl::FailedPreconditionError(
          absl::StrCat("image '", start.image, "': images are not used here"));
  }
  return absl::OkStatus();
}

}  // namespace muster::local
