// Scripts with #SBATCH lines: options as rows of a table.
#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "lib/workload/cat.h"
#include "lib/workload/readers.h"
#include "muster/quantity.h"

namespace muster::workload {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kMostMemory = int64_t{1} << 50;

// What the options say, before it becomes a job.
struct Options {
  Job job{};
  TaskTemplate task{};
  uint32_t tasks = 0, nodes = 0, tasks_per_node = 0;
  int64_t cpus_per_task = 1;
  int64_t memory = -1, memory_per_cpu = -1, memory_per_gpu = -1;
  int64_t gpus = -1, gpus_per_node = -1, gpus_per_task = -1;
  std::string gpu_type{};
};

absl::Status Bad(const std::string& value, std::string_view allowed) {
  return absl::InvalidArgumentError(
      Cat("'", value, "' is not what is allowed: ", allowed));
}

absl::Status Count(const std::string& value, int64_t most, int64_t* to) {
  if (!absl::SimpleAtoi(value, to) || *to < 1 || *to > most) {
    return Bad(value, Cat("1 to ", most));
  }
  return absl::OkStatus();
}

template <class I>
absl::Status Count(const std::string& value, I* to) {
  int64_t n = 0;
  absl::Status s = Count(value, Job::kMaxTasks, &n);
  *to = static_cast<I>(n);
  return s;
}

// "512", "4G": MiB if no unit stands there.
absl::Status Memory(std::string value, int64_t* to) {
  int64_t unit = kMiB;
  const std::string whole = value;
  if (!value.empty() && absl::ascii_isalpha(value.back())) {
    const char suffix = absl::ascii_toupper(value.back());
    unit = suffix == 'K'   ? int64_t{1} << 10
           : suffix == 'M' ? kMiB
           : suffix == 'G' ? int64_t{1} << 30
           : suffix == 'T' ? int64_t{1} << 40
                           : 0;
    value.pop_back();
  }
  int64_t n = 0;
  if (unit == 0 || !absl::SimpleAtoi(value, &n) || n < 0 ||
      n > kMostMemory / unit) {
    return Bad(whole, "a number with K, M, G or T");
  }
  *to = n * unit;
  return absl::OkStatus();
}

// "30", "30:00", "2:00:00", "1-12", "1-12:30", "1-12:30:00".
absl::Status TimeLimit(const std::string& value, Duration* to) {
  constexpr std::string_view kForms =
      "minutes, minutes:seconds, hours:minutes:seconds, days-hours, "
      "days-hours:minutes, days-hours:minutes:seconds";
  const std::vector<std::string> days = absl::StrSplit(value, '-');
  const std::vector<std::string> parts = absl::StrSplit(days.back(), ':');
  if (days.size() > 2 || parts.size() > 3) return Bad(value, kForms);
  int64_t n[4] = {0, 0, 0, 0};  // Days, hours, minutes, seconds.
  const bool has_days = days.size() == 2;
  if (has_days && !absl::SimpleAtoi(days[0], &n[0])) return Bad(value, kForms);
  const size_t first = has_days ? 1 : parts.size() == 3 ? 1 : 2;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!absl::SimpleAtoi(parts[i], &n[first + i])) return Bad(value, kForms);
  }
  for (const int64_t x : n) {
    if (x < 0 || x > 1'000'000) return Bad(value, kForms);
  }
  const int64_t seconds = ((n[0] * 24 + n[1]) * 60 + n[2]) * 60 + n[3];
  constexpr int64_t kMost = kMaxDuration / kSecond;
  if (seconds > kMost) return Bad(value, Cat("at most ", kMost, " seconds"));
  *to = seconds * kSecond;
  return absl::OkStatus();
}

