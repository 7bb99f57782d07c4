#include "adapters/local/api/view_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "adapters/local/api/job_json.h"

namespace muster::local {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kOutcomes[] = {"starts", "makes-room", "waits"};

void AddRemarks(const std::vector<workload::IgnoredField>& ignored,
                const std::vector<std::string>& notes, Json* json) {
  Json fields = Json::array();
  for (const workload::IgnoredField& field : ignored) {
    fields.push_back(
        {{"path", field.path}, {"line", field.line}, {"why", field.why}});
  }
  (*json)["ignored"] = std::move(fields);
  (*json)["notes"] = notes;
}

Json AmountsJson(const Resources& amounts, const SchedulerConfig& config) {
  Json json = Json::object();
  for (ResourceKind k = 0; k < config.resources.size(); ++k) {
    json[config.resources[k]] = amounts[k];
  }
  return json;
}

Json DrainJson(const DrainRow& row) {
  Json json{{"since", SecondsOf(row.since)},
            {"quarantine", row.quarantine},
            {"reason", row.reason}};
  if (!row.quarantine) json["uid"] = row.uid;
  return json;
}

// What tasks are bound to, and which of it they have of their own.
Json CpusJson(const NodeView& view) {
  Json held = Json::array();
  for (const HeldCpuSet& one : view.held_cpus) {
    held.push_back({{"job", one.job}, {"task", one.task}, {"cpus", one.cpus}});
  }
  return {{"unit", Name(view.cpu_unit)},
          {"all", view.cpus},
          {"shared", view.free_cpus},
          {"held", std::move(held)}};
}

Json ShareJson(const DeviceShare& share) {
  Json json{{"milli", share.milli}};
  if (share.memory_bytes > 0) json["memory"] = share.memory_bytes;
  if (!share.partition.empty()) json["partition"] = share.partition;
  return json;
}

}  // namespace

