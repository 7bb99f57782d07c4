#include "adapters/local/shim/shim_spec.h"

#include <sched.h>

#include <algorithm>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/record.h"

namespace muster::local {
namespace {

std::string ProblemOfFile(const char* field, const std::string& path) {
  if (path.empty() || path.front() == '/') return "";
  if (path.find('/') != std::string::npos || path.front() == '.' ||
      IsShimFile(path)) {
    return std::string(field) +
           ": expected an absolute path, or the name of a file that is not one "
           "of the shim's";
  }
  return "";
}

std::string ProblemOfTexts(const ShimSpec& spec) {
  const auto bad = [](const std::vector<std::string>& texts) {
    return std::ranges::any_of(texts, HasNul);
  };
  if (bad(spec.command)) return "command: has a NUL";
  if (bad(spec.stop)) return "stop: has a NUL";
  if (bad(spec.cleanup)) return "cleanup: has a NUL";
  if (bad(spec.environment)) return "environment: has a NUL";
  for (const std::string& variable : spec.environment) {
    const size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return "environment: expected NAME=VALUE";
    }
  }
  for (const auto& [field, text] :
       {std::pair("directory", &spec.directory),
        std::pair("output", &spec.output), std::pair("error", &spec.error),
        std::pair("cgroup", &spec.cgroup),
        std::pair("cpu_max", &spec.cpu_max)}) {
    if (HasNul(*text)) return std::string(field) + ": has a NUL";
  }
  return "";
}

void Add(const std::vector<uint32_t>& cpus, RecordWriter* out) {
  for (const uint32_t cpu : cpus) out->Add("cpu", cpu);
}

// The fields that are lists or that may be absent; false: it is none of them.
bool DecodeListed(std::string_view name, std::string_view value, ShimSpec* spec,
                  bool* good) {
  const auto user = [spec]() -> ShimUser& {
    if (!spec->user) spec->user.emplace();
    return *spec->user;
  };
  uint32_t number = 0;
  if (name == "arg") {
    spec->command.emplace_back(value);
  } else if (name == "env") {
    spec->environment.emplace_back(value);
  } else if (name == "stop") {
    spec->stop.emplace_back(value);
  } else if (name == "cleanup") {
    spec->cleanup.emplace_back(value);
  } else if (name == "cpu") {
    *good = ParseNumber(value, &number);
    spec->cpus.push_back(number);
  } else if (name == "uid") {
    *good = ParseNumber(value, &user().uid);
  } else if (name == "gid") {
    *good = ParseNumber(value, &user().gid);
  } else if (name == "group") {
    *good = ParseNumber(value, &number);
    user().groups.push_back(number);
  } else {
    return false;
  }
  return true;
}

bool DecodeField(std::string_view name, std::string_view value,
                 ShimSpec* spec) {
  bool good = true;
  if (DecodeListed(name, value, spec, &good)) return good;
  if (DecodeVolumeField(name, value, &spec->volumes, &spec->mounts, &good)) {
    return good;
  }
  if (DecodeVariableField(name, value, &spec->variables)) return true;
  if (DecodeImageField(name, value, &spec->image)) return true;
  if (name == "cpuset") spec->cpuset = value == "1";
  if (name == "container") spec->container = value == "1";
  if (name == "inherited") good = ParseNumber(value, &spec->inherited);
  if (name == "directory") spec->directory = value;
  if (name == "output") spec->output = value;
  if (name == "error") spec->error = value;
  if (name == "append") spec->append = value == "1";
  if (name == "input") spec->input = value == "1";
  if (name == "cgroup") spec->cgroup = value;
  if (name == "cpu_max") spec->cpu_max = value;
  if (name == "cpu_weight") good = ParseNumber(value, &spec->cpu_weight);
  if (name == "umask") good = ParseNumber(value, &spec->umask);
  if (name == "open_files") good = ParseNumber(value, &spec->open_files);
  if (name == "time_limit") good = ParseNumber(value, &spec->time_limit);
  if (name == "grace") good = ParseNumber(value, &spec->grace);
  if (name == "memory_limit") good = ParseNumber(value, &spec->memory_limit);
  return good;
}

}  // namespace

std::string ProblemOfCpus(const std::vector<uint32_t>& cpus) {
  if (std::ranges::all_of(cpus, [](uint32_t c) { return c < CPU_SETSIZE; })) {
    return "";
  }
  return "cpus: expected below " + std::to_string(CPU_SETSIZE);
}