// "gpu:2", "gpu:a100:2", "gpu", with commas; other resources by their name.
absl::Status Gres(const std::string& value, Options* o) {
  for (const std::string& item :
       std::vector<std::string>(absl::StrSplit(value, ','))) {
    const std::vector<std::string> parts = absl::StrSplit(item, ':');
    int64_t n = 1;
    const bool counted = parts.size() > 1 && absl::SimpleAtoi(parts.back(), &n);
    if (parts[0].empty() || n < 0 || n > Job::kMaxTasks || parts.size() > 3 ||
        (parts.size() == 3 && !counted)) {
      return Bad(value, "NAME[:TYPE][:COUNT], with commas");
    }
    if (parts[0] != "gpu") {
      o->task.requests.push_back({parts[0], n});
      continue;
    }
    o->gpus_per_node = n;
    if (parts.size() == 3 || (parts.size() == 2 && !counted)) {
      o->gpu_type = parts[1];
    }
  }
  return absl::OkStatus();
}

// "[TYPE:]COUNT".
absl::Status Gpus(const std::string& value, Options* o, int64_t* to) {
  const std::vector<std::string> parts = absl::StrSplit(value, ':');
  if (parts.size() == 2) o->gpu_type = parts[0];
  if (parts.size() > 2 || !absl::SimpleAtoi(parts.back(), to) || *to < 0 ||
      *to > Job::kMaxTasks) {
    return Bad(value, "[TYPE:]COUNT");
  }
  return absl::OkStatus();
}

// "0-9", "1,3,5-7", "0-15:4", each with "%N" behind it: so many at once.
absl::Status Array(std::string value, JobArray* array) {
  if (const size_t percent = value.rfind('%'); percent != std::string::npos) {
    if (!absl::SimpleAtoi(value.substr(percent + 1), &array->at_once) ||
        array->at_once == 0) {
      return Bad(value, "behind %, how many run at once");
    }
    value.resize(percent);
  }
  std::set<uint32_t> indexes;
  uint32_t steps = 0;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(value, ','))) {
    const std::vector<std::string> step = absl::StrSplit(part, ':');
    const std::vector<std::string> ends = absl::StrSplit(step[0], '-');
    uint32_t first = 0, last = 0, by = 1;
    if (step.size() > 2 || ends.size() > 2 ||
        !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || first > last ||
        last >= 4'000'000 ||
        (step.size() == 2 && (!absl::SimpleAtoi(step[1], &by) || by == 0)) ||
        (last - first) / by >= Job::kMaxTasks) {
      return Bad(value, "indexes, ranges a-b and ranges a-b:step, with commas");
    }
    if (step.size() == 2) array->step = by;
    for (uint64_t i = first; i <= last; i += by) {
      if (++steps > Job::kMaxTasks) {
        return Bad(value, Cat("at most ", Job::kMaxTasks, " indexes"));
      }
      indexes.insert(static_cast<uint32_t>(i));
    }
  }
  array->indexes.assign(indexes.begin(), indexes.end());
  return absl::OkStatus();
}

absl::Status Export(const std::string& value, Options* o) {
  for (const std::string& item :
       std::vector<std::string>(absl::StrSplit(value, ','))) {
    if (item == "ALL" || item == "NONE" || item.empty()) continue;
    const size_t is = item.find('=');
    if (is == std::string::npos || is == 0) continue;  // From the environment.
    o->task.env.push_back({item.substr(0, is), item.substr(is + 1)});
  }
  return absl::OkStatus();
}

absl::Status Text(const std::string& value, std::string* to) {
  if (value.empty()) return Bad(value, "a text");
  *to = value;
  return absl::OkStatus();
}

using Apply = absl::Status (*)(const std::string& value, Options* o);

struct OptionRow {
  std::string_view name{};
  char letter = 0;
  bool takes_value = true;
  Apply apply = nullptr;  // Null: ignored, and told.
  std::string_view why{};
};

absl::Status No(std::string_view what) {
  return absl::UnimplementedError(Cat(what, " is not supported yet"));
}

