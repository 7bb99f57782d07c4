// What the store of the local runner costs: turns, a start, pages of history.
// Its files are in TMPDIR, or in /var/tmp, where a disk is meant. vs_sqlite, of
// BM_Life: its CPU time over that of plain SQLite in the same run
// (PlainTables).

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/store/store.h"

namespace muster::local {
namespace {

// A folder, gone with the object.
class Folder {
 public:
  Folder() {
    const char* place = std::getenv("TMPDIR");
    path_ = absl::StrCat(place != nullptr ? place : "/var/tmp",
                         "/muster-store-XXXXXX");
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_{};
};

std::unique_ptr<Store> Opened(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  if (!store.ok()) std::abort();
  return *std::move(store);
}

void Commit(Store& store, const TurnSave& save) {
  if (!store.Commit(save).ok()) std::abort();
}

// A manifest of 1.5 kB of its own, and an environment of 3 kB that all have.
JobRow MakeJob(uint64_t id, bool ended) {
  JobRow job{.id = id,
             .uid = 1000,
             .gid = 1000,
             .name = absl::StrCat("train-", id % 1000),
             .queue = id % 8 == 0 ? "interactive" : "batch",
             .submitted = Time(id) * kSecond,
             .manifest = absl::StrCat(id, std::string(1500, 'm')),
             .directory = "/data/alice/project",
             .environment = std::vector<std::string>(30, std::string(100, 'e')),
             .phase = "queued"};
  if (ended) {
    job.phase = id % 10 == 0 ? "failed" : "succeeded";
    job.started = job.submitted + kSecond;
    job.finished = job.started + kSecond;
    job.exit_code = 0;
  }
  return job;
}

// A submission, as one turn has it.
TurnSave MakeTurn(uint64_t id) {
  return {.jobs = {MakeJob(id, false)},
          .life = {{.job = id, .seq = 0, .at = 1, .event = "{\"submit\":{}}"}},
          .tasks = {{.key = {.job = id, .attempt = 1},
                     .node = "local",
                     .devices = {1},
                     .state = "start"}},
          .journal = std::string(400, 'j')};
}

void Fill(Store& store, uint64_t jobs, bool ended) {
  TurnSave save;
  for (uint64_t id = 1; id <= jobs; ++id) {
    TurnSave turn = MakeTurn(id);
    save.jobs.push_back(MakeJob(id, ended));
    if (!ended) save.life.push_back(turn.life[0]);
    if (id % 1000 != 0 && id != jobs) continue;
    Commit(store, save);
    save = {};
  }
}

// Times in milliseconds of which the middle and the slow end are told.
void Tell(benchmark::State& state, std::vector<double>& times) {
  std::ranges::sort(times);
  state.counters["p50_ms"] = times[times.size() / 2];
  state.counters["p99_ms"] = times[times.size() * 99 / 100];
}

// Calls turn() for each iteration, and tells how long it took.
template <class F>
void Measure(benchmark::State& state, F turn) {
  std::vector<double> times;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    turn();
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - start)
                        .count());
  }
  Tell(state, times);
  state.SetItemsProcessed(state.iterations());
}

// What the disk itself takes: 4 kB more of a file.
void BM_AppendAndSync(benchmark::State& state) {
  Folder folder;
  int file = open(folder.File("file").c_str(), O_CREAT | O_WRONLY, 0600);
  std::string page(4096, 'x');
  Measure(state, [&] {
    if (write(file, page.data(), page.size()) < 0 || fdatasync(file) != 0) {
      std::abort();
    }
  });
  close(file);
}
BENCHMARK(BM_AppendAndSync)->UseRealTime();

void BM_Commit(benchmark::State& state) {
  Folder folder;
  std::unique_ptr<Store> store = Opened(folder.File("muster.db"));
  uint64_t id = 0;
  Measure(state, [&] {
    TurnSave save = MakeTurn(++id);
    save.sync = state.range(0) != 0;
    Commit(*store, save);
  });
}
BENCHMARK(BM_Commit)->ArgName("sync")->Arg(0)->Arg(1)->UseRealTime();

