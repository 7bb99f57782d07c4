// One job, as text.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/tables.h"
#include "adapters/local/model/cpu_list.h"
#include "adapters/text/table.h"

namespace muster::local {
namespace {

using Json = nlohmann::ordered_json;

class Fields {
 public:
  void Add(const std::string& name, const std::string& value) {
    if (value.empty()) return;
    constexpr size_t kWidth = 14;
    text_ += name + ":" +
             std::string(kWidth - std::min(kWidth, name.size() + 1), ' ');
    text_ += text::Printable(value, 4'096) + "\n";
  }
  void Time(const std::string& name, const Json& job, const char* member) {
    if (job.contains(member)) Add(name, TimeText(job.value(member, 0.0)));
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_{};
};

Json ManifestOf(const Json& job) {
  return Json::parse(job.value("manifest", ""), nullptr, /*exceptions=*/false);
}

// Of what it runs in a snapshot: submit --snapshot.
std::string SnapshotOf(const Json& manifest) {
  const Json::json_pointer code("/metadata/annotations/muster.dev~1code");
  if (manifest.is_discarded() || !manifest.contains(code)) return "";
  return manifest[code].is_string() ? manifest[code].get<std::string>() : "";
}

// Of a manifest of this program's own; of others, its kind.
std::string CommandOf(const Json& manifest) {
  const Json::json_pointer command("/spec/template/spec/containers/0/command");
  if (manifest.is_discarded() || !manifest.contains(command)) return "";
  std::vector<std::string> words;
  for (const Json& word : manifest[command]) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return absl::StrJoin(words, " ");
}

// "train:1"; of several roles, "master train:1, worker train:2".
std::string ImagesOf(const Json& job) {
  const Json images = job.value("images", Json::object());
  std::vector<std::string> texts;
  for (const auto& [role, image] : images.items()) {
    const auto name = image.get<std::string>();
    texts.push_back(images.size() == 1 ? name : role + " " + name);
  }
  return absl::StrJoin(texts, ", ");
}

// In place of what the manifest says: of the role that has another one.
std::string EditedCommandOf(const Json& job) {
  const Json edits = job.value("edits", Json::object());
  const Json roles = edits.value("roles", Json::object());
  for (const auto& [name, role] : roles.items()) {
    if (role.contains("command")) {
      return absl::StrJoin(role["command"].get<std::vector<std::string>>(),
                           " ");
    }
  }
  return "";
}

// "time 1:30:00, cpu 2": what was changed of it beside its command.
std::string EditsOf(const Json& job) {
  const Json edits = job.value("edits", Json::object());
  std::vector<std::string> texts;
  if (edits.contains("time")) {
    const auto seconds = edits["time"].get<int64_t>();
    texts.push_back("time " + (seconds == 0
                                   ? std::string("none")
                                   : SpanText(static_cast<double>(seconds))));
  }
  const Json roles = edits.value("roles", Json::object());
  for (const auto& [name, role] : roles.items()) {
    const Json requests = role.value("requests", Json::object());
    for (const auto& [resource, quantity] : requests.items()) {
      texts.push_back(resource + " " + quantity.get<std::string>());
    }
  }
  return absl::StrJoin(texts, ", ");
}

std::string TasksText(const Json& tasks, double now) {
  const bool bound = std::ranges::any_of(
      tasks, [](const Json& task) { return task.contains("cpus"); });
  std::vector<std::string> names = {"TASK",    "ATTEMPT", "STATE",
                                    "DEVICES", "TIME",    "CODE"};
  constexpr ptrdiff_t kCpus = 4;
  if (bound) names.insert(names.begin() + kCpus, "CPUS");
  text::Table table(names);
  for (const Json& task : tasks) {
    const auto devices = task.value("devices", std::vector<uint32_t>());
    const bool started = task.contains("started");
    const double end = task.value("ended", now);
    std::vector<std::string> row = {
        task.value("task", ""),
        absl::StrCat(task.value("attempt", 0)),
        task.value("state", ""),
        devices.empty() ? "-" : absl::StrJoin(devices, ","),
        started ? SpanText(end - task.value("started", end)) : "-",
        task.contains("exit_code") ? absl::StrCat(task.value("exit_code", 0))
                                   : "-"};
    if (bound) {
      const auto cpus = task.value("cpus", std::vector<uint32_t>());
      row.insert(row.begin() + kCpus, cpus.empty() ? "-" : CpuListText(cpus));
    }
    table.Add(row);
  }
  return table.Text();
}

}  // namespace

std::string JobText(const Json& job, double now) {
  Fields fields;
  fields.Add("Job", IdText(job));
  fields.Add("Name", job.value("name", ""));
  fields.Add("State", StateOf(job));
  fields.Add("Why", job.value("why", ""));
  fields.Add("Reason", job.value("reason", ""));
  fields.Add("Parameters", TextOf(PointOf(job)));
  fields.Add("Queue", job.value("queue", ""));
  fields.Add("Priority", job.value("priority", ""));
  fields.Add("User", absl::StrCat(job.value("uid", 0u)));
  fields.Time("Submitted", job, "submitted");
  fields.Time("Started", job, "started");
  fields.Time("Finished", job, "finished");
  fields.Time("Checkpoint", job, "checkpoint_at");
  if (job.contains("exit_code")) {
    fields.Add("Exit code", absl::StrCat(job.value("exit_code", 0)));
  }
  if (job.contains("restarts")) {
    fields.Add("Restarts", absl::StrCat(job.value("restarts", 0)));
  }
  if (job.contains("preemptions")) {
    fields.Add("Preemptions", absl::StrCat(job.value("preemptions", 0)));
  }
  const Json manifest = ManifestOf(job);
  const std::string edited = EditedCommandOf(job);
  fields.Add("Command",
             WithParameters(edited.empty() ? CommandOf(manifest) : edited,
                            PointOf(job)));
  fields.Add("Image", ImagesOf(job));
  fields.Add("Edited", EditsOf(job));
  fields.Add("Code", SnapshotOf(manifest));
  fields.Add("Directory", job.value("directory", ""));
  std::string text = std::move(fields).text();
  const Json& tasks = ListOf(job, "tasks");
  if (!tasks.empty()) text += "\n" + TasksText(tasks, now);
  return text;
}

}  // namespace muster::local