// NOLINTBEGIN: one line an option.
// clang-format off
const OptionRow kOptions[] = {
    {"job-name", 'J', true, [](auto& v, Options* o) { return Text(v, &o->job.name); }},
    {"ntasks", 'n', true, [](auto& v, Options* o) { return Count(v, &o->tasks); }},
    {"nodes", 'N', true, [](auto& v, Options* o) { return Count(v, &o->nodes); }},
    {"ntasks-per-node", 0, true, [](auto& v, Options* o) { return Count(v, &o->tasks_per_node); }},
    {"cpus-per-task", 'c', true, [](auto& v, Options* o) { return Count(v, &o->cpus_per_task); }},
    {"mem", 0, true, [](auto& v, Options* o) { return Memory(v, &o->memory); }},
    {"mem-per-cpu", 0, true, [](auto& v, Options* o) { return Memory(v, &o->memory_per_cpu); }},
    {"mem-per-gpu", 0, true, [](auto& v, Options* o) { return Memory(v, &o->memory_per_gpu); }},
    {"gres", 0, true, [](auto& v, Options* o) { return Gres(v, o); }},
    {"gpus", 'G', true, [](auto& v, Options* o) { return Gpus(v, o, &o->gpus); }},
    {"gpus-per-node", 0, true, [](auto& v, Options* o) { return Gpus(v, o, &o->gpus_per_node); }},
    {"gpus-per-task", 0, true, [](auto& v, Options* o) { return Gpus(v, o, &o->gpus_per_task); }},
    {"time", 't', true, [](auto& v, Options* o) { return TimeLimit(v, &o->job.active_deadline); }},
    {"partition", 'p', true, [](auto& v, Options* o) { return Text(v, &o->job.scheduling.queue); }},
    {"qos", 'q', true, [](auto& v, Options* o) { return Text(v, &o->job.scheduling.priority_class); }},
    {"priority", 0, true, [](auto& v, Options* o) {
       int32_t n = 0;
       if (!absl::SimpleAtoi(v, &n)) return Bad(v, "an integer");
       o->job.scheduling.priority = n;
       return absl::OkStatus();
     }},
    {"output", 'o', true, [](auto& v, Options* o) { return Text(v, &o->task.output); }},
    {"error", 'e', true, [](auto& v, Options* o) { return Text(v, &o->task.error); }},
    {"chdir", 'D', true, [](auto& v, Options* o) { return Text(v, &o->task.working_dir); }},
    {"array", 'a', true, [](auto& v, Options* o) { return Array(v, &o->job.array); }},
    {"export", 0, true, [](auto& v, Options* o) { return Export(v, o); }},
    {"hold", 'H', false, [](auto&, Options* o) { o->job.suspend = true; return absl::OkStatus(); }},
    {"exclusive", 0, false, [](auto&, Options* o) { o->task.whole_node = true; return absl::OkStatus(); }},
    {"requeue", 0, false, [](auto&, Options* o) { o->job.requeue = true; return absl::OkStatus(); }},
    {"no-requeue", 0, false, [](auto&, Options* o) { o->job.requeue = false; return absl::OkStatus(); }},
    {"container-image", 0, true, [](auto& v, Options* o) { return Text(v, &o->task.image); }},
    {"dependency", 'd', true, [](auto&, Options*) { return No("a dependency on other jobs"); }},
    {"begin", 'b', true, [](auto&, Options*) { return No("a time before which the job waits"); }},
    {"deadline", 0, true, [](auto&, Options*) { return No("a deadline"); }},
    {"nodelist", 'w', true, [](auto&, Options*) { return No("a list of nodes"); }},
    {"exclude", 'x', true, [](auto&, Options*) { return No("a list of nodes"); }},
    {"constraint", 'C', true, [](auto&, Options*) { return No("a constraint on features"); }},
    {"licenses", 'L', true, [](auto&, Options*) { return No("a licence"); }},
    {"reservation", 0, true, [](auto&, Options*) { return No("a reservation"); }},
    {"signal", 0, true, nullptr, "tasks that are stopped get SIGTERM"},
    {"account", 'A', true, nullptr, "jobs are not accounted by it"},
    {"comment", 0, true, nullptr, "it decides nothing"},
    {"mail-type", 0, true, nullptr, "no mail is sent"},
    {"mail-user", 0, true, nullptr, "no mail is sent"},
    {"nice", 0, false, nullptr, "priorities are those of classes"},
    {"open-mode", 0, true, nullptr, "files are written anew"},
    {"parsable", 0, false, nullptr, "it is an option of the command"},
    {"quiet", 'Q', false, nullptr, "it is an option of the command"},
    {"verbose", 'v', false, nullptr, "it is an option of the command"},
};
// clang-format on
// NOLINTEND