// The values of a turn in SQLite without what the store adds: tables with a
// key each and no other index, prepared statements, a log (WAL), one
// transaction a turn, nothing checked. What those who write it by hand have at
// the least.
class PlainTables {
 public:
  explicit PlainTables(const std::string& path) {
    Must(sqlite3_open(path.c_str(), &database_));
    Execute(R"(
      PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
      CREATE TABLE jobs(id INTEGER PRIMARY KEY, uid, gid, name, queue,
        submitted, manifest, directory, environment, phase, finished);
      CREATE TABLE life(job, seq, at, event, PRIMARY KEY(job, seq))
        WITHOUT ROWID;
      CREATE TABLE tasks(job, attempt, node, state, PRIMARY KEY(job, attempt))
        WITHOUT ROWID;
      CREATE TABLE journal(id INTEGER PRIMARY KEY, bytes);)");
    job_ = Prepare("REPLACE INTO jobs VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    life_ = Prepare("REPLACE INTO life VALUES(?,?,?,?)");
    task_ = Prepare("REPLACE INTO tasks VALUES(?,?,?,?)");
    journal_ = Prepare("INSERT INTO journal(bytes) VALUES(?)");
  }
  ~PlainTables() {
    for (sqlite3_stmt* one : {job_, life_, task_, journal_}) {
      sqlite3_finalize(one);
    }
    sqlite3_close(database_);
  }
  PlainTables(const PlainTables&) = delete;
  PlainTables& operator=(const PlainTables&) = delete;

  void Commit(const TurnSave& save) {
    Execute("BEGIN");
    for (const JobRow& job : save.jobs) {
      Put(job_, job.id, job.uid, job.gid, job.name, job.queue, job.submitted,
          job.manifest, job.directory, absl::StrJoin(job.environment, "\n"),
          job.phase, job.finished);
    }
    for (const LifeRow& row : save.life) {
      Put(life_, row.job, row.seq, row.at, row.event);
    }
    for (const TaskRow& task : save.tasks) {
      Put(task_, task.key.job, task.key.attempt, task.node, task.state);
    }
    Put(journal_, save.journal);
    Execute("COMMIT");
  }

 private:
  static void Must(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE) std::abort();
  }
  void Execute(const char* text) {
    Must(sqlite3_exec(database_, text, nullptr, nullptr, nullptr));
  }
  sqlite3_stmt* Prepare(const char* text) {
    sqlite3_stmt* made = nullptr;
    Must(sqlite3_prepare_v2(database_, text, -1, &made, nullptr));
    return made;
  }
  static void Bind(sqlite3_stmt* to, int at, const std::string& text) {
    Must(sqlite3_bind_text(to, at, text.data(), static_cast<int>(text.size()),
                           SQLITE_STATIC));
  }
  template <std::integral T>
  static void Bind(sqlite3_stmt* to, int at, T value) {
    Must(sqlite3_bind_int64(to, at, static_cast<int64_t>(value)));
  }
  template <class... Values>
  static void Put(sqlite3_stmt* to, const Values&... values) {
    int at = 0;
    (Bind(to, ++at, values), ...);
    Must(sqlite3_step(to));
    Must(sqlite3_reset(to));
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* job_ = nullptr;
  sqlite3_stmt* life_ = nullptr;
  sqlite3_stmt* task_ = nullptr;
  sqlite3_stmt* journal_ = nullptr;
};

// A job of an array that runs and ends: three turns, not synced.
template <class Commits>
void LiveOnce(uint64_t id, const Commits& commit) {
  TurnSave save = MakeTurn(id);
  save.jobs[0].manifest = "of all";
  commit(save);
  save.jobs[0].phase = "running";
  save.life[0].seq = 1;
  save.tasks[0].state = "run";
  commit(save);
  save.jobs[0].phase = "succeeded";
  save.jobs[0].finished = 3;
  save.life[0].seq = 2;
  save.tasks[0].state = "ended";
  commit(save);
}

double CpuSeconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) +
         static_cast<double>(used.tv_nsec) * 1e-9;
}

