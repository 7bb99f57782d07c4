#include "test/adapters/local_store/sample_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::local {

TestFolder::TestFolder() : path_(testing::TempDir() + "muster-store-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << path_;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<Store> OpenStore(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  if (!store.ok()) {
    ADD_FAILURE() << store.status();
    return nullptr;
  }
  return *std::move(store);
}

JobRow SampleJob(uint64_t id) {
  uint32_t n = static_cast<uint32_t>(id);
  JobRow job;
  job.id = id;
  job.uid = 1000 + n % 3;
  job.gid = 2000 + n % 5;
  job.name = absl::StrCat("job-", id);
  job.queue = absl::StrCat("queue-", n % 4);
  job.priority_class = absl::StrCat("class-", n % 2);
  job.submitted = Time{1'700'000'000} * kSecond + Time(id);
  job.manifest = absl::StrCat("kind: Job # ", n % 7);
  job.document = n % 2;
  if (n % 2 == 0) job.array_index = n;
  job.array = id / 10;
  job.directory = absl::StrCat("/home/user", n % 3);
  job.environment = {"PATH=/bin", absl::StrCat("USER=", job.uid)};
  job.held = n % 2 == 1;
  job.phase = "queued";
  job.reason = "waits for places";
  job.restarts = n % 11;
  job.preemptions = n % 13;
  job.endpoints = "[{\"port\": 22}]";
  job.ttl = (n % 2 == 0 ? -1 : int64_t{n} * 36'000'000) * kSecond;
  job.cron = id / 100;
  if (n % 3 == 0) job.place = job.submitted + 1;
  if (n % 5 == 0) job.edits = "{\"time\":60}";
  if (n % 4 == 0) job.umask = 077;
  if (n % 7 == 0) job.cpus = "[[0,0,[1,2]]]";
  if (n % 2 == 0) job.parameters = absl::StrCat("{\"n\":\"", n, "\"}");
  return job;
}

JobRow EndedJob(uint64_t id) {
  JobRow job = SampleJob(id);
  job.phase = id % 2 == 0 ? "succeeded" : "failed";
  job.started = job.submitted + kSecond;
  job.finished = job.started + kSecond;
  job.exit_code = static_cast<int32_t>(id % 2);
  return job;
}

CronRow SampleCron(uint64_t id) {
  uint32_t n = static_cast<uint32_t>(id);
  return {.id = id,
          .uid = 1000 + n,
          .gid = 2000 + n,
          .name = absl::StrCat("cron-", id),
          .queue = absl::StrCat("queue-", id),
          .priority = absl::StrCat("class-", id),
          .array = {n, n + 5},
          .held = n % 2 == 1,
          .manifest = absl::StrCat("kind: CronJob # ", id),
          .document = n,
          .directory = absl::StrCat("/home/", id),
          .environment = {"PATH=/bin", absl::StrCat("N=", id)},
          .umask = 0007,
          .suspended = n % 2 == 0,
          .made = Time(id) * kSecond,
          .last = Time(id + 1) * kSecond,
          .started = Time(id + 2) * kSecond,
          .said = absl::StrCat("job ", id),
          .keep_succeeded = n + 3,
          .keep_failed = n + 4};
}

size_t Prune(Store& store, const Retention& retention, Time now) {
  const auto jobs = store.Overdue(retention, now);
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  if (!jobs.ok()) return ~size_t{0};
  const absl::Status forgotten = store.Forget(*jobs, now);
  EXPECT_TRUE(forgotten.ok()) << forgotten;
  return jobs->size();
}

size_t Prune(Store& store, uint64_t keep) {
  return Prune(store, {.jobs = keep}, EndedJob(1).finished);
}

LifeRow SampleLife(uint64_t job, uint64_t seq) {
  return {.job = job,
          .seq = seq,
          .at = Time(seq) * kSecond,
          .event = absl::StrCat("{\"seq\": ", seq, "}")};
}

TaskRow SampleTask(uint64_t job, uint32_t attempt, const std::string& state) {
  TaskRow task;
  task.key = {.job = job, .role = 0, .index = 0, .attempt = attempt};
  task.node = "local";
  task.devices = {0, 7, attempt};
  task.state = state;
  task.started = Time(attempt) * kSecond;
  if (state == "ended") {
    task.ended = task.started + kSecond;
    task.code = -1;
    task.reason = "lost";
  }
  return task;
}

std::string FileBytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace muster::local