const OptionRow* FindOption(std::string_view name) {
  for (const OptionRow& row : kOptions) {
    if (row.name == name ||
        (name.size() == 1 && row.letter != 0 && name[0] == row.letter)) {
      return &row;
    }
  }
  return nullptr;
}

// The words of a line; quotes keep blanks, '#' begins a comment.
absl::StatusOr<std::vector<std::string>> Words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (absl::ascii_isspace(c)) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else if (c == '#' && !in_word) {
      break;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return absl::InvalidArgumentError("a quote is not closed");
  if (in_word) words.push_back(std::move(word));
  return words;
}

absl::Status InLine(int line, std::string_view option,
                    const absl::Status& status) {
  return absl::Status(status.code(), Cat("line ", line, ": ", option, ": ",
                                         std::string(status.message())));
}

// One #SBATCH line.
absl::Status ReadLine(std::string_view text, int line, Options* o,
                      std::vector<IgnoredField>* ignored) {
  const auto words = Words(text);
  if (!words.ok()) return InLine(line, "#SBATCH", words.status());
  for (size_t i = 0; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    const bool is_long = word.starts_with("--");
    if (!word.starts_with('-') || word.size() < 2) {
      return InLine(line, "#SBATCH",
                    Bad(word, "options, which begin with '-'"));
    }
    std::string name = is_long ? word.substr(2) : word.substr(1, 1);
    std::string value = is_long ? "" : word.substr(2);
    bool has_value = !value.empty();
    if (const size_t is = name.find('='); is_long && is != std::string::npos) {
      value = name.substr(is + 1);
      name.resize(is);
      has_value = true;
    }
    const OptionRow* row = FindOption(name);
    const std::string option = (is_long ? "--" : "-") + name;
    if (row == nullptr) {
      return InLine(line, option, No("this option"));
    }
    if (row->takes_value && !has_value) {
      if (++i == words->size()) return InLine(line, option, Bad("", "a value"));
      value = (*words)[i];
    }
    if (row->apply == nullptr) {
      ignored->push_back({Cat("--", row->name), line, std::string(row->why)});
      continue;
    }
    const absl::Status s = row->apply(value, o);
    if (!s.ok()) return InLine(line, option, s);
  }
  return absl::OkStatus();
}

uint64_t TasksOf(const Options& o) {
  if (o.tasks > 0) return o.tasks;
  return uint64_t{std::max(1u, o.nodes)} * std::max(1u, o.tasks_per_node);
}

// How many of them a node has; 0: not said.
uint32_t TasksOfNode(const Options& o, uint32_t tasks) {
  if (o.tasks_per_node > 0 || o.nodes == 0) return o.tasks_per_node;
  return (tasks + o.nodes - 1) / o.nodes;
}

void Request(TaskTemplate* task, std::string_view resource, int64_t amount) {
  if (amount > 0) task->requests.push_back({std::string(resource), amount});
}

// So much for each of some cores or devices of a task.
absl::Status RequestMemory(int64_t each, int64_t count, TaskTemplate* task) {
  if (count > 0 && each > kMostMemory / count) {
    return absl::InvalidArgumentError(
        Cat(each, " bytes for each of ", count, ": more than ", kMostMemory));
  }
  Request(task, "memory", each * count);
  return absl::OkStatus();
}