// In turns with the peer, of which the time does not count.
void BM_Life(benchmark::State& state) {
  Folder folder;
  std::unique_ptr<Store> store = Opened(folder.File("muster.db"));
  PlainTables plain(folder.File("plain.db"));
  uint64_t id = 0;
  double cpu = 0, plain_cpu = 0;
  std::vector<double> times;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const double begin = CpuSeconds();
    LiveOnce(++id, [&](const TurnSave& save) { Commit(*store, save); });
    const double middle = CpuSeconds();
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - start)
                        .count());
    LiveOnce(id, [&](const TurnSave& save) { plain.Commit(save); });
    cpu += middle - begin;
    plain_cpu += CpuSeconds() - middle;
    state.SetIterationTime(times.back() / 1e3);
  }
  Tell(state, times);
  state.SetItemsProcessed(state.iterations());
  state.counters["cpu_us"] =
      cpu * 1e6 / static_cast<double>(state.iterations());
  state.counters["vs_sqlite"] = cpu / plain_cpu;
}
BENCHMARK(BM_Life)->Iterations(1000)->UseManualTime();

// Elements of an array in one turn.
void BM_SubmitArray(benchmark::State& state) {
  Folder folder;
  std::unique_ptr<Store> store = Opened(folder.File("muster.db"));
  uint64_t id = 0;
  for (auto _ : state) {
    TurnSave save{.sync = true};
    for (int64_t i = 0; i < state.range(0); ++i) {
      TurnSave turn = MakeTurn(++id);
      save.jobs.push_back(std::move(turn.jobs[0]));
      save.jobs.back().manifest = "of all";
      save.life.push_back(std::move(turn.life[0]));
    }
    Commit(*store, save);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SubmitArray)
    ->ArgName("jobs")
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Open and Load after a kill: the log is there, and pages are checked.
void BM_Restart(benchmark::State& state) {
  Folder folder;
  std::unique_ptr<Store> source = Opened(folder.File("source.db"));
  Fill(*source, static_cast<uint64_t>(state.range(0)), false);
  for (auto _ : state) {
    state.PauseTiming();
    for (const char* end : {"", "-wal"}) {
      std::filesystem::copy_file(
          folder.File("source.db") + end, folder.File("muster.db") + end,
          std::filesystem::copy_options::overwrite_existing);
    }
    state.ResumeTiming();
    std::unique_ptr<Store> store = Opened(folder.File("muster.db"));
    absl::StatusOr<StoredState> loaded = store->Load();
    if (!loaded.ok() || std::ssize(loaded->jobs) != state.range(0)) {
      std::abort();
    }
    state.PauseTiming();
    store.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_Restart)
    ->ArgName("jobs")
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// A page of 100 from the middle; filtered: by user, queue and phase.
void BM_History(benchmark::State& state) {
  Folder folder;
  std::unique_ptr<Store> store = Opened(folder.File("muster.db"));
  const auto jobs = static_cast<uint64_t>(state.range(0));
  Fill(*store, jobs, true);
  HistoryFilter filter{.before = jobs / 2};
  if (state.range(1) != 0) {
    filter.uid = 1000;
    filter.queue = "interactive";
    filter.phase = "failed";
  }
  Measure(state, [&] {
    absl::StatusOr<std::vector<JobRow>> page = store->history().Jobs(filter);
    if (!page.ok() || page->size() != 100) std::abort();
  });
  state.counters["file_mb"] = static_cast<double>(std::filesystem::file_size(
                                  folder.File("muster.db"))) /
                              1e6;
}
BENCHMARK(BM_History)
    ->ArgNames({"jobs", "filtered"})
    ->Args({100'000, 0})
    ->Args({100'000, 1})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace muster::local
