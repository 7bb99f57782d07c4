#include "adapters/local/client/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

#include "adapters/local/client/commands.h"
#include "adapters/local/client/completion.h"
#include "adapters/local/client/exec_command.h"
#include "adapters/local/client/session.h"
#include "adapters/local/model/socket_path.h"
#include "muster/version.h"

namespace muster::local {
namespace {

// The program's options and commands; what was typed, and what is to run.
class CommandLine {
 public:
  using Run = std::function<int(Session*)>;
  using Options = std::function<void(CLI::App*)>;

  CommandLine();

  void AddOther(const OtherCommand& other, const Streams& to);
  // Throws CLI::ParseError.
  void Parse(std::vector<std::string> arguments);
  CLI::App& app() { return app_; }
  const std::string& socket() const { return socket_; }
  bool json() const { return json_; }
  bool completion() const { return completion_; }
  // Of all commands.
  void AddAllOptions();
  int Start(Session* session) { return run_(session); }

 private:
  // Its options are added when it is what was typed: all of them would take
  // longer than most commands.
  CLI::App* Add(const char* name, const char* help, Run run,
                Options options = nullptr);
  void AddOptions(CLI::App* command);
  void AddGlobal(CLI::App* app);
  void AddPlace(CLI::App* command);
  void AddResources(CLI::App* command);
  static void TakeWords(CLI::App* command);
  void AddMode(CLI::App* command);
  void AddCron(CLI::App* submit);
  void AddSubmit();
  void AddExec();
  void AddChanges();
  void AddOthers();
  void AddEdit();
  void AddViews();
  void AddStreams();
  void AddJobs(CLI::App* command);
  SubmitOptions Submission(const CLI::App* command) const;

