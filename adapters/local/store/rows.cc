#include "adapters/local/store/rows.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

// The number at the beginning of *text and the character behind it, both of
// which are removed.
template <class T>
bool TakeNumber(std::string_view* text, char end, T* number) {
  const char* last = text->data() + text->size();
  auto [next, error] = std::from_chars(text->data(), last, *number);
  if (error != std::errc() || next == last || *next != end) return false;
  text->remove_prefix(static_cast<size_t>(next + 1 - text->data()));
  return true;
}

// The strings of PackStrings, each its length, ':' and its bytes.
std::optional<std::vector<std::string>> UnpackStrings(std::string_view packed) {
  std::vector<std::string> strings;
  while (!packed.empty()) {
    size_t size = 0;
    if (!TakeNumber(&packed, ':', &size)) return std::nullopt;
    if (size > packed.size()) return std::nullopt;
    strings.emplace_back(packed.substr(0, size));
    packed.remove_prefix(size);
  }
  return strings;
}

// The numbers of PackNumbers, each with a comma behind it.
std::optional<std::vector<uint32_t>> UnpackNumbers(std::string_view packed) {
  std::vector<uint32_t> numbers;
  while (!packed.empty()) {
    if (!TakeNumber(&packed, ',', &numbers.emplace_back())) return std::nullopt;
  }
  return numbers;
}

}  // namespace

const char kJobColumns[] =
    "jobs.id, uid, gid, name, queue, priority_class, submitted, document, "
    "array_index, array, directory, held, phase, reason, started, finished, "
    "exit_code, restarts, preemptions, endpoints, ttl, cron, parameters, "
    "place, edits, cpus, array_limit, umask";
const char kWholeJobColumns[] = ", manifests.bytes, environments.bytes";
const char kWholeJobTables[] =
    "jobs LEFT JOIN texts manifests ON manifests.id = manifest "
    "LEFT JOIN texts environments ON environments.id = environment";
const char kTaskColumns[] =
    "job, role, task, attempt, node, devices, state, tasks.started, ended, "
    "code, tasks.reason";

const char kCronColumns[] =
    "id, uid, gid, name, queue, priority, array, held, manifest, document, "
    "directory, environment, suspended, made, last, started, said, "
    "keep_succeeded, keep_failed, umask";

std::string PackStrings(const std::vector<std::string>& strings) {
  std::string packed;
  for (const std::string& string : strings) {
    absl::StrAppend(&packed, string.size(), ":", string);
  }
  return packed;
}

std::string PackNumbers(const std::vector<uint32_t>& numbers) {
  std::string packed;
  for (uint32_t number : numbers) absl::StrAppend(&packed, number, ",");
  return packed;
}

JobRow ReadJob(Statement& row) {
  JobRow job;
  row.Read(&job.id, &job.uid, &job.gid, &job.name, &job.queue,
           &job.priority_class, &job.submitted, &job.document, &job.array_index,
           &job.array, &job.directory, &job.held, &job.phase, &job.reason,
           &job.started, &job.finished, &job.exit_code, &job.restarts,
           &job.preemptions, &job.endpoints, &job.ttl, &job.cron,
           &job.parameters, &job.place, &job.edits, &job.cpus, &job.array_limit,
           &job.umask);
  return job;
}

absl::StatusOr<JobRow> ReadWholeJob(Statement& row) {
  JobRow job = ReadJob(row);
  std::optional<std::string> manifest;
  std::optional<std::string> packed;
  row.Read(&manifest, &packed);
  std::optional<std::vector<std::string>> environment;
  if (packed) environment = UnpackStrings(*packed);
  if (!manifest || !environment) {
    return absl::DataLossError(
        absl::StrCat("job ", job.id, ": ",
                     manifest ? "environment" : "manifest", " is damaged"));
  }
  job.manifest = *std::move(manifest);
  job.environment = *std::move(environment);
  return job;
}

LifeRow ReadLife(Statement& row) {
  LifeRow life;
  row.Read(&life.job, &life.seq, &life.at, &life.event);
  return life;
}

absl::StatusOr<TaskRow> ReadTask(Statement& row) {
  TaskRow task;
  std::string devices;
  row.Read(&task.key.job, &task.key.role, &task.key.index, &task.key.attempt,
           &task.node, &devices, &task.state, &task.started, &task.ended,
           &task.code, &task.reason);
  std::optional<std::vector<uint32_t>> numbers = UnpackNumbers(devices);
  if (!numbers) {
    return absl::DataLossError(
        absl::StrCat("job ", task.key.job, ": devices of a task are damaged"));
  }
  task.devices = *std::move(numbers);
  return task;
}

absl::StatusOr<CronRow> ReadCron(Statement& row) {
  CronRow cron;
  std::string array;
  std::string packed;
  row.Read(&cron.id, &cron.uid, &cron.gid, &cron.name, &cron.queue,
           &cron.priority, &array, &cron.held, &cron.manifest, &cron.document,
           &cron.directory, &packed, &cron.suspended, &cron.made, &cron.last,
           &cron.started, &cron.said, &cron.keep_succeeded, &cron.keep_failed,
           &cron.umask);
  auto numbers = UnpackNumbers(array);
  auto environment = UnpackStrings(packed);
  if (!numbers || !environment) {
    return absl::DataLossError(
        absl::StrCat("calendar ", cron.id, ": is damaged"));
  }
  cron.array = *std::move(numbers);
  cron.environment = *std::move(environment);
  return cron;
}

}  // namespace muster::local