// Amounts of a node, or of the job, as those of each of its tasks.
absl::Status SetRequests(const Options& o, uint32_t tasks, uint32_t per_node,
                         TaskTemplate* task) {
  const uint32_t on_node = per_node == 0 ? tasks : per_node;
  int64_t gpus = o.gpus_per_task;
  if (gpus < 0) {
    const int64_t total = o.gpus_per_node >= 0 ? o.gpus_per_node : o.gpus;
    const int64_t over = o.gpus_per_node >= 0 ? on_node : tasks;
    if (total > 0 && total % over != 0) {
      return absl::UnimplementedError(
          Cat(total, " GPUs for ", over, " tasks: they do not share out"));
    }
    gpus = total > 0 ? total / over : 0;
  }
  absl::Status s = absl::OkStatus();
  if (o.memory >= 0) {
    Request(task, "memory", (o.memory + on_node - 1) / on_node);
  } else if (o.memory_per_cpu >= 0) {
    s = RequestMemory(o.memory_per_cpu, o.cpus_per_task, task);
  } else if (o.memory_per_gpu >= 0) {
    s = RequestMemory(o.memory_per_gpu, gpus, task);
  }
  if (!s.ok()) return s;
  Request(task, "cpu", o.cpus_per_task * 1000);
  Request(task, kGpu, gpus);
  if (!o.gpu_type.empty()) {
    task->node_labels.push_back({"nvidia.com/gpu.product", o.gpu_type});
  }
  std::ranges::sort(task->requests, {}, &Amount::resource);
  return absl::OkStatus();
}

absl::Status MakeJob(std::string_view bytes, Options* o) {
  Job& job = o->job;
  job.kind = Kind::kBatchScript;
  job.dialect = Dialect::kSlurm;
  if (job.name.empty()) job.name = "sbatch";
  const uint64_t all = TasksOf(*o);
  if (all > Job::kMaxTasks) {
    return Bad(Cat(all), Cat(Job::kMaxTasks, " tasks"));
  }
  const auto tasks = static_cast<uint32_t>(all);
  const uint32_t per_node = TasksOfNode(*o, tasks);
  absl::Status s = SetRequests(*o, tasks, per_node, &o->task);
  if (!s.ok()) return s;
  // The script runs in the place of the first task; srun uses the others.
  Role batch{.name = "batch", .path = "batch", .task = o->task};
  batch.task.script = bytes;
  job.roles.push_back(std::move(batch));
  if (tasks > 1) {
    Role step{.name = "step", .path = "step"};
    step.passive = true;
    step.decisive = false;
    step.task = o->task;
    step.task.output.clear();
    step.task.error.clear();
    step.replicas = step.min_replicas = step.max_replicas = tasks - 1;
    job.roles.push_back(std::move(step));
  }
  job.slots_per_worker = per_node;
  job.success.push_back({.roles = {0}});
  job.failure.backoff_limit = 0;
  job.failure.unit = RestartUnit::kGang;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedJob> ParseBatchScript(std::string_view bytes) {
  ParsedJob parsed;
  Options options;
  int line = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view text = bytes.substr(at, end - at);
    at = end + 1;
    ++line;
    constexpr std::string_view kMark = "#SBATCH";
    if (text.starts_with(kMark)) {
      absl::Status s =
          ReadLine(text.substr(kMark.size()), line, &options, &parsed.ignored);
      if (!s.ok()) return s;
    } else if (!absl::StripAsciiWhitespace(std::string(text)).empty() &&
               text[0] != '#') {
      break;  // sbatch, too, looks no further than the first command.
    }
  }
  if (bytes.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError("has a byte 0");
  }
  absl::Status s = MakeJob(bytes, &options);
  if (!s.ok()) return s;
  parsed.job = std::move(options.job);
  s = Check(parsed.job);
  if (!s.ok()) return s;
  return parsed;
}

}  // namespace muster::workload
