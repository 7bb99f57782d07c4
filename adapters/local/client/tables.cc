#include "adapters/local/client/tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/user_names.h"
#include "adapters/local/grid/parameter_point.h"
#include "adapters/local/model/cpu_list.h"
#include "adapters/text/table.h"

namespace muster::local {

using Json = nlohmann::ordered_json;
using text::Table;

namespace {

// Since its start, or how long it ran.
std::string RunTime(const Json& job, double now) {
  if (!job.contains("started")) return "-";
  const double end = job.value("finished", now);
  return SpanText(end - job.value("started", now));
}

std::string ReasonOf(const Json& job) {
  return job.contains("why") ? job.value("why", "") : job.value("reason", "");
}

std::string AmountText(const std::string& resource, int64_t amount) {
  if (resource == "memory") return BytesText(amount);
  if (resource == "cpu" || resource == "gpu") return MilliText(amount);
  return absl::StrCat(amount);
}

std::string DrainText(const Json& drained) {
  const std::string reason = drained.value("reason", "");
  return absl::StrCat(
      drained.value("quarantine", false) ? "quarantine" : "drained",
      reason.empty() ? "" : ": ", reason);
}

std::string HoldersOf(const Json& device) {
  std::vector<std::string> holders;
  for (const Json& held : ListOf(device, "held")) {
    const int64_t milli = held.value("milli", 1000);
    std::string holder = absl::StrCat(held.value("job", uint64_t{0}));
    if (held.contains("partition")) {
      absl::StrAppend(&holder, " (", held.value("partition", ""), ")");
    } else if (held.contains("memory") && milli == 0) {
      absl::StrAppend(&holder, " (", BytesText(held.value("memory", 0L)), ")");
    } else if (milli < 1000) {
      absl::StrAppend(&holder, " (", MilliText(milli), ")");
    }
    holders.push_back(holder);
  }
  if (device.value("others", 0) > 0) holders.push_back("others");
  if (device.contains("drained")) {
    holders.push_back(DrainText(device["drained"]));
  } else if (!device.value("healthy", true)) {
    holders.push_back("unhealthy");
  }
  return holders.empty() ? "-" : absl::StrJoin(holders, ", ");
}

// Which CPUs tasks have of their own, and which all others share.
std::string CpusText(const Json& cpus) {
  const auto list = [](const Json& from, const char* name) {
    return CpuListText(from.value(name, std::vector<uint32_t>()));
  };
  Table table({"  CPUS", "HELD BY"});
  for (const Json& held : ListOf(cpus, "held")) {
    table.Add({"  " + list(held, "cpus"),
               absl::StrCat(held.value("job", uint64_t{0}), " (",
                            held.value("task", ""), ")")});
  }
  const std::string shared = list(cpus, "shared");
  table.Add({"  " + (shared.empty() ? "-" : shared), "all others"});
  return table.Text();
}

}  // namespace

std::string StateOf(std::string_view phase, bool held) {
  if (phase == "forgotten") return "cancelled";
  const bool waits = phase == "queued" || phase == "new";
  return waits && held ? "held" : std::string(phase);
}
std::string StateOf(const Json& job) {
  return StateOf(job.value("phase", ""), job.value("held", false));
}

std::string IdText(uint64_t id, uint64_t array, uint64_t index) {
  return array == 0 ? absl::StrCat(id) : absl::StrCat(array, "_", index);
}
std::string IdText(const Json& job) {
  return IdText(job.value("id", uint64_t{0}), job.value("array", uint64_t{0}),
                job.value("array_index", uint64_t{0}));
}

ParameterPoint PointOf(const Json& job) {
  const auto point = ParameterPointFromJson(
      job.contains("parameters") ? job["parameters"].dump() : "");
  return point.ok() ? *point : ParameterPoint();
}

std::string SpanText(double seconds) {
  constexpr int64_t kDay = 24 * 3600;
  const int64_t s = std::max<int64_t>(0, std::llround(std::floor(seconds)));
  const int hours = static_cast<int>(s % kDay / 3600);
  const int minutes = static_cast<int>(s % 3600 / 60);
  if (s >= kDay)
    return absl::StrFormat("%dd %02d:%02d", s / kDay, hours, minutes);
  if (s < 3600) return absl::StrFormat("%d:%02d", minutes, s % 60);
  return absl::StrFormat("%d:%02d:%02d", hours, minutes, s % 60);
}

std::string TimeText(double seconds) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S",
                          absl::FromUnixSeconds(std::llround(seconds)),
                          absl::LocalTimeZone());
}