  CLI::App app_{
      "Jobs on this machine: queued, started, watched. Ends with 0; "
      "1: refused, or not found; 2: usage; 3: no daemon; with --wait "
      "and wait, the job's own code."};
  std::string socket_ = FindSocket();
  bool json_ = false;
  bool completion_ = false;
  Run run_{};
  std::map<CLI::App*, Options> options_{};  // Not added yet.
  SubmitOptions submit_{};
  SubmitMode mode_{};
  std::vector<std::string> behind_{};  // The first "--".
  std::string file_{};
  std::vector<std::string> jobs_{};
  std::string job_{};
  std::string value_{};
  std::string node_{};
  std::optional<uint32_t> device_{};
  std::string reason_{};
  uint32_t size_ = 0;
  PlaceOptions place_{};
  LogOptions logs_{};
  SendOptions send_{};
  HistoryOptions history_{};
  bool all_ = false;
  bool renew_ = false;
  std::string shell_{};
  std::vector<std::string> ssh_options_{};
  bool ssh_flags_ = false;
};

CLI::App* CommandLine::Add(const char* name, const char* help, Run run,
                           Options options) {
  CLI::App* command = app_.add_subcommand(name, help);
  command->fallthrough();
  command->callback([this, run = std::move(run)] { run_ = run; });
  if (options == nullptr) return command;
  options_[command] = std::move(options);
  command->preparse_callback([this, command](size_t) { AddOptions(command); });
  return command;
}

void CommandLine::AddOptions(CLI::App* command) {
  if (auto options = options_.extract(command)) options.mapped()(command);
}

void CommandLine::AddAllOptions() {
  while (!options_.empty()) AddOptions(options_.begin()->first);
}

// Queue, class and the like, of any manifest.
void CommandLine::AddPlace(CLI::App* command) {
  command->add_option("-q,--queue", submit_.queue, "Its queue");
  command->add_option("-p,--priority", submit_.priority,
                      "A class, or an integer");
  command->add_option("--array", submit_.array,
                      "A job for each index: 0-9:2,12; 0-99%4: four at a time");
  command
      ->add_option("--grid", submit_.grid,
                   "A job for each value: lr=0.1,0.01; of several, for each "
                   "point of their product")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--grid-file", submit_.grid_file,
                      "A job for each line: lr=0.1 bs=32, or CSV with names");
  command->add_flag("--hold", submit_.hold, "Not before it is released");
}

void CommandLine::AddResources(CLI::App* command) {
  SubmitOptions& o = submit_;
  command->add_option("--name", o.name, "By default the command's");
  AddPlace(command);
  command->add_option("--gpus", o.gpus, "Of each task; 0.5: half of one");
  command->add_option("--gpu-mem", o.gpu_memory, "Memory of one GPU: 10G");
  command->add_option("--gpu-ids", o.gpu_ids,
                      "Of these alone, by number: 0,2-3; by default all of "
                      "them");
  command->add_option("--cpus", o.cpus, "Of each task");
  command->add_option("--mem", o.memory, "Of each task: 16G");
  command
      ->add_option("--or", o.others,
                   "What each task has where that finds no room: "
                   "cpus=16,mem=64G; more than once")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("-n,--tasks", o.tasks, "That start together")
      ->check(CLI::Range(1, 100'000));
  command->add_option("--time", o.time, "It is stopped then: 90m, 1:30:00");
  command->add_option("--ttl", o.ttl,
                      "So long after its end its record and logs go: 7d");
  command->add_option("--output", o.output, "File of its output");
  command->add_option("--error", o.error, "File of its error output");
  command->add_flag("--input", o.input,
                    "Its standard input is what muster send gives it");
  command->add_option("--env", o.environment, "NAME=VALUE; more than once")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--chdir", o.directory, "Where it runs");
  command->add_option("--image", o.image,
                      "Of a container, where the daemon runs them");
  command->add_option("--checkpoint", o.checkpoint,
                      "It can save its work: true, or how long that takes");
  command->add_option("--grace", o.grace, "Between SIGTERM and SIGKILL");
  command->add_option("--retries", o.retries, "Failures that are forgiven");
  AddGlobal(command);
}

// From the command on, all words are its own: none is the program's.
void CommandLine::TakeWords(CLI::App* command) {
  command->fallthrough(false);
  command->prefix_command();
}

SubmitOptions CommandLine::Submission(const CLI::App* command) const {
  SubmitOptions options = submit_;
  options.command = command->remaining();
  // "git log -- file" has its own.
  if (!options.command.empty() && !behind_.empty()) {
    options.command.push_back("--");
  }
  options.command.insert(options.command.end(), behind_.begin(), behind_.end());
  return options;
}

void CommandLine::Parse(std::vector<std::string> arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  if (mark != arguments.end()) {
    behind_.assign(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
  }
  std::ranges::reverse(arguments);
  app_.parse(std::move(arguments));
  // What looks like an option and is none begins no command.
  for (const CLI::App* command : app_.get_subcommands()) {
    const std::vector<std::string> words = command->remaining();
    if (!words.empty() && words[0].starts_with('-')) {
      throw CLI::ExtrasError(command->get_name(), {words[0]});
    }
  }
}

void CommandLine::AddOther(const OtherCommand& other, const Streams& to) {
  CLI::App* command = Add(other.name.c_str(), other.help.c_str(), nullptr);
  command->fallthrough(false);
  command->prefix_command();
  command->callback([this, command, other, to] {
    run_ = [this, command, other, to](Session*) {
      return other.run(Submission(command).command, socket_, to);
    };
  });
}

// What submit and apply have in common.
void CommandLine::AddMode(CLI::App* command) {
  command->add_flag("--wait", mode_.wait, "And end with the job's code");
  command->add_flag("--dry-run", mode_.dry_run,
                    "Tell the manifest, and submit nothing");
}

void CommandLine::AddCron(CLI::App* submit) {
  submit->add_option("--cron", submit_.cron,
                     "A job at each of these times: '*/10 * * * *', @daily");
  submit->add_option("--time-zone", submit_.time_zone,
                     "Of --cron: Europe/Berlin; by default the machine's");
  submit->add_option("--concurrency", submit_.concurrency,
                     "Of --cron, where the last job still runs: Allow, Forbid "
                     "or Replace");
  submit->add_option("--starting-deadline", submit_.starting_deadline,
                     "Of --cron: what is later than this is left out: 10m");
}

void CommandLine::AddSubmit() {
  CLI::App* submit =
      Add("submit", "Submits a command: muster submit -- CMD", nullptr,
          [this](CLI::App* command) {
            AddResources(command);
            command->add_flag("--snapshot", submit_.snapshot,
                              "Runs in a copy of the working directory as it "
                              "is now");
            AddCron(command);
            AddMode(command);
          });
  TakeWords(submit);
  submit->callback([this, submit] {
    run_ = [this, submit](Session* s) {
      return Submit(s, Submission(submit), mode_);
    };
  });
  Add(
      "apply",
      "Submits a manifest, with its config maps and secrets, or a script "
      "with #SBATCH lines",
      [this](Session* s) { return Apply(s, file_, submit_, mode_); },
      [this](CLI::App* apply) {
        apply->add_option("-f,--file", file_, "- is the standard input")
            ->required();
        apply->add_option("--name", submit_.name, "In place of the manifest's");
        AddPlace(apply);
        AddMode(apply);
      });
  CLI::App* what_if =
      Add("what-if", "Tells what would become of it; as submit", nullptr,
          [this](CLI::App* command) { AddResources(command); });
  TakeWords(what_if);
  what_if->callback([this, what_if] {
    run_ = [this, what_if](Session* s) {
      return WhatIf(s, Submission(what_if));
    };
  });
}

// Options of ssh that mpirun gives are taken, and mean nothing.
void CommandLine::AddExec() {
  CLI::App* exec = Add("exec",
                       "Runs a command with the devices of a task, as ssh does "
                       "on a host: muster exec 7.worker-0 nvidia-smi",
                       nullptr);
  exec->add_option("-o", ssh_options_, "Nothing; as ssh has it")
      ->take_all()
      ->allow_extra_args(false);
  exec->add_flag("-x,-q,-n,-T", ssh_flags_, "Nothing; as ssh has them");
  exec->fallthrough(false);
  exec->prefix_command();
  AddGlobal(exec);
  exec->callback([this, exec] {
    run_ = [this, exec](Session* s) {
      std::vector<std::string> words = exec->remaining();
      words.insert(words.end(), behind_.begin(), behind_.end());
      return Exec(s, words);
    };
  });
}

void CommandLine::AddJobs(CLI::App* command) {
  command
      ->add_option("job", jobs_,
                   "7, 7_3, 2-10:2, last, @~2, all, or a name; one or more")
      ->required();
}

void CommandLine::AddChanges() {
  const std::pair<const char*, const char*> changes[] = {
      {"cancel", "Stops jobs for good"},
      {"hold", "Jobs do not start until they are released"},
      {"release", "Undoes hold"},
      {"suspend", "Jobs save their work, stop and hold nothing"},
      {"resume", "Undoes suspend"}};
  for (const auto& [name, help] : changes) {
    Add(
        name, help,
        [this, name = name](Session* s) { return Change(s, name, jobs_); },
        [this](CLI::App* command) { AddJobs(command); });
  }
  Add(
      "priority", "Gives jobs another class",
      [this](Session* s) { return ChangeTo(s, "priority", {job_}, value_); },
      [this](CLI::App* priority) {
        priority->add_option("job", job_, "Which")->required();
        priority->add_option("class", value_, "A class, or an integer")
            ->required();
      });
  Add(
      "move", "Puts a job into another queue, or before others of one's own",
      [this](Session* s) { return Move(s, job_, value_, place_); },
      [this](CLI::App* move) {
        move->add_option("job", job_, "Which")->required();
        move->add_option("queue", value_, "Where to");
        move->add_flag("--first", place_.first,
                       "Before one's jobs that wait in its queue with its "
                       "priority");
        move->add_flag("--last", place_.last, "Behind them");
        move->add_option("--before", place_.before, "Before this one of them");
        move->add_option("--after", place_.after, "Behind this one of them");
      });
  Add(
      "resize", "Gives an elastic job another size",
      [this](Session* s) { return Resize(s, job_, size_, value_); },
      [this](CLI::App* resize) {
        resize->add_option("job", job_, "Which")->required();
        resize->add_option("size", size_, "Tasks")->required();
        resize->add_option("--role", value_, "Of this role");
      });
  Add(
      "wait", "Until jobs have ended; ends with their code",
      [this](Session* s) { return Wait(s, jobs_); },
      [this](CLI::App* command) { AddJobs(command); });
}

// Calendars and nodes.
void CommandLine::AddOthers() {
  Add(
      "cron", "Calendars: list, suspend, resume or remove them",
      [this](Session* s) { return Cron(s, value_, jobs_, all_); },
      [this](CLI::App* cron) {
        cron->add_option("action", value_, "list, suspend, resume or remove")
            ->required()
            ->check(CLI::IsMember({"list", "suspend", "resume", "remove"}));
        cron->add_option("calendar", jobs_, "Its number or name; one or more");
        cron->add_flag("--all", all_, "list: of all users");
      });
  Add(
      "node", "Takes a node out of service, or puts it back",
      [this](Session* s) {
        return ChangeNode(s, value_, node_, device_, reason_);
      },
      [this](CLI::App* node) {
        node->add_option("action", value_,
                         "drain: nothing starts there; resume")
            ->required()
            ->check(CLI::IsMember({"drain", "resume"}));
        node->add_option("node", node_, "Its name: muster nodes")->required();
        node->add_option("--device", device_, "This device of it alone");
        node->add_option("--reason", reason_, "drain: why");
      });
}

void CommandLine::AddEdit() {
  Add(
      "edit",
      "Changes a job that waits, or what can be of one that runs; without "
      "options in $EDITOR: muster edit 7 --gpus 2 -- CMD",
      [this](Session* s) {
        SubmitOptions options = submit_;
        options.command = behind_;
        return Edit(s, job_, value_, options);
      },
      [this](CLI::App* edit) {
        SubmitOptions& o = submit_;
        edit->add_option("job", job_, "Which")->required();
        edit->add_option("--name", o.name, "Its name");
        edit->add_option("-q,--queue", o.queue, "Its queue");
        edit->add_option("-p,--priority", o.priority, "A class, or an integer");
        edit->add_option("--time", o.time, "It is stopped then: 90m; 0: never");
        edit->add_option("--gpus", o.gpus, "Of each task; 0.5: half of one");
        edit->add_option("--gpu-mem", o.gpu_memory, "Memory of one GPU: 10G");
        edit->add_option("--cpus", o.cpus, "Of each task");
        edit->add_option("--mem", o.memory, "Of each task: 16G");
        edit->add_option("--role", value_, "Of the tasks of this role");
      });
}

void CommandLine::AddViews() {
  const auto add_all = [this](CLI::App* command) {
    command->add_flag("--all", all_, "Of all users");
  };
  const auto add_jobs = [this](CLI::App* command) { AddJobs(command); };
  Add(
      "queue", "Jobs that have not finished",
      [this](Session* s) { return ShowQueue(s, all_); }, add_all);
  Add(
      "describe", "All of a job",
      [this](Session* s) { return Describe(s, jobs_); }, add_jobs);
  Add(
      "explain", "Why a job is where it is",
      [this](Session* s) { return Explain(s, jobs_); }, add_jobs);
  Add(
      "history", "Jobs, finished or not, newest first",
      [this](Session* s) { return ShowHistory(s, history_); },
      [this](CLI::App* history) {
        history->add_flag("--all", history_.all, "Of all users");
        history->add_option("--limit", history_.limit, "Jobs")
            ->check(CLI::Range(1, 10'000));
        history->add_option("--name", history_.name, "Of this name");
        history->add_option("--queue", history_.queue, "Of this queue");
        history->add_option("--state", history_.phase, "In this phase");
        history->add_flag("--removed", history_.removed,
                          "Those that are kept no more, and why");
      });
  Add("nodes", "The machine, and who holds what of it", ShowNodes);
  Add("queues", "The queues", ShowQueues);
  Add(
      "top", "Queue and devices, live; q quits",
      [this](Session* s) { return Top(s, all_); }, add_all);
  Add(
      "web", "The address of the page, with the token that lets you in",
      [this](Session* s) { return ShowWeb(s, renew_); },
      [this](CLI::App* web) {
        web->add_flag("--new", renew_,
                      "Another token: the old one, and who came in by it, is "
                      "out");
      });
  Add("version", "Of this program and of the daemon", ShowVersion);
  CLI::App* completion =
      Add("completion", "A script that completes command lines", nullptr,
          [this](CLI::App* command) {
            command->add_option("shell", shell_, "bash")
                ->required()
                ->check(CLI::IsMember({"bash"}));
          });
  completion->callback([this] { completion_ = true; });
}

// What tasks write and read.
void CommandLine::AddStreams() {
  static constexpr char kJob[] = "7, or 7.ROLE-INDEX";
  Add(
      "logs", "What a job has written",
      [this](Session* s) { return Logs(s, logs_); },
      [this](CLI::App* logs) {
        logs->add_option("job", logs_.job, kJob)->required();
        logs->add_flag("-f,--follow", logs_.follow, "Until the job has ended");
        logs->add_flag("--stderr", logs_.error,
                       "Its error output, if it is apart");
        logs->add_option("--attempt", logs_.attempt, "By default the last");
      });
  Add(
      "send", "A line for a job's standard input: submit --input",
      [this](Session* s) { return Send(s, send_); },
      [this](CLI::App* send) {
        send->add_option("job", send_.job, kJob)->required();
        send->add_option("text", send_.words,
                         "By default what the standard input has");
        send->add_flag("--end", send_.end, "Nothing comes behind it");
      });
}

void CommandLine::AddGlobal(CLI::App* app) {
  app->add_option("--socket", socket_, "Where musterd is asked");
  app->add_flag("--json", json_, "Answers as JSON");
}

CommandLine::CommandLine() {
  app_.name("muster");
  app_.set_version_flag("--version", MUSTER_VERSION);
  app_.require_subcommand(1);
  AddGlobal(&app_);
  AddSubmit();
  AddExec();
  AddChanges();
  AddEdit();
  AddOthers();
  AddViews();
  AddStreams();
}

}  // namespace

std::string FindSocket() {
  std::string socket = DefaultSocket();
  const bool chosen = !EnvironmentText("MUSTER_SOCKET").empty();
  if (chosen || access(socket.c_str(), F_OK) == 0) return socket;
  return access(kSystemSocket, F_OK) == 0 ? kSystemSocket : socket;
}

int RunMuster(const std::vector<std::string>& arguments, const Streams& to,
              const std::vector<OtherCommand>& others) {
  CommandLine line;
  for (const OtherCommand& other : others) line.AddOther(other, to);
  try {
    line.Parse(arguments);
  } catch (const CLI::ParseError& error) {
    return line.app().exit(error, to.out, to.err) == 0 ? kDone : kUsage;
  }
  if (line.completion()) {
    line.AddAllOptions();
    to.out << BashCompletion(line.app());
    return kDone;
  }
  Session session(line.socket(), line.json(), &to.in, &to.out, &to.err);
  return line.Start(&session);
}

}  // namespace muster::local
