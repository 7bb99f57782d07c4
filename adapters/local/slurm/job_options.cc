#include "adapters/local/slurm/job_options.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/own_umask.h"
#include "adapters/local/slurm/job_view.h"

namespace muster::local::slurm {
namespace {

struct JobOption {
  const char* name = "";
  const char* names = "";
  Value value = Value::kSome;
  const char* help = "";
  const char* variable = "";  // Of the environment, as sbatch has it.
};

const JobOption kJobOptions[] = {
    {"job-name", "-J,--job-name", Value::kSome, "Its name", "SBATCH_JOB_NAME"},
    {"ntasks", "-n,--ntasks", Value::kSome, "Tasks"},
    {"nodes", "-N,--nodes", Value::kSome, "Parts of the machine as nodes"},
    {"ntasks-per-node", "--ntasks-per-node", Value::kSome,
     "Tasks of each node"},
    {"cpus-per-task", "-c,--cpus-per-task", Value::kSome, "CPUs of each task"},
    {"mem", "--mem", Value::kSome, "Memory of each node: 4G",
     "SBATCH_MEM_PER_NODE"},
    {"mem-per-cpu", "--mem-per-cpu", Value::kSome, "Memory of each CPU",
     "SBATCH_MEM_PER_CPU"},
    {"mem-per-gpu", "--mem-per-gpu", Value::kSome, "Memory of each GPU",
     "SBATCH_MEM_PER_GPU"},
    {"gres", "--gres", Value::kSome, "gpu:2 of each node", "SBATCH_GRES"},
    {"gpus", "-G,--gpus", Value::kSome, "GPUs of all tasks", "SBATCH_GPUS"},
    {"gpus-per-node", "--gpus-per-node", Value::kSome, "GPUs of each node",
     "SBATCH_GPUS_PER_NODE"},
    {"gpus-per-task", "--gpus-per-task", Value::kSome, "GPUs of each task",
     "SBATCH_GPUS_PER_TASK"},
    {"time", "-t,--time", Value::kSome, "Its limit: 30, 1:30:00, 2-12",
     "SBATCH_TIMELIMIT"},
    {"partition", "-p,--partition", Value::kSome, "Its queue",
     "SBATCH_PARTITION"},
    {"qos", "-q,--qos", Value::kSome, "Its priority class", "SBATCH_QOS"},
    {"priority", "--priority", Value::kSome, "Its priority, an integer"},
    {"chdir", "-D,--chdir", Value::kSome, "Where it runs"},
    {"exclusive", "--exclusive", Value::kMaybe, "The machine is its alone"},
    {"requeue", "--requeue", Value::kNone, "It runs anew when preempted"},
    {"no-requeue", "--no-requeue", Value::kNone,
     "It ends when it is preempted"},
};

const OtherOption kOthers[] = {
    {"-A,--account", Value::kSome, false, "jobs are not accounted by it"},
    {"--comment", Value::kSome, false, "it decides nothing"},
    {"--mail-type", Value::kSome, false, "no mail is sent"},
    {"--mail-user", Value::kSome, false, "no mail is sent"},
    {"--nice", Value::kMaybe, false, "priorities are those of classes"},
    {"--signal", Value::kSome, false, "tasks that are stopped get SIGTERM"},
    {"--open-mode", Value::kSome, false, "files are appended to"},
    {"--get-user-env", Value::kMaybe, false, "--export says what is passed on"},
    {"--wckey", Value::kSome, false, "jobs are not accounted by it"},
    {"--hint", Value::kSome, false, "threads are where the kernel puts them"},
    {"-m,--distribution", Value::kSome, false, "there is one node"},
    {"--threads-per-core", Value::kSome, false,
     "threads are where the kernel puts them"},
    {"-O,--overcommit", Value::kNone, false, "tasks share CPUs as they can"},
    {"-s,--oversubscribe", Value::kNone, false, "it shares the machine"},
    {"-d,--dependency", Value::kSome, true, "jobs do not wait for others"},
    {"-b,--begin", Value::kSome, true, "jobs do not wait for a time"},
    {"--deadline", Value::kSome, true, "use --time"},
    {"-w,--nodelist", Value::kSome, true, "there is one node"},
    {"-x,--exclude", Value::kSome, true, "there is one node"},
    {"-C,--constraint", Value::kSome, true, "the node has no features"},
    {"-L,--licenses", Value::kSome, true, "there are no licenses"},
    {"--reservation", Value::kSome, true, "there are no reservations"},
    {"-M,--clusters", Value::kSome, true, "there is one cluster"},
    {"-i,--input", Value::kSome, true, "the input is empty; use < FILE"},
    {"--cpus-per-gpu", Value::kSome, true, "use --cpus-per-task"},
    {"--ntasks-per-gpu", Value::kSome, true, "use --gpus-per-task"},
    {"--tmp", Value::kSome, true, "the space of disks is not counted"},
    {"--uid", Value::kSome, true, "jobs run as who submits them"},
    {"--gid", Value::kSome, true, "jobs run as who submits them"},
};

// What a job of another one is not to have of it.
bool IsOfJob(std::string_view variable) {
  if (variable.starts_with("MUSTER_SOCKET=")) return false;
  return variable.starts_with("SLURM_") || variable.starts_with("MUSTER_") ||
         variable.starts_with("CUDA_VISIBLE_DEVICES=");
}

}  // namespace

JobOptions::JobOptions(Command* command) {
  for (const JobOption& row : kJobOptions) {
    Option& option = options_.emplace_back();
    option.name = row.name;
    option.value = row.value;
    option.parsed = AddOption(&command->app(), row.names, row.value,
                              &option.text, row.help);
    const bool batch = command->app().get_name() == "sbatch";
    if (batch && row.variable[0] != 0) option.parsed->envname(row.variable);
  }
  command->Add(kOthers);
}

std::vector<BatchOption> JobOptions::Given() const {
  std::vector<BatchOption> given;
  for (const Option& option : options_) {
    if (option.parsed->count() == 0) continue;
    given.push_back({.name = option.name,
                     .value = option.text,
                     .has_value = option.value == Value::kSome});
  }
  return given;
}

std::optional<std::string> JobOptions::Find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name && option.parsed->count() > 0) return option.text;
  }
  return std::nullopt;
}

