// srun: a command as a job of its own, whose output is seen here; in a job, as
// a step of it.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/held_cpus.h"
#include "adapters/local/client/held_devices.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/model/socket_path.h"
#include "adapters/local/slurm/batch_text.h"
#include "adapters/local/slurm/command.h"
#include "adapters/local/slurm/job_options.h"
#include "adapters/local/slurm/job_view.h"
#include "adapters/local/slurm/lookup.h"
#include "adapters/local/slurm/programs.h"
#include "adapters/local/slurm/signal_set.h"
#include "adapters/local/slurm/step.h"

namespace muster::local::slurm {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr uint32_t kMostTasks = 10'000;
constexpr milliseconds kSignalsEvery{20};
constexpr milliseconds kLongestPause{200};

const OtherOption kOthers[] = {
    {"-u,--unbuffered", Value::kNone, false, "output comes as it is written"},
    {"--cpu-bind", Value::kSome, false,
     "threads are where the kernel puts them"},
    {"--gpu-bind", Value::kSome, false, "use --gpus-per-task"},
    {"--mem-bind", Value::kSome, false, "memory is where the kernel puts it"},
    {"--overlap", Value::kNone, false, "steps of a job share what it has"},
    {"--exact", Value::kNone, false, "steps of a job share what it has"},
    {"-X,--disable-status", Value::kNone, false, "Ctrl-C cancels at once"},
    {"--pty", Value::kNone, true, "a job has no terminal"},
    {"-l,--label", Value::kNone, true, "lines are as they are written"},
    {"--mpi", Value::kSome, true, "there is no PMI; use mpirun"},
    {"--multi-prog", Value::kNone, true, "all tasks run one command"},
    {"-I,--immediate", Value::kMaybe, true, "use timeout(1)"},
    {"-W,--wait", Value::kSome, true, "it ends when all tasks have ended"},
    {"-r,--relative", Value::kSome, true, "there is one node"},
    {"--het-group", Value::kSome, true, "jobs have one part"},
    {"--jobid", Value::kSome, true, "steps are started in their job"},
};

struct Options {
  std::string output{}, error{}, exported{};
  bool quiet = false, verbose = false, kill_on_failure = false;
};

void AddOptions(Command* command, Options* o) {
  CLI::App& app = command->app();
  app.footer("The command and its arguments stand behind the options.");
  app.add_option("-o,--output", o->output,
                 "Into this file; of a job of its own");
  app.add_option("-e,--error", o->error, "Into this file; of a job of its own");
  app.add_option("--export", o->exported, "ALL, NONE, or A,B=1");
  app.add_flag("-K,--kill-on-bad-exit", o->kill_on_failure,
               "Of a step: the first failure stops all tasks");
  app.add_flag("-Q,--quiet", o->quiet, "No notes");
  app.add_flag("-v,--verbose", o->verbose, "The text that is submitted");
  command->Add(kOthers);
}

// The job that this process is of; empty: none.
std::string JobAround() {
  const std::string job = EnvironmentText("SLURM_JOB_ID");
  return job.empty() ? EnvironmentText("MUSTER_JOB_ID") : job;
}

uint32_t Count(const std::string& text, uint32_t otherwise) {
  uint32_t count = 0;
  return absl::SimpleAtoi(text, &count) && count > 0 ? count : otherwise;
}

// --- A step of a job ---------------------------------------------------------

// The devices of the whole job, as CUDA_VISIBLE_DEVICES calls them; where it
// has one task, those that this process sees.
std::vector<std::string> DevicesOfJob(const Start& start) {
  const std::string visible = EnvironmentText("CUDA_VISIBLE_DEVICES");
  std::vector<std::string> devices = Parts(visible);
  if (devices.empty() || Count(EnvironmentText("SLURM_NTASKS"), 1) == 1) {
    return devices;
  }
  Session session = start.Open();
  const auto nodes = session.Ask("GET", "/v1/nodes");
  const std::string job = JobAround();
  if (!nodes.ok()) return devices;
  devices.clear();
  for (NamedDevice& device : HeldDevices(*nodes, [&](const Json& by) {
         return absl::StrCat(by.value("job", uint64_t{0})) == job;
       })) {
    devices.push_back(std::move(device.visible));
  }
  return devices;
}

absl::Status SetDevices(const Start& start, const JobOptions& job, Step* step) {
  const std::vector<std::string> devices = DevicesOfJob(start);
  const auto each = job.Find("gpus-per-task");
  if (!each) {
    if (!devices.empty()) {
      step->devices.assign(step->tasks, absl::StrJoin(devices, ","));
    }
    return absl::OkStatus();
  }
  const uint64_t n = Count(*each, 0);
  if (n == 0 || n * step->tasks > devices.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--gpus-per-task: the job has ", devices.size(),
                     " GPUs for ", step->tasks, " tasks"));
  }
  for (uint64_t i = 0; i < step->tasks; ++i) {
    const auto first = devices.begin() + static_cast<int64_t>(i * n);
    step->devices.push_back(
        absl::StrJoin(first, first + static_cast<int64_t>(n), ","));
  }
  return absl::OkStatus();
}

