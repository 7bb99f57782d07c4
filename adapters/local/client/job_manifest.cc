#include "adapters/local/client/job_manifest.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "adapters/local/client/job_id.h"
#include "muster/quantity.h"

namespace muster::local {

using Json = nlohmann::ordered_json;

namespace {

constexpr size_t kLongestName = 63;

// Hours, minutes and seconds; false: it is none.
bool ReadClock(const std::string& text, int64_t* seconds) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return false;
  *seconds = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    uint32_t number = 0;
    const bool digits = !parts[i].empty() && parts[i].size() <= 6 &&
                        std::ranges::all_of(parts[i], [](unsigned char c) {
                          return absl::ascii_isdigit(c);
                        });
    if (!digits || !absl::SimpleAtoi(parts[i], &number)) return false;
    if (i > 0 && number > 59) return false;
    *seconds = *seconds * 60 + number;
  }
  return true;
}

absl::Status Wrong(const char* option, const std::string& text,
                   const char* expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": '", text, "': expected ", expected));
}

// Whole GPUs, or a part of one.
absl::Status AddGpus(const std::string& text, Json* requests) {
  const auto milli = ParseQuantity(text, 1'000);
  constexpr char kExpected[] = "a number of GPUs such as 2, or a part as 0.5";
  if (!milli.ok() || *milli < 0) return Wrong("--gpus", text, kExpected);
  if (*milli % 1'000 == 0) {
    (*requests)["nvidia.com/gpu"] = absl::StrCat(*milli / 1'000);
  } else if (*milli < 1'000) {
    (*requests)["muster.dev/gpu-milli"] = absl::StrCat(*milli);
  } else {
    return Wrong("--gpus", text, kExpected);
  }
  return absl::OkStatus();
}

// Ascending numbers, each by itself; "" of none.
absl::StatusOr<std::string> GpuIds(const SubmitOptions& o) {
  if (o.gpu_ids.empty()) return std::string();
  const auto ids = ParseIndices(o.gpu_ids);
  if (ids.ok()) return absl::StrJoin(*ids, ",");
  return Wrong("--gpu-ids", o.gpu_ids, "numbers of GPUs such as 0,2-3");
}

}  // namespace

absl::StatusOr<Json> RequestsOf(const SubmitOptions& o) {
  Json requests = Json::object();
  const auto ids = GpuIds(o);
  if (!ids.ok()) return ids.status();
  std::string gpus = o.gpus;
  if (gpus.empty() && o.gpu_memory.empty() && !ids->empty()) {
    gpus = absl::StrCat(std::ranges::count(*ids, ',') + 1);
  }
  if (!gpus.empty() && gpus != "0") {
    const absl::Status status = AddGpus(gpus, &requests);
    if (!status.ok()) return status;
  }
  const auto add = [&](const char* option, const char* resource, int64_t scale,
                       const std::string& text) {
    if (text.empty()) return absl::OkStatus();
    if (!ParseQuantity(text, scale).ok()) {
      return Wrong(option, text, "a quantity such as 4, 0.5, 10G or 512Mi");
    }
    requests[resource] = text;
    return absl::OkStatus();
  };
  for (const absl::Status& status :
       {add("--gpu-mem", "muster.dev/gpu-memory", 1, o.gpu_memory),
        add("--cpus", "cpu", 1'000, o.cpus),
        add("--mem", "memory", 1, o.memory)}) {
    if (!status.ok()) return status;
  }
  return requests;
}

namespace {

// "gpus=1,cpus=8" as options have it to "nvidia.com/gpu=1,cpu=8".
absl::StatusOr<std::string> Alternative(const std::string& text) {
  constexpr char kExpected[] =
      "some of gpus=, gpu-mem=, cpus= and mem=, with commas between them";
  SubmitOptions of;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(text, ','))) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals);
    std::string* field = name == "gpus"      ? &of.gpus
                         : name == "gpu-mem" ? &of.gpu_memory
                         : name == "cpus"    ? &of.cpus
                         : name == "mem"     ? &of.memory
                                             : nullptr;
    if (field == nullptr || !field->empty() || equals + 1 >= part.size()) {
      return Wrong("--or", text, kExpected);
    }
    *field = part.substr(equals + 1);
  }
  const auto requests = RequestsOf(of);
  if (!requests.ok()) return Wrong("--or", text, kExpected);
  std::vector<std::string> words;
  for (const auto& [resource, amount] : requests->items()) {
    words.push_back(absl::StrCat(resource, "=", amount.get<std::string>()));
  }
  if (words.empty()) return Wrong("--or", text, kExpected);
  return absl::StrJoin(words, ",");
}