std::string BytesText(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "K", "M", "G", "T", "P"};
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, "B")
                   : absl::StrFormat("%.1f%s", amount, kUnits[unit]);
}

std::string MilliText(int64_t milli) {
  return absl::StrFormat("%g", static_cast<double>(milli) / 1000);
}

std::string HistoryText(const Json& jobs, bool users) {
  UserNames names;
  std::vector<std::string> head{"ID",   "NAME", "STATE", "SUBMITTED",
                                "TIME", "CODE", "REASON"};
  if (users) head.insert(head.begin() + 2, "USER");
  const bool parameters = std::ranges::any_of(
      ListOf(jobs, "jobs"),
      [](const Json& job) { return job.contains("parameters"); });
  if (parameters) head.insert(head.end() - 1, "PARAMETERS");
  Table table(head);
  for (const Json& job : ListOf(jobs, "jobs")) {
    const double submitted = job.value("submitted", 0.0);
    std::vector<std::string> row{
        IdText(job),
        job.value("name", ""),
        StateOf(job),
        TimeText(submitted),
        job.contains("finished") ? RunTime(job, submitted) : "-",
        job.contains("exit_code") ? absl::StrCat(job.value("exit_code", 0))
                                  : "-",
        ReasonOf(job)};
    if (users) row.insert(row.begin() + 2, names.Of(job.value("uid", 0u)));
    if (parameters) {
      const std::string text = TextOf(PointOf(job));
      row.insert(row.end() - 1, text.empty() ? "-" : text);
    }
    table.Add(row);
  }
  return table.Text();
}

std::string RemovedText(const Json& jobs) {
  UserNames names;
  Table table(
      {"ID", "NAME", "USER", "STATE", "FINISHED", "REMOVED", "BYTES", "WHY"});
  for (const Json& job : ListOf(jobs, "jobs")) {
    table.Add({absl::StrCat(job.value("id", uint64_t{0})),
               job.value("name", ""), names.Of(job.value("uid", 0u)),
               StateOf(job), TimeText(job.value("finished", 0.0)),
               TimeText(job.value("removed", 0.0)),
               job.contains("bytes") ? BytesText(job.value("bytes", int64_t{0}))
                                     : "-",
               job.value("why", "")});
  }
  return table.Text();
}

std::string CronsText(const Json& crons, bool users) {
  UserNames names;
  std::vector<std::string> head{"ID",   "NAME", "SCHEDULE", "ZONE",
                                "NEXT", "LAST", "RUNNING",  "SAID"};
  if (users) head.insert(head.begin() + 2, "USER");
  Table table(head);
  for (const Json& cron : ListOf(crons, "crons")) {
    const auto time = [&](const char* name, const char* otherwise) {
      return cron.contains(name) ? TimeText(cron.value(name, 0.0)) : otherwise;
    };
    const bool suspended = cron.value("suspended", false);
    std::vector<std::string> row{
        absl::StrCat(cron.value("id", uint64_t{0})),
        cron.value("name", ""),
        cron.value("schedule", ""),
        cron.value("time_zone", "local"),
        time("next", suspended ? "suspended" : "never"),
        time("last", "-"),
        absl::StrCat(ListOf(cron, "jobs").size()),
        cron.value("said", "")};
    if (users) row.insert(row.begin() + 2, names.Of(cron.value("uid", 0u)));
    table.Add(row);
  }
  return table.Text();
}