std::vector<std::string> ExportedEnvironment(const std::string& exported) {
  bool all = exported.empty();
  bool none = false;
  std::set<std::string> names;
  for (const std::string& part : Parts(exported)) {
    if (part == "ALL") all = true;
    if (part == "NONE" || part == "NIL") none = true;
    // The values are set by the script's --export line.
    if (part.find('=') == std::string::npos) names.insert(part);
  }
  if (none) names = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t is = text.find('=');
    if (is == std::string_view::npos || is == 0 || IsOfJob(text)) continue;
    if ((all && !none) || names.contains(std::string(text.substr(0, is)))) {
      environment.emplace_back(text);
    }
  }
  return environment;
}

Session::Json Submission(const std::string& text, const std::string& exported) {
  Session::Json body{{"manifest", text}};
  std::error_code error;
  const auto directory = std::filesystem::current_path(error);
  if (!error) body["directory"] = directory.string();
  body["environment"] = ExportedEnvironment(exported);
  if (const std::string umask = OwnUmask(); !umask.empty()) {
    body["umask"] = umask;
  }
  return body;
}

void WarnOf(const Command& command, const Streams& to,
            const Session::Json& answer) {
  for (const Session::Json& field : ListOf(answer, "ignored")) {
    command.Warn(to, absl::StrCat(field.value("path", ""), ": ",
                                  field.value("why", ""), ": ignored"));
  }
  for (const Session::Json& note : ListOf(answer, "notes")) {
    command.Warn(to, note.get<std::string>());
  }
}

}  // namespace muster::local::slurm