absl::StatusOr<Json> Annotations(const SubmitOptions& o) {
  Json annotations = Json::object();
  const auto ids = GpuIds(o);
  if (!ids.ok()) return ids.status();
  if (!ids->empty()) annotations["muster.dev/gpu-ids"] = *ids;
  std::vector<std::string> others;
  for (const std::string& text : o.others) {
    const auto other = Alternative(text);
    if (!other.ok()) return other.status();
    others.push_back(*other);
  }
  if (!others.empty())
    annotations["muster.dev/or"] = absl::StrJoin(others, ";");
  if (o.tasks > 1) annotations["muster.dev/min-pods"] = absl::StrCat(o.tasks);
  if (!o.checkpoint.empty())
    annotations["muster.dev/checkpoint"] = o.checkpoint;
  if (!o.output.empty()) annotations["muster.dev/output"] = o.output;
  if (!o.error.empty()) annotations["muster.dev/error"] = o.error;
  if (!o.code.empty()) annotations["muster.dev/code"] = o.code;
  return annotations;
}

absl::StatusOr<Json> Environment(const SubmitOptions& o) {
  Json list = Json::array();
  for (const std::string& variable : o.environment) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Wrong("--env", variable, "NAME=VALUE");
    }
    list.push_back({{"name", variable.substr(0, equals)},
                    {"value", variable.substr(equals + 1)}});
  }
  return list;
}

constexpr const char* kDirectoryVolume = "directory";

// An absolute directory of a manifest is the image's: this one is the
// machine's.
bool NeedsDirectory(const SubmitOptions& o) {
  return !o.image.empty() && o.directory.starts_with('/') && o.directory != "/";
}

absl::StatusOr<Json> Container(const SubmitOptions& o) {
  if (o.command.empty()) {
    return absl::InvalidArgumentError("command: expected one behind '--'");
  }
  Json container{{"name", "main"}, {"command", o.command}};
  if (!o.directory.empty()) container["workingDir"] = o.directory;
  if (!o.image.empty()) container["image"] = o.image;
  if (o.input) container["stdin"] = true;
  if (NeedsDirectory(o)) {
    container["volumeMounts"] =
        Json::array({{{"name", kDirectoryVolume}, {"mountPath", o.directory}}});
  }
  auto requests = RequestsOf(o);
  if (!requests.ok()) return requests.status();
  if (!requests->empty()) {
    container["resources"] = {{"requests", *std::move(requests)}};
  }
  auto environment = Environment(o);
  if (!environment.ok()) return environment.status();
  if (!environment->empty()) container["env"] = *std::move(environment);
  return container;
}

// So many jobs of a calendar stay in the history, of each outcome.
constexpr int kCronHistory = 10;