std::string NodesText(const Json& nodes) {
  std::string text;
  for (const Json& node : ListOf(nodes, "nodes")) {
    text += text::Printable(node.value("name", ""));
    if (node.contains("drained")) {
      text += " " + text::Printable(DrainText(node["drained"]), 1'000);
    }
    text += "\n";
    Table resources({"  RESOURCE", "CAPACITY", "USED", "OTHERS"});
    const Json capacity = node.value("capacity", Json::object());
    const Json used = node.value("used", Json::object());
    const Json others = node.value("others", Json::object());
    for (const auto& [name, amount] : capacity.items()) {
      resources.Add({"  " + name, AmountText(name, amount.get<int64_t>()),
                     AmountText(name, used.value(name, int64_t{0})),
                     AmountText(name, others.value(name, int64_t{0}))});
    }
    text += resources.Text();
    Table devices({"  DEVICE", "MODEL", "MEMORY", "HELD BY"});
    const Json& list = ListOf(node, "devices");
    for (const Json& device : list) {
      const int64_t memory = device.value("memory", int64_t{0});
      const std::string model = device.value("model", "");
      devices.Add({absl::StrCat("  ", device.value("index", 0)),
                   model.empty() ? "-" : model,
                   memory == 0 ? "-" : BytesText(memory), HoldersOf(device)});
    }
    if (!list.empty()) text += devices.Text();
    if (node.contains("cpus")) text += CpusText(node["cpus"]);
    if (const std::string why = node.value("no_mounts", ""); !why.empty()) {
      absl::StrAppend(&text, "  Volumes are not mounted: ",
                      text::Printable(why, 1'000), "\n");
    }
    if (const std::string by = node.value("images", ""); !by.empty()) {
      absl::StrAppend(&text, "  Images are run by ", text::Printable(by), "\n");
    }
  }
  return text;
}

// The amounts that are not 0; "-": all are.
std::string AmountsText(const Json& amounts) {
  std::vector<std::string> all;
  for (const auto& [name, amount] : amounts.items()) {
    const auto value = amount.get<int64_t>();
    if (value != 0) all.push_back(name + " " + AmountText(name, value));
  }
  return all.empty() ? "-" : absl::StrJoin(all, ", ");
}

// What of a queue's quotas cannot be kept.
std::string NoteText(const Json& note) {
  const std::string kind = note.value("kind", "");
  const std::string resource = note.value("resource", "");
  const auto amount = [&](const char* field) {
    return AmountText(resource, note.value(field, int64_t{0}));
  };
  if (kind == "more-below") {
    return absl::StrCat("the queues below it are guaranteed ", amount("asked"),
                        " ", resource, ", and it is ", amount("available"));
  }
  if (kind == "more-than-nodes") {
    return absl::StrCat("the queues without a parent are guaranteed ",
                        amount("asked"), " ", resource, ", and there are ",
                        amount("available"));
  }
  if (kind == "not-stated") {
    return absl::StrCat("it is owed no ", resource,
                        ", of which a queue beside it is guaranteed some");
  }
  return kind;
}

std::string QueuesText(const Json& queues) {
  Table table({"QUEUE", "PARENT", "WEIGHT", "RUNNING", "WAITING", "STATE",
               "USED", "BORROWED", "UNUSED"});
  std::string notes;
  for (const Json& queue : ListOf(queues, "queues")) {
    const std::string parent = queue.value("parent", "");
    const auto amounts = [&](const char* field) {
      return AmountsText(queue.value(field, Json::object()));
    };
    table.Add({queue.value("name", ""), parent.empty() ? "-" : parent,
               absl::StrCat(queue.value("weight", 1)),
               absl::StrCat(queue.value("running", 0)),
               absl::StrCat(queue.value("waiting", 0)),
               queue.value("closed", false) ? "closed"
               : queue.value("held", false) ? "held"
                                            : "open",
               amounts("used"), amounts("borrowed"), amounts("unused")});
    for (const Json& note : ListOf(queue, "notes")) {
      absl::StrAppend(&notes, queue.value("name", ""), ": ", NoteText(note),
                      "\n");
    }
  }
  return table.Text() + notes;
}

std::string ForecastText(const Json& forecast) {
  std::string text;
  for (const Json& job : ListOf(forecast, "jobs")) {
    const std::string outcome = job.value("outcome", "");
    text += text::Printable(job.value("name", ""));
    if (outcome == "waits") {
      absl::StrAppend(&text, " would wait, behind ", job.value("ahead", 0),
                      " jobs: ", text::Printable(job.value("why", "")), "\n");
      continue;
    }
    text += outcome == "starts" ? " would start now\n" : " would start after\n";
    for (const Json& victim : ListOf(job, "victims")) {
      absl::StrAppend(&text, "  job ", victim.get<uint64_t>(),
                      " has made room\n");
    }
    for (const Json& place : ListOf(job, "places")) {
      const auto devices = place.value("devices", std::vector<uint32_t>());
      absl::StrAppend(&text, "  ", text::Printable(place.value("task", "")));
      if (!devices.empty()) {
        absl::StrAppend(&text, " on ",
                        devices.size() == 1 ? "device " : "devices ",
                        absl::StrJoin(devices, ", "));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace muster::local
