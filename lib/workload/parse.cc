#include "muster/workload/parse.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/workload/cat.h"
#include "lib/workload/readers.h"

namespace muster::workload {
namespace {

// A document and what is found in it, from the first look to the last.
struct Reading {
  std::unique_ptr<Findings> findings{};
  Value root{};
  std::string api_version{}, kind{};
};

Reading Begin(const Document& document) {
  Reading r;
  r.findings = std::make_unique<Findings>(document.first_line);
  r.root = Value(document.root, "", r.findings.get());
  if (!r.root.IsMap()) {
    r.root.Wrong("expected a mapping with apiVersion and kind");
    return r;
  }
  r.root.EachEntry([&](const std::string& key, const Value& v) {
    if (key == "apiVersion") v.Read(&r.api_version);
    if (key == "kind") v.Read(&r.kind);
  });
  return r;
}

bool IsRuntime(const Reading& r) {
  return r.api_version.starts_with("trainer.kubeflow.org/") &&
         (r.kind == "TrainingRuntime" || r.kind == "ClusterTrainingRuntime");
}

const KindName* FindKind(const Reading& r) {
  const size_t slash = r.api_version.find('/');
  const std::string group = r.api_version.substr(0, slash);
  const std::string version =
      slash == std::string::npos ? "" : r.api_version.substr(slash + 1);
  for (const KindName& name : KindNames()) {
    if (name.group == group && name.version == version && name.name == r.kind) {
      return &name;
    }
  }
  return nullptr;
}

void UnknownKind(const Reading& r) {
  std::string known;
  for (const KindName& n : KindNames()) {
    known +=
        Cat(known.empty() ? "" : ", ", n.group, "/", n.version, " ", n.name);
  }
  r.root.Wrong(Cat("'", r.api_version, "' '", r.kind, "' is none of: ", known));
}

void ReadMetadata(const Value& v, Job* job) {
  if (!v.there()) return;
  Object o(v);
  std::string generate;
  o["generateName"].Read(&generate);
  o["name"].Read(&job->name);
  if (job->name.empty() && !generate.empty()) job->name = generate + "job";
  if (job->name.empty()) v.Wrong("lacks 'name'");
  o["namespace"].Read(&job->space);
  o["labels"].Read(&job->labels);
  o["annotations"].Read(&job->annotations);
}

void ReadSpec(const Value& spec, const std::vector<Runtime>& runtimes,
              Job* job) {
  if (!spec.there()) return;
  if (const KindRow* row = FindRow(job->kind, job->dialect)) {
    return ReadReplicaJob(spec, *row, job);
  }
  switch (job->kind) {
    case Kind::kJob:
      return ReadBatchJob(spec, job);
    case Kind::kJobSet:
      return ReadJobSet(spec, job);
    case Kind::kTrainJob:
      return ReadTrainJob(spec, runtimes, job);
    case Kind::kRayCluster:
      return ReadRayCluster(spec, job);
    case Kind::kRayJob:
      return ReadRayJob(spec, job);
    default:
      return spec.Unsupported("a kind without a reader");
  }
}

absl::StatusOr<ParsedJob> ReadJob(const Reading& r,
                                  const std::vector<Runtime>& runtimes) {
  ParsedJob parsed;
  const KindName* name = FindKind(r);
  if (r.root.IsMap() && name == nullptr) UnknownKind(r);
  if (!r.findings->status().ok()) return r.findings->status();
  Job& job = parsed.job;
  job.kind = name->kind;
  job.dialect = name->dialect;
  Value metadata, inner;
  {
    Object root(r.root);
    root["apiVersion"];
    root["kind"];
    root.Ignore("status", "it is what another controller said");
    metadata = root.Required("metadata");
    ReadMetadata(metadata, &job);
    const Value spec = root.Required("spec");
    if (name->name == kCronJob) {
      inner = ReadCronJob(spec, &job);
    } else {
      ReadSpec(spec, runtimes, &job);
    }
  }
  if (r.findings->status().ok()) FinishJob(metadata, &job);
  if (r.findings->status().ok()) FinishJob(inner, &job);
  if (!r.findings->status().ok()) return r.findings->status();
  absl::Status s = Check(job);
  if (!s.ok()) return s;
  parsed.ignored = r.findings->TakeIgnored();
  parsed.notes = r.findings->TakeNotes();
  return parsed;
}

// The runtimes of the file, by name.
absl::Status CollectRuntimes(const std::vector<Reading>& readings,
                             std::vector<Runtime>* to) {
  for (const Reading& r : readings) {
    if (!IsRuntime(r)) continue;
    Runtime runtime;
    Object root(r.root);
    root["apiVersion"];
    root["kind"];
    if (const Value metadata = root.Required("metadata"); metadata.there()) {
      Object o(metadata);
      o.Required("name").Read(&runtime.name);
      o["namespace"];
      o.Ignore("labels", "they decide nothing");
      o.Ignore("annotations", "they decide nothing");
    }
    if (const Value spec = root["spec"]; spec.there()) {
      runtime.spec = Value(spec.node(), r.kind + ".spec", r.findings.get());
    }
    if (!runtime.spec.there()) r.root.Wrong("lacks 'spec'");
    if (!r.findings->status().ok()) return r.findings->status();
    to->push_back(std::move(runtime));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ParsedJob>> Parse(std::string_view bytes) {
  if (bytes.size() > kMaxManifestBytes) {
    return absl::InvalidArgumentError(
        Cat(bytes.size(), " bytes, more than ", kMaxManifestBytes));
  }
  std::vector<ParsedJob> jobs;
  if (bytes.starts_with("#!")) {
    auto job = ParseBatchScript(bytes);
    if (!job.ok()) return job.status();
    jobs.push_back(*std::move(job));
    return jobs;
  }
  const auto documents = LoadDocuments(bytes);
  if (!documents.ok()) return documents.status();
  std::vector<Reading> readings;
  for (const Document& d : *documents) readings.push_back(Begin(d));
  std::vector<Runtime> runtimes;
  absl::Status s = CollectRuntimes(readings, &runtimes);
  if (!s.ok()) return s;
  for (const Reading& r : readings) {
    if (IsRuntime(r)) continue;
    auto job = ReadJob(r, runtimes);
    for (const Reading& other : readings) {  // A runtime that it has read.
      if (!IsRuntime(other) || !job.ok()) continue;
      if (!other.findings->status().ok()) return other.findings->status();
      for (IgnoredField& field : other.findings->TakeIgnored()) {
        job->ignored.push_back(std::move(field));
      }
    }
    if (!job.ok()) return job.status();
    jobs.push_back(*std::move(job));
  }
  if (jobs.empty()) return absl::InvalidArgumentError("has no job");
  return jobs;
}

absl::StatusOr<Job> ArrayElement(const Job& job, uint32_t index) {
  if (!std::ranges::binary_search(job.array.indexes, index)) {
    return absl::InvalidArgumentError(
        Cat("the array of '", job.name, "' has no index ", index));
  }
  Job element = job;
  element.name = Cat(job.name, "_", index);
  element.array = {};
  const std::pair<const char*, int64_t> values[] = {
      {"SLURM_ARRAY_TASK_ID", index},
      {"SLURM_ARRAY_TASK_COUNT",
       static_cast<int64_t>(job.array.indexes.size())},
      {"SLURM_ARRAY_TASK_MIN", job.array.indexes.front()},
      {"SLURM_ARRAY_TASK_MAX", job.array.indexes.back()},
      {"SLURM_ARRAY_TASK_STEP", job.array.step}};
  for (Role& role : element.roles) {
    for (const auto& [name, value] : values) {
      role.task.env.push_back({name, Cat(value)});
    }
  }
  return element;
}

}  // namespace muster::workload