Resources CapacityOf(const Node& node, const SchedulerConfig& config) {
  Resources capacity = node.capacity;
  const ResourceKind kind = config.KindOf(config.device_kind);
  if (kind == config.resources.size()) return capacity;
  const auto healthy = std::ranges::count_if(node.devices, &Device::healthy);
  capacity.Set(kind, healthy * int64_t{1'000});
  return capacity;
}

Json ReasonJson(const NamedReason& reason) {
  Json json{{"code", Name(reason.code)}};
  if (!reason.object.empty()) json["object"] = reason.object;
  if (!reason.resource.empty()) json["resource"] = reason.resource;
  if (reason.needed != 0) json["needed"] = reason.needed;
  if (reason.available != 0) json["available"] = reason.available;
  return json;
}

Json SubmitJson(const SubmitResult& result) {
  Json jobs = Json::array();
  for (const SubmittedJob& job : result.jobs) {
    Json& one = jobs.emplace_back(Json{{"id", job.id}, {"name", job.name}});
    if (job.array != 0) one["array"] = job.array;
    if (job.array_index) one["array_index"] = *job.array_index;
  }
  Json json{{"jobs", std::move(jobs)}};
  for (const SubmittedCron& cron : result.crons) {
    Json& one =
        json["crons"].emplace_back(Json{{"id", cron.id}, {"name", cron.name}});
    if (cron.next != kForever) one["next"] = SecondsOf(cron.next);
  }
  AddRemarks(result.ignored, result.notes, &json);
  return json;
}

Json ForecastJson(const ForecastResult& result) {
  Json jobs = Json::array();
  for (const Forecast& forecast : result.jobs) {
    Json places = Json::array();
    for (const Forecast::Place& place : forecast.places) {
      places.push_back({{"task", place.task}, {"devices", place.devices}});
    }
    Json& one = jobs.emplace_back(
        Json{{"name", forecast.name},
             {"outcome", kOutcomes[static_cast<size_t>(forecast.outcome)]},
             {"places", std::move(places)},
             {"victims", forecast.victims},
             {"ahead", forecast.ahead}});
    if (!forecast.why.empty()) {
      one["why"] = forecast.why;
      one["reason"] = ReasonJson(forecast.reason);
    }
  }
  Json json{{"jobs", std::move(jobs)}};
  AddRemarks(result.ignored, result.notes, &json);
  return json;
}

Json ExplanationJson(uint64_t job, const JobExplanation& explanation) {
  return {{"id", job},
          {"phase", Name(explanation.phase)},
          {"gang", Name(explanation.gang)},
          {"why", explanation.text},
          {"reason", ReasonJson(explanation.reason)},
          {"ahead", explanation.ahead}};
}

Json NodeJson(const NodeView& view, const std::vector<OtherProcess>& others,
              const std::function<std::string(const DeviceShare&)>& visible,
              const SchedulerConfig& config) {
  Json devices = Json::array();
  for (uint32_t d = 0; d < view.node.devices.size(); ++d) {
    const Device& device = view.node.devices[d];
    devices.push_back({{"index", d},
                       {"model", device.model},
                       {"memory", device.memory_bytes},
                       {"healthy", device.healthy},
                       {"held", Json::array()},
                       {"others", 0}});
  }
  for (const HeldDevice& held : view.devices) {
    if (held.share.device >= devices.size()) continue;
    Json json = ShareJson(held.share);
    json["job"] = held.job;
    json["task"] = held.task;
    const std::string name =
        visible ? visible(held.share) : absl::StrCat(held.share.device);
    if (!name.empty()) json["visible"] = name;
    devices[held.share.device]["held"].push_back(std::move(json));
  }
  for (const DeviceShare& share : view.external.devices) {
    if (share.device < devices.size()) {
      devices[share.device]["others"] = share.milli;
    }
  }
  for (const OtherProcess& other : others) {
    if (other.device >= devices.size()) continue;
    Json& process = devices[other.device]["processes"].emplace_back(
        Json{{"pid", other.pid}, {"uid", other.uid}});
    if (other.memory_bytes > 0) process["memory"] = other.memory_bytes;
  }
  Json node{{"name", view.node.key},
            {"capacity", AmountsJson(CapacityOf(view.node, config), config)},
            {"used", AmountsJson(view.used, config)},
            {"others", AmountsJson(view.external.amount, config)},
            {"devices", std::move(devices)}};
  for (const DrainRow& row : view.drains) {
    if (row.device == DrainRow::kWholeNode) {
      node["drained"] = DrainJson(row);
    } else if (static_cast<size_t>(row.device) < node["devices"].size()) {
      node["devices"][static_cast<size_t>(row.device)]["drained"] =
          DrainJson(row);
    }
  }
  if (!view.cpus.empty()) node["cpus"] = CpusJson(view);
  if (!view.no_mounts.empty()) node["no_mounts"] = view.no_mounts;
  if (!view.images.empty()) node["images"] = view.images;
  return node;
}

Json CronJson(const CronView& view, Reader reader) {
  const CronRow& row = view.row;
  Json json{{"id", row.id},
            {"name", row.name},
            {"uid", row.uid},
            {"schedule", view.schedule},
            {"concurrency", view.concurrency},
            {"suspended", row.suspended},
            {"jobs", view.jobs}};
  if (!view.zone.empty()) json["time_zone"] = view.zone;
  if (view.next != kForever) json["next"] = SecondsOf(view.next);
  if (row.started != kForever) json["last"] = SecondsOf(row.started);
  if (reader == Reader::kOwner && !row.said.empty()) json["said"] = row.said;
  return json;
}

Json QueueJson(const QueueView& view, const SchedulerConfig& config) {
  const QueueStanding& standing = view.standing;
  Json json{{"name", view.queue.key},
            {"parent", view.queue.parent},
            {"weight", view.queue.weight},
            {"closed", view.queue.closed},
            {"held", view.queue.held},
            {"waiting", view.waiting},
            {"running", view.running},
            {"band", view.queue.band},
            {"used", AmountsJson(standing.used, config)},
            {"borrowed", AmountsJson(standing.borrowed, config)},
            {"unused", AmountsJson(standing.unused, config)},
            {"share_millionths", standing.share_millionths}};
  Json notes = Json::array();
  for (const QueueNote& note : standing.notes) {
    notes.push_back({{"kind", Name(note.kind)},
                     {"resource", config.resources[note.resource]},
                     {"asked", note.asked},
                     {"available", note.available}});
  }
  json["notes"] = std::move(notes);
  Json quotas = Json::array();
  for (const Quota& quota : view.queue.quotas) {
    Json& one = quotas.emplace_back(Json{{"resource", quota.resource}});
    if (quota.guarantee) one["guarantee"] = *quota.guarantee;
    if (quota.limit) one["limit"] = *quota.limit;
    if (quota.borrow_limit) one["borrow_limit"] = *quota.borrow_limit;
  }
  json["quotas"] = std::move(quotas);
  return json;
}

}  // namespace muster::local