// Of a step with as many tasks as the job: each is bound to the cores of its
// place. A smaller one may run beside others, and has all that the job has.
void SetCpus(const Start& start, Step* step) {
  const uint32_t tasks = Count(EnvironmentText("SLURM_NTASKS"), 1);
  if (tasks == 1 || step->tasks != tasks) return;
  Session session = start.Open();
  const auto nodes = session.Ask("GET", "/v1/nodes");
  if (!nodes.ok()) return;
  auto cpus = HeldCpus(*nodes, [job = JobAround()](const Json& by) {
    return absl::StrCat(by.value("job", uint64_t{0})) == job;
  });
  if (cpus.size() == step->tasks) step->cpus = std::move(cpus);
}

// Of the whole environment: that of the job around it is meant.
std::vector<std::string> StepEnvironment(const std::string& exported) {
  std::vector<std::string> environment;
  if (exported.empty() || exported == "ALL") {
    for (char** v = environ; *v != nullptr; ++v) environment.emplace_back(*v);
    return environment;
  }
  environment = ExportedEnvironment(exported);
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view text = *v;
    if (text.starts_with("SLURM_") || text.starts_with("MUSTER_") ||
        text.starts_with("CUDA_VISIBLE_DEVICES=")) {
      environment.emplace_back(text);
    }
  }
  for (const std::string& part : Parts(exported)) {
    if (part.find('=') != std::string::npos) environment.push_back(part);
  }
  return environment;
}

absl::StatusOr<Step> MakeStep(const Start& start, Command* command,
                              const Options& o, const JobOptions& job,
                              std::vector<std::string> words) {
  if (!o.output.empty() || !o.error.empty()) {
    return absl::UnimplementedError(
        "--output and --error in a job: not supported; use > FILE");
  }
  const uint32_t most = Count(EnvironmentText("SLURM_NTASKS"), 1);
  const uint32_t cpus = Count(EnvironmentText("SLURM_CPUS_PER_TASK"), 1);
  Step step{.command = std::move(words),
            .tasks = most,
            .directory = job.Find("chdir").value_or(""),
            .environment = StepEnvironment(o.exported),
            .kill_on_failure = o.kill_on_failure};
  if (const auto tasks = job.Find("ntasks")) {
    step.tasks = Count(*tasks, 0);
    if (step.tasks == 0 || step.tasks > kMostTasks) {
      return absl::InvalidArgumentError(
          absl::StrCat("--ntasks=", *tasks, ": expected 1 to ", kMostTasks));
    }
  }
  const auto nodes = job.Find("nodes");
  const auto per_node = job.Find("ntasks-per-node");
  if (!job.Find("ntasks") && (nodes || per_node)) {
    const uint64_t count = uint64_t{Count(nodes.value_or(""), 1)} *
                           Count(per_node.value_or(""), 1);
    step.tasks = static_cast<uint32_t>(std::min<uint64_t>(count, kMostTasks));
  }
  const uint64_t each = Count(job.Find("cpus-per-task").value_or(""), 1);
  const uint64_t asked = each * step.tasks;
  if (command->app().count("--overcommit") == 0 &&
      asked > uint64_t{most} * cpus) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to create step for job ", JobAround(),
                     ": More processors requested than permitted: ", asked,
                     " of ", uint64_t{most} * cpus));
  }
  const absl::Status status = SetDevices(start, job, &step);
  if (!status.ok()) return status;
  SetCpus(start, &step);
  return step;
}

