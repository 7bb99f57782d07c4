#include "adapters/local/controller/launch_maker.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/controller/cpu_driver.h"
#include "adapters/local/controller/job_maker.h"
#include "adapters/local/controller/task_folder.h"
#include "adapters/local/grid/parameter_point.h"
#include "adapters/local/model/cpu_list.h"
#include "muster/workload/to_gang.h"

namespace muster::local {
namespace {

constexpr const char* kHost = "127.0.0.1";
// Jobs begin to look for ports at places that are so far apart.
constexpr uint64_t kPortsApart = 37;
constexpr std::string_view kParameterVariable = "MUSTER_PARAM_";
constexpr std::string_view kCpusVariable = "MUSTER_CPUS";

using Env = std::vector<std::pair<std::string, std::string>>;

// What a file's name stands for: %j, %A, %a, %x, %t, %% as sbatch has them.
std::string ExpandName(const std::string& name, const JobRow& row, TaskId task,
                       const std::string& base) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%' || i + 1 == name.size()) {
      out += name[i];
      continue;
    }
    switch (name[++i]) {
      case 'j':
        absl::StrAppend(&out, row.id);
        break;
      case 'A':
        absl::StrAppend(&out, row.array != 0 ? row.array : row.id);
        break;
      case 'a':
        absl::StrAppend(&out, row.array_index.value_or(0));
        break;
      case 'x':
        out += base;
        break;
      case 't':
        absl::StrAppend(&out, task.index);
        break;
      case '%':
        out += '%';
        break;
      default:
        out += '%';
        out += name[i];
    }
  }
  return out;
}

constexpr char kAlternativeVariable[] = "MUSTER_ALTERNATIVE";

// Who submits from within a task has its variables, which are not the job's.
// Those that are set for every task replace them.
bool IsOurs(const std::string& name) {
  return name == "MUSTER_ARRAY_ID" || name == "MUSTER_ARRAY_INDEX" ||
         name == kCpusVariable || name == kAlternativeVariable ||
         name.starts_with(kParameterVariable);
}

std::string Absolute(const std::string& path, const std::string& folder) {
  if (path.empty() || path.starts_with('/')) return path;
  return absl::StrCat(folder, "/", path);
}

// A later value of a name replaces an earlier one, in its place.
class EnvWriter {
 public:
  explicit EnvWriter(Env* env) : env_(*env) {}

  bool Has(const std::string& name) const { return at_.contains(name); }
  void Set(std::string name, std::string value) {
    const auto [it, added] = at_.try_emplace(name, env_.size());
    if (added) {
      env_.emplace_back(std::move(name), std::move(value));
    } else {
      env_[it->second].second = std::move(value);
      replaced_.insert(it->second);
    }
  }
  // Puts those of the first `count` that nothing has replaced in front. How
  // many these are. Nothing is set after it.
  size_t PutInheritedFirst(size_t count) {
    Env inherited, others;
    for (size_t i = 0; i < env_.size(); ++i) {
      const bool is = i < count && !replaced_.contains(i);
      (is ? inherited : others).push_back(std::move(env_[i]));
    }
    env_ = std::move(inherited);
    count = env_.size();
    std::ranges::move(others, std::back_inserter(env_));
    return count;
  }

 private:
  Env& env_;
  std::map<std::string, size_t> at_;
  std::set<size_t> replaced_;
};

// The variables of the submission.
void SetSubmitted(const JobRecord& job, EnvWriter* writer) {
  for (const std::string& variable :
       SplitZeros(job.environment ? *job.environment : "")) {
    const size_t is = variable.find('=');
    if (is == std::string::npos) continue;
    std::string name = variable.substr(0, is);
    if (!IsOurs(name)) writer->Set(std::move(name), variable.substr(is + 1));
  }
}