absl::StatusOr<Json> Calendar(const SubmitOptions& o, Json metadata,
                              Json annotations, Json job) {
  Json spec{{"schedule", o.cron}};
  if (!o.time_zone.empty()) spec["timeZone"] = o.time_zone;
  if (!o.concurrency.empty()) spec["concurrencyPolicy"] = o.concurrency;
  if (!o.starting_deadline.empty()) {
    const auto deadline = ParseTime("--starting-deadline", o.starting_deadline);
    if (!deadline.ok()) return deadline.status();
    spec["startingDeadlineSeconds"] = *deadline;
  }
  spec["successfulJobsHistoryLimit"] = kCronHistory;
  spec["failedJobsHistoryLimit"] = kCronHistory;
  if (!annotations.empty()) {
    spec["jobTemplate"]["metadata"]["annotations"] = std::move(annotations);
  }
  spec["jobTemplate"]["spec"] = std::move(job);
  return Json{{"apiVersion", "batch/v1"},
              {"kind", "CronJob"},
              {"metadata", std::move(metadata)},
              {"spec", std::move(spec)}};
}

}  // namespace

std::string NameOf(const std::string& command) {
  const size_t slash = command.find_last_of('/');
  std::string name = absl::AsciiStrToLower(
      slash == std::string::npos ? command : command.substr(slash + 1));
  for (char& c : name) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                       c == '-' || c == '.';
    if (!plain) c = '-';
  }
  name = name.substr(0, kLongestName);
  const auto is_edge = [](char c) { return c == '-' || c == '.'; };
  while (!name.empty() && is_edge(name.back())) name.pop_back();
  while (!name.empty() && is_edge(name.front())) name.erase(0, 1);
  return name.empty() ? "job" : name;
}

absl::StatusOr<int64_t> ParseTime(const std::string& option,
                                  const std::string& text) {
  int64_t seconds = 0;
  if (ReadClock(text, &seconds)) return seconds;
  const auto span = ParseDuration(text);
  if (!span.ok()) {
    return Wrong(option.c_str(), text, "a time such as 90m, 2h or 1:30:00");
  }
  return *span / kSecond + (*span % kSecond > 0 ? 1 : 0);
}

absl::StatusOr<Json> MakeManifest(const SubmitOptions& o) {
  auto container = Container(o);
  if (!container.ok()) return container.status();
  Json pod{{"restartPolicy", "Never"}};
  if (!o.grace.empty()) {
    const auto grace = ParseTime("--grace", o.grace);
    if (!grace.ok()) return grace.status();
    pod["terminationGracePeriodSeconds"] = *grace;
  }
  pod["containers"] = Json::array({*std::move(container)});
  if (NeedsDirectory(o)) {
    pod["volumes"] = Json::array(
        {{{"name", kDirectoryVolume}, {"hostPath", {{"path", o.directory}}}}});
  }
  Json spec{{"backoffLimit", o.retries}};
  if (o.tasks > 1) {
    spec["parallelism"] = o.tasks;
    spec["completions"] = o.tasks;
    spec["completionMode"] = "Indexed";
  }
  if (!o.time.empty()) {
    const auto time = ParseTime("--time", o.time);
    if (!time.ok()) return time.status();
    if (*time == 0) return Wrong("--time", o.time, "more than no time");
    spec["activeDeadlineSeconds"] = *time;
  }
  if (!o.ttl.empty()) {
    const auto ttl = ParseTime("--ttl", o.ttl);
    if (!ttl.ok()) return ttl.status();
    spec["ttlSecondsAfterFinished"] = *ttl;
  }
  spec["template"]["spec"] = std::move(pod);
  Json metadata{{"name", o.name.empty() ? NameOf(o.command[0]) : o.name}};
  auto annotations = Annotations(o);
  if (!annotations.ok()) return annotations.status();
  if (!o.cron.empty()) {
    return Calendar(o, std::move(metadata), *std::move(annotations),
                    std::move(spec));
  }
  for (const std::string& other :
       {o.time_zone, o.concurrency, o.starting_deadline}) {
    if (!other.empty()) {
      return absl::InvalidArgumentError(
          "--time-zone, --concurrency, --starting-deadline: need --cron");
    }
  }
  if (!annotations->empty()) metadata["annotations"] = *std::move(annotations);
  return Json{{"apiVersion", "batch/v1"},
              {"kind", "Job"},
              {"metadata", std::move(metadata)},
              {"spec", std::move(spec)}};
}

}  // namespace muster::local