// --- A job of its own --------------------------------------------------------

// A folder for the error output, which goes with this object.
class ErrorFolder {
 public:
  ErrorFolder() {
    std::error_code error;
    std::string form =
        (fs::temp_directory_path(error) / "srun-XXXXXX").string();
    if (!error && mkdtemp(form.data()) != nullptr) path_ = form;
  }
  ~ErrorFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  ErrorFolder(const ErrorFolder&) = delete;
  ErrorFolder& operator=(const ErrorFolder&) = delete;
  // Empty: there is none, and errors are among the output.
  std::string File() const { return path_.empty() ? "" : path_ + "/error"; }

 private:
  std::string path_{};
};

absl::StatusOr<std::string> MakeText(const Options& o, const JobOptions& job,
                                     const std::string& error_file,
                                     const std::vector<std::string>& words) {
  std::vector<BatchOption> given = job.Given();
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) given.push_back({name, value, true});
  };
  add("export", o.exported);
  add("output", o.output);
  add("error", !o.error.empty() ? o.error : o.output.empty() ? error_file : "");
  std::string command;
  for (const std::string& word : words) command += " " + Quoted(word);
  const std::string head = "#!/bin/sh\n";
  auto text = WithOptions(head, given, {});
  if (!text.ok()) return text.status();
  const auto parsed = ParseBatch(head, *text);
  if (!parsed.ok()) return parsed.status();
  uint64_t tasks = 0;
  for (const workload::Role& role : parsed->job.roles) tasks += role.replicas;
  if (tasks == 1) return *text + "exec" + command + "\n";
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return absl::InternalError("/proc/self/exe: " + error.message());
  std::string step =
      "exec " + Quoted(self.string()) + " slurm srun -n " + absl::StrCat(tasks);
  if (const auto gpus = job.Find("gpus-per-task")) {
    absl::StrAppend(&step, " --gpus-per-task=", Quoted(*gpus));
  }
  if (o.kill_on_failure) step += " -K";
  return *text + step + " --" + command + "\n";
}

// Tells what a job writes, attempt after attempt, until it has finished.
class Follower {
 public:
  Follower(const Start& start, uint64_t job, const char* stream,
           std::ostream* out, bool notes, std::mutex* telling)
      : start_(start),
        telling_(*telling),
        target_(absl::StrCat("/v1/jobs/", job)),
        job_(job),
        stream_(stream),
        out_(*out),
        notes_(notes) {}