// A thread for each cpu that the task has of its own. All that the manifest has
// comes after it, and replaces it. A launcher of mpirun would tell it to ranks
// that have others.
void SetThreads(const workload::Job& job, uint32_t role, uint32_t alternative,
                const PlaceCpus& cpus, EnvWriter* writer) {
  constexpr char kThreads[] = "OMP_NUM_THREADS";
  const bool launches =
      job.kind == workload::Kind::kMPIJob &&
      std::ranges::any_of(job.roles, &workload::Role::passive);
  if (cpus.cpus.empty() || cpus.shared || launches || writer->Has(kThreads)) {
    return;
  }
  writer->Set(kThreads, absl::StrCat(OwnCpusOf(job.roles[role], alternative)));
}

// The job, whose tasks request what they have been given.
workload::Job AsPlaced(const JobRecord& job) {
  workload::Job placed = job.job();
  for (const auto& [place, held] : job.places) {
    workload::TaskTemplate& task = placed.roles[place.role].task;
    if (!task.alternatives.empty()) {
      task.requests = task.RequestsOf(held.alternative);
    }
  }
  return placed;
}

bool IsOfFiles(const workload::EnvVar& variable) {
  return variable.from == workload::EnvSource::kSecret ||
         variable.from == workload::EnvSource::kConfigMap;
}

}  // namespace

bool LaunchMaker::NeedsPorts(const workload::Job& job) {
  switch (job.kind) {
    case workload::Kind::kJob:
    case workload::Kind::kBatchScript:
    case workload::Kind::kMPIJob:
    case workload::Kind::kJobSet:
      return false;
    default:
      return true;
  }
}

uint32_t LaunchMaker::SizeOf(const JobRecord& job, uint32_t role) {
  const workload::Role& r = job.job().roles[role];
  if (job.job().kind == workload::Kind::kJob) {
    return r.completions > 0 ? 1 : std::max(1u, r.tasks());
  }
  uint32_t size = 1;
  uint32_t position = PositionOf(job.job(), {role, 0});
  for (uint32_t i = 0; i < r.tasks(); ++i) {
    if (job.state.tasks[position++].member) size = std::max(size, i + 1);
  }
  return size;
}

absl::Status LaunchMaker::TakePorts(JobRecord* job, uint32_t role,
                                    uint32_t size) {
  auto& ports = job->meeting.ports[role];
  if (!NeedsPorts(job->job())) {
    ports.resize(size, 0);
    return absl::OkStatus();
  }
  const uint64_t start = kPortsApart * (job->row.id + job->state.gang_restarts +
                                        job->state.preemptions);
  while (ports.size() < size) {
    const auto port = s_.ports.Take(start);
    if (!port) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no port of ", s_.config.first_port, " to ",
                       s_.config.last_port, " is free"));
    }
    ports.push_back(*port);
  }
  return absl::OkStatus();
}

void LaunchMaker::Number(JobRecord* job) {
  const workload::Job& of = job->job();
  const bool indexes_count =
      std::ranges::any_of(of.success, [](const workload::SuccessRule& rule) {
        return rule.count > 0 || !rule.indexes.empty() || rule.groups;
      });
  if (s_.config.scheduler.topologies.empty() || indexes_count ||
      !NeedsPorts(of)) {
    return;
  }
  std::vector<workload::TaskPlace> places;
  for (const auto& [place, held] : job->places) {
    places.push_back({place, &s_.config.node, held.devices, held.first_slice});
  }
  job->meeting.numbers =
      TopologyNumbers(of, s_.config.scheduler.topologies.front(), places);
}

void LaunchMaker::Part(JobRecord* job) {
  for (const auto& role : job->meeting.ports) {
    for (const uint16_t port : role) s_.ports.Return(port);
  }
  job->meeting = {};
  job->rendezvous.reset();
}