std::string ProblemOf(const ShimSpec& spec) {
  if (spec.command.empty() || spec.command.front().empty()) {
    return "command: expected a program";
  }
  std::string problem = ProblemOfTexts(spec);
  if (problem.empty()) problem = ProblemOfFile("output", spec.output);
  if (problem.empty()) problem = ProblemOfFile("error", spec.error);
  if (!problem.empty()) return problem;
  if (!spec.directory.starts_with('/')) {
    return "directory: expected an absolute path";
  }
  if (!spec.cgroup.empty() && !spec.cgroup.starts_with('/')) {
    return "cgroup: expected an absolute path";
  }
  if (!spec.cpu_max.empty() && spec.cgroup.empty()) {
    return "cpu_max: expected with a cgroup only";
  }
  if (spec.cpu_weight > 0 && spec.cgroup.empty()) {
    return "cpu_weight: expected with a cgroup only";
  }
  if (spec.cpu_weight > ShimSpec::kMaxWeight) {
    return "cpu_weight: expected at most 10000";
  }
  problem = ProblemOfCpus(spec.cpus);
  if (!problem.empty()) return problem;
  if (spec.cpuset && (spec.cgroup.empty() || spec.cpus.empty())) {
    return "cpuset: expected with a cgroup and cpus only";
  }
  if (spec.umask > kMostUmask) return "umask: expected at most 0777";
  if (spec.open_files < 3) return "open_files: expected at least 3";
  if (spec.time_limit < 0 || spec.time_limit > kMaxDuration) {
    return "time_limit: expected 0 to kMaxDuration";
  }
  if (spec.grace < 0 || spec.grace > kMaxDuration) {
    return "grace: expected 0 to kMaxDuration";
  }
  if (spec.memory_limit < 0) return "memory_limit: expected at least 0";
  problem = ProblemOf(spec.variables);
  if (problem.empty()) problem = ProblemOf(spec.volumes, spec.mounts);
  if (problem.empty()) problem = ProblemOf(spec.image);
  return problem;
}

std::string Encode(const ShimSpec& spec) {
  RecordWriter out;
  for (const std::string& arg : spec.command) out.Add("arg", arg);
  for (const std::string& env : spec.environment) out.Add("env", env);
  out.Add("directory", spec.directory);
  out.Add("output", spec.output);
  out.Add("error", spec.error);
  out.Add("append", spec.append ? 1 : 0);
  out.Add("input", spec.input ? 1 : 0);
  if (spec.user) {
    out.Add("uid", spec.user->uid);
    out.Add("gid", spec.user->gid);
    for (const uint32_t group : spec.user->groups) out.Add("group", group);
  }
  Add(spec.cpus, &out);
  out.Add("cpuset", spec.cpuset ? 1 : 0);
  out.Add("umask", spec.umask);
  out.Add("open_files", std::to_string(spec.open_files));
  out.Add("time_limit", spec.time_limit);
  out.Add("grace", spec.grace);
  out.Add("memory_limit", spec.memory_limit);
  out.Add("cgroup", spec.cgroup);
  out.Add("cpu_weight", spec.cpu_weight);
  out.Add("cpu_max", spec.cpu_max);
  out.Add("inherited", spec.inherited);
  Add(spec.variables, &out);
  Add(spec.volumes, spec.mounts, &out);
  Add(spec.image, &out);
  out.Add("container", spec.container ? 1 : 0);
  for (const std::string& word : spec.stop) out.Add("stop", word);
  for (const std::string& word : spec.cleanup) out.Add("cleanup", word);
  return out.Take();
}

std::string EncodeCpus(const std::vector<uint32_t>& cpus) {
  RecordWriter out;
  Add(cpus, &out);
  return out.Take();
}

bool DecodeCpus(std::string_view bytes, std::vector<uint32_t>* cpus) {
  ShimSpec spec;
  const bool good = ReadRecords(
      bytes, [&spec](std::string_view name, std::string_view value) {
        return name == "cpu" && DecodeField(name, value, &spec);
      });
  *cpus = std::move(spec.cpus);
  return good && !cpus->empty() && ProblemOfCpus(*cpus).empty();
}

bool Decode(std::string_view bytes, ShimSpec* spec) {
  *spec = ShimSpec();
  return ReadRecords(bytes,
                     [spec](std::string_view name, std::string_view value) {
                       return DecodeField(name, value, spec);
                     }) &&
         ProblemOf(*spec).empty();
}

}  // namespace muster::local
