#include "adapters/local/client/exec_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/client/held_cpus.h"
#include "adapters/local/client/held_devices.h"
#include "adapters/local/client/job_finder.h"
#include "adapters/local/client/job_id.h"
#include "adapters/local/model/cpu_list.h"
#include "adapters/local/model/socket_path.h"
#include "adapters/local/shim/bind_process.h"

namespace muster::local {
namespace {

using Json = Session::Json;

// The first label of a host's name.
std::string_view Label(std::string_view host) {
  return host.substr(0, host.find('.'));
}

bool IsTask(std::string_view host, const std::string& task) {
  return host == task || host.ends_with("-" + task);
}

// Whether an entry of a list "held" is of this task.
bool IsHeldBy(const Json& held, uint64_t job, std::string_view host) {
  return held.value("job", uint64_t{0}) == job &&
         IsTask(host, held.value("task", ""));
}

// Of the job's devices, those of the task.
std::vector<NamedDevice> DevicesOf(const Json& nodes, uint64_t job,
                                   std::string_view host) {
  return HeldDevices(
      nodes, [&](const Json& held) { return IsHeldBy(held, job, host); });
}

// A folder of one's own for each task: several orted of one job on one machine
// would make and remove the same one. Empty: somebody else has it.
std::string SessionFolder(const std::string& session) {
  std::error_code error;
  const std::string base =
      absl::StrCat(std::filesystem::temp_directory_path(error).string(),
                   "/muster-mpi-", geteuid());
  mkdir(base.c_str(), 0700);
  struct stat is{};
  const bool own = lstat(base.c_str(), &is) == 0 && S_ISDIR(is.st_mode) &&
                   is.st_uid == geteuid();
  const std::string folder = absl::StrCat(base, "/", session);
  if (!own || (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)) return "";
  return folder;
}

}  // namespace

absl::StatusOr<ExecPlan> PlanExec(Session* session, const std::string& inside,
                                  const std::vector<std::string>& words) {
  if (words.size() < 2) {
    return absl::InvalidArgumentError(
        "exec: expected a task and a command: 7.worker-0 nvidia-smi");
  }
  uint64_t job = 0;
  const JobAndTask named = SplitTask(words[0]);
  std::string_view host = named.task;
  if (named.task.empty() || named.job.empty() ||
      absl::SimpleAtoi(inside, &job)) {
    host = Label(words[0]);
    if (!absl::SimpleAtoi(inside, &job)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "exec: '", words[0], "': expected JOB.TASK, such as 7.worker-0"));
    }
  } else {
    const auto found = FindJobs(session, {named.job});
    if (!found.ok()) return found.status();
    job = found->front();
    const auto known = session->Ask("GET", absl::StrCat("/v1/jobs/", job));
    if (!known.ok()) return known.status();
  }
  const auto nodes = session->Ask("GET", "/v1/nodes");
  if (!nodes.ok()) return nodes.status();
  std::vector<std::string> visible, numbers;
  for (const NamedDevice& device : DevicesOf(*nodes, job, host)) {
    visible.push_back(device.visible);
    const std::string number = absl::StrCat(device.index);
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
  }
  const auto own = HeldCpus(
      *nodes, [&](const Json& held) { return IsHeldBy(held, job, host); });
  ExecPlan plan;
  plan.cpus = own.empty() ? SharedCpus(*nodes) : own.front();
  plan.session = absl::StrCat(job, "-", std::string(host));
  plan.command = absl::StrJoin(words.begin() + 1, words.end(), " ");
  // Several orted on one machine share a folder, which PMIx's way by files does
  // not bear.
  plan.environment = {{"CUDA_VISIBLE_DEVICES", absl::StrJoin(visible, ",")},
                      {"MUSTER_GPUS", absl::StrJoin(numbers, ",")},
                      {"PMIX_MCA_gds", "hash"}};
  if (!plan.cpus.empty()) {
    plan.environment.emplace_back("MUSTER_CPUS",
                                  own.empty() ? "" : CpuListText(plan.cpus));
  }
  return plan;
}

int Exec(Session* session, const std::vector<std::string>& words) {
  const auto plan = PlanExec(session, EnvironmentText("MUSTER_JOB_ID"), words);
  if (!plan.ok()) return session->Fail(plan.status());
  for (const auto& [name, value] : plan->environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  // Where it may not go there, it runs where the caller does.
  if (!plan->cpus.empty()) BindProcess(0, plan->cpus);
  const std::string folder = SessionFolder(plan->session);
  if (!folder.empty()) setenv("OMPI_MCA_orte_tmpdir_base", folder.c_str(), 1);
  session->out().flush();
  execl("/bin/sh", "sh", "-c", plan->command.c_str(), nullptr);
  return session->Fail(absl::ErrnoToStatus(errno, "/bin/sh"));
}

}  // namespace muster::local