absl::Status LaunchMaker::Meet(JobRecord* job, TaskId task, bool anew) {
  auto& ports = job->meeting.ports;
  const bool first = anew || ports.empty();
  if (!first && (task.index < ports[task.role].size() ||
                 job->job().kind == workload::Kind::kJob)) {
    return absl::OkStatus();
  }
  if (first) {
    Part(job);
    ports.resize(job->job().roles.size());
    Number(job);
  }
  s_.jobs.Change(*job);
  job->rendezvous.reset();
  for (uint32_t r = 0; r < ports.size(); ++r) {
    absl::Status s = TakePorts(job, r, SizeOf(*job, r));
    if (s.ok()) continue;
    if (first) Part(job);  // Others, if there are any, keep theirs.
    return s;
  }
  return absl::OkStatus();
}

void LaunchMaker::MakeRendezvous(JobRecord* job) {
  const workload::Job& of = job->job();
  workload::Endpoints endpoints(of.roles.size());
  const bool by_name =
      of.kind == workload::Kind::kMPIJob && !s_.config.remote_shell.empty();
  for (uint32_t r = 0; r < endpoints.size(); ++r) {
    uint32_t index = 0;
    for (const uint16_t port : job->meeting.ports[r]) {
      endpoints[r].push_back(
          {by_name ? TaskName(of, {r, index}) : kHost, port});
      ++index;
    }
  }
  workload::RendezvousOptions options;
  options.remote_shell = s_.config.remote_shell;
  options.config_dir = JobFolder(s_.config.state, job->row.id) + "/mpi";
  options.torch_extras = true;
  auto made =
      workload::Rendezvous::Make(AsPlaced(*job), std::move(endpoints), options);
  if (!made.ok()) return s_.link->AddDefect(made.status().ToString());
  job->rendezvous.emplace(*std::move(made));
}

void LaunchMaker::SetEnvironment(const JobRecord& job, const LiveTask& task,
                                 TaskStart* start) const {
  const TaskKey& key = task.row.key;
  const JobRow& row = job.row;
  Env env;
  EnvWriter writer(&env);
  SetSubmitted(job, &writer);
  const PlaceCpus cpus = CpusOf(s_, job, {key.role, task.slot});
  const uint32_t alternative = job.AlternativeOf({key.role, task.slot});
  SetThreads(job.job(), key.role, alternative, cpus, &writer);
  const size_t submitted = env.size();
  for (auto& [name, value] : start->launch.env) {
    if (!IsOurs(name)) writer.Set(name, std::move(value));
  }
  start->size = TaskCount(job.state);
  const std::string folder = TaskFolder(s_.config.state, key);
  if (!s_.config.socket.empty()) writer.Set("MUSTER_SOCKET", s_.config.socket);
  writer.Set("MUSTER_JOB_ID", absl::StrCat(row.id));
  writer.Set("MUSTER_JOB_NAME", row.name);
  writer.Set("MUSTER_TASK",
             absl::StrCat(job.job().roles[key.role].name, "-", key.index));
  writer.Set("MUSTER_ATTEMPT", absl::StrCat(key.attempt));
  writer.Set("MUSTER_SIZE", absl::StrCat(start->size));
  writer.Set("MUSTER_SIZE_FILE",
             absl::StrCat(folder, "/", std::string(kSizeFile)));
  if (!job.job().roles[key.role].task.alternatives.empty()) {
    writer.Set(kAlternativeVariable, absl::StrCat(alternative));
  }
  writer.Set("MUSTER_GPUS", absl::StrJoin(task.row.devices, ","));
  if (!cpus.cpus.empty()) {
    writer.Set(std::string(kCpusVariable),
               cpus.shared ? "" : CpuListText(cpus.cpus));
  }
  writer.Set("MUSTER_CHECKPOINT",
             absl::StrCat(folder, "/", std::string(kCheckpointFile)));
  writer.Set("MUSTER_CHECKPOINT_REQUEST",
             absl::StrCat(folder, "/", std::string(kCheckpointRequestFile)));
  if (row.array_index) {
    writer.Set("MUSTER_ARRAY_ID", absl::StrCat(row.array));
    writer.Set("MUSTER_ARRAY_INDEX", absl::StrCat(*row.array_index));
  }
  const auto point = ParameterPointFromJson(row.parameters);
  if (point.ok()) {
    for (const auto& [name, value] : *point) {
      writer.Set(std::string(kParameterVariable) + name, value);
    }
  }
  if (job.job().kind == workload::Kind::kBatchScript) {
    writer.Set("SLURM_JOB_ID", absl::StrCat(row.id));
    writer.Set("SLURM_SUBMIT_DIR", row.directory);
    writer.Set("SLURM_RESTART_COUNT", absl::StrCat(key.attempt - 1));
    if (row.array_index) {
      writer.Set("SLURM_ARRAY_JOB_ID", absl::StrCat(row.array));
    }
  }
  if (!start->image.empty() ||
      std::ranges::any_of(start->launch.from_host, IsOfFiles)) {
    start->inherited =
        static_cast<uint32_t>(writer.PutInheritedFirst(submitted));
  }
  start->launch.env = std::move(env);
}