  void Run() {
    Session session = start_.Open();
    milliseconds pause(5);
    for (;;) {
      const auto job = AskPatiently(&session, target_);
      if (!job.ok()) return;
      const bool finished = job->contains("finished");
      const Json& tasks = ListOf(*job, "tasks");
      const uint32_t last =
          tasks.empty() ? 0 : tasks[0].value("attempt", uint32_t{0});
      if (last > attempt_) {
        attempt_ = last;
        bytes_ = 0;
        if (told_) Note("has been allocated resources");
        told_ = false;
        pause = milliseconds(5);
      } else if (attempt_ == 0 && pause == kLongestPause && notes_ && !told_) {
        Note("queued and waiting for resources");
        told_ = true;
      }
      const bool whole = attempt_ == 0 || Print(&session);
      if ((finished && whole) || !out_.good()) return;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }

 private:
  void Note(const char* text) {
    const std::lock_guard lock(telling_);
    start_.to.err << absl::StrCat("srun: job ", job_, " ", text, "\n")
                  << std::flush;
  }
  // What there is and comes of this attempt. False: the daemon went away.
  bool Print(Session* session) {
    const auto answer = session->connection().Stream(
        absl::StrCat(target_, "/logs?stream=", stream_,
                     "&follow=1&from=", bytes_, "&attempt=", attempt_),
        [this](std::string_view part) {
          bytes_ += part.size();
          const std::lock_guard lock(telling_);
          out_ << part << std::flush;
          return out_.good();
        });
    return answer.ok();
  }

  const Start& start_;
  std::mutex& telling_;  // Guards the streams.
  const std::string target_;
  const uint64_t job_;
  const char* const stream_;
  std::ostream& out_;
  const bool notes_;
  bool told_ = false;
  uint32_t attempt_ = 0;
  uint64_t bytes_ = 0;
};

// Waits for the end on another thread, while signals cancel the job.
int CodeOfJob(const Start& start, Session* session, uint64_t job,
              std::mutex* telling) {
  const std::string target = absl::StrCat("/v1/jobs/", job);
  std::atomic<bool> done = false;
  absl::StatusOr<Json> ended = absl::UnknownError("");
  std::thread waiter([&] {
    Session own = start.Open();
    ended = WaitFor(&own, job);
    done = true;
  });
  const sigset_t waited = SignalsOf({SIGINT, SIGTERM, SIGHUP});
  bool cancelled = false;
  while (!done) {
    const timespec every{
        .tv_sec = 0,
        .tv_nsec = std::chrono::nanoseconds(kSignalsEvery).count()};
    if (sigtimedwait(&waited, nullptr, &every) < 0 || cancelled) continue;
    // It may have finished by now.
    session->Ask("DELETE", target).status().IgnoreError();
    cancelled = true;
    const std::lock_guard lock(*telling);
    start.to.err << absl::StrCat("srun: job ", job, " is cancelled\n")
                 << std::flush;
  }
  waiter.join();
  if (!ended.ok()) {
    const std::lock_guard lock(*telling);
    start.to.err << "srun: error: " << ended.status().message() << "\n";
    return kError;
  }
  return CodeOf(*ended);
}

int RunJob(const Start& start, const Command& command, const Options& o,
           const JobOptions& job, const std::vector<std::string>& words) {
  const ErrorFolder folder;
  const auto text = MakeText(o, job, folder.File(), words);
  if (!text.ok()) return command.Fail(start.to, text.status());
  if (o.verbose) start.to.err << *text;
  Json body = Submission(*text, o.exported);
  if (!job.Find("job-name")) {
    body["name"] = fs::path(words[0]).filename().string();
  }
  // Blocked from here on: no job is left behind by a signal.
  const sigset_t waited = SignalsOf({SIGINT, SIGTERM, SIGHUP});
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &waited, &before);
  Session session = start.Open();
  const auto answer = session.Ask("POST", "/v1/jobs", body);
  int code = kError;
  if (!answer.ok() || ListOf(*answer, "jobs").empty()) {
    command.Fail(start.to, absl::StrCat("Unable to allocate resources: ",
                                        answer.status().message()));
  } else {
    if (!o.quiet) WarnOf(command, start.to, *answer);
    const uint64_t id = ListOf(*answer, "jobs")[0].value("id", uint64_t{0});
    std::mutex telling;
    Follower out(start, id, "output", &start.to.out, !o.quiet, &telling);
    Follower error(start, id, "error", &start.to.err, false, &telling);
    std::thread out_thread([&] {
      if (o.output.empty()) out.Run();
    });
    std::thread error_thread([&] {
      if (o.error.empty() && o.output.empty() && !folder.File().empty()) {
        error.Run();
      }
    });
    code = CodeOfJob(start, &session, id, &telling);
    out_thread.join();
    error_thread.join();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

}  // namespace

int Srun(const Start& start) {
  Command command("srun", "Runs a command as a job, or as a step of a job.");
  Options o;
  AddOptions(&command, &o);
  JobOptions job(&command);
  std::vector<std::string> words;
  int code = 0;
  if (!command.Parse(start.arguments, start.to, &words, &code)) return code;
  if (words.empty()) {
    return command.Fail(start.to, "No command given to execute.");
  }
  if (JobAround().empty()) {
    return RunJob(start, command, o, job, words);
  }
  const auto step = MakeStep(start, &command, o, job, std::move(words));
  if (!step.ok()) return command.Fail(start.to, step.status());
  return RunStep(command, start.to, *step);
}

}  // namespace muster::local::slurm