void LaunchMaker::SetFiles(const JobRecord& job, const LiveTask& task,
                           TaskStart* start) const {
  const TaskKey& key = task.row.key;
  const workload::TaskTemplate& t = job.job().roles[key.role].task;
  const std::string& from =
      job.row.directory.empty() ? s_.config.home : job.row.directory;
  start->directory =
      t.working_dir.empty() ? from : Absolute(t.working_dir, from);
  std::string base = job.row.name;
  if (job.row.array_index) {  // NAME_INDEX, or NAME-INDEX
    base.resize(base.size() - 1 - absl::StrCat(*job.row.array_index).size());
  }
  // A directory that a manifest names is the image's, files are the machine's.
  const bool in_image = !start->image.empty();
  const bool of_image = in_image && t.working_dir.starts_with('/');
  if (in_image && !of_image) start->image_directory = from;
  const auto file = [&](const std::string& name) {
    return Absolute(ExpandName(name, job.row, {key.role, key.index}, base),
                    of_image ? from : start->directory);
  };
  start->output = file(t.output);
  start->error = t.error.empty() ? start->output : file(t.error);
  if (t.script.empty() || !start->launch.argv.empty()) return;
  const std::string script = TaskFolder(s_.config.state, key) + "/script";
  start->launch.files.push_back(
      {script, std::make_shared<const std::string>(t.script), true});
  start->launch.argv = {script};
}

TaskStart LaunchMaker::Make(JobRecord* job, const LiveTask& task) {
  TaskStart start;
  const TaskKey& key = task.row.key;
  const workload::Job& of = job->job();
  const workload::TaskTemplate& t = of.roles[key.role].task;
  if (!job->rendezvous) MakeRendezvous(job);
  TaskId number{key.role, key.index};
  const auto& numbers = job->meeting.numbers;
  if (key.role < numbers.size() && key.index < numbers[key.role].size()) {
    number.index = numbers[key.role][key.index];
  }
  if (job->rendezvous) start.launch = job->rendezvous->ForTask(number);
  start.uid = job->row.uid;
  start.gid = job->row.gid;
  start.umask = job->row.umask;
  start.name = TaskName(of, {key.role, key.index});
  if (s_.config.images.Use(of)) start.image = t.image;
  start.image_command = !start.image.empty() && t.command.empty() &&
                        t.script.empty() &&
                        (start.launch.argv.empty() || !t.args.empty());
  start.input = t.stdin_open;
  start.volumes = t.volumes;
  start.mounts = t.mounts;
  start.devices = SharesOf(s_.config, *job, {key.role, task.slot});
  const uint32_t alternative = job->AlternativeOf({key.role, task.slot});
  start.cpu_milli = t.Requested("cpu", alternative);
  start.memory_bytes = t.Requested("memory", alternative);
  SetEnvironment(*job, task, &start);
  SetFiles(*job, task, &start);
  return start;
}

}  // namespace muster::local
