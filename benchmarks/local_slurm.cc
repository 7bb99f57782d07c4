#include "benchmarks/local_slurm.h"

#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "benchmarks/local_daemon.h"

namespace muster::local {
namespace {

constexpr const char* kPlugins = "/usr/lib/x86_64-linux-gnu/slurm-wlm";

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string RootFolder() {
  const char* root = std::getenv("MUSTER_SLURM");
  return root == nullptr ? "" : root;
}

}  // namespace

BenchSlurm::BenchSlurm(std::string folder)
    : folder_(std::move(folder)), root_(RootFolder()) {
  for (const char* name : {"slurmctld", "slurmd", "slurmstepd", "sbatch"}) {
    if (Find(name).empty()) {
      problem_ = absl::StrCat(name, " is not installed");
      return;
    }
  }
  setenv("SLURM_CONF", (folder_ + "/slurm.conf").c_str(), 1);
  if (!root_.empty()) {
    setenv("LD_LIBRARY_PATH", absl::StrCat(root_, kPlugins).c_str(), 1);
  }
  WriteConfiguration();
  Start();
}

BenchSlurm::~BenchSlurm() {
  for (const pid_t pid : daemons_) kill(pid, SIGTERM);
  for (const pid_t pid : daemons_) waitpid(pid, nullptr, 0);
  unsetenv("SLURM_CONF");
  if (!root_.empty()) unsetenv("LD_LIBRARY_PATH");
}

std::string BenchSlurm::Find(const std::string& name) const {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/"}) {
    for (const char* suffix : {"-wlm", ""}) {
      const std::string path = absl::StrCat(root_, folder, name, suffix);
      if (access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return "";
}

void BenchSlurm::WriteConfiguration() const {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  std::string name = host;
  name.resize(std::min(name.find('.'), name.size()));
  const passwd* user = getpwuid(geteuid());
  mkdir((folder_ + "/state").c_str(), 0700);
  mkdir((folder_ + "/spool").c_str(), 0755);
  std::ofstream(folder_ + "/slurm.conf") << absl::StrCat(
      "ClusterName=bench\nSlurmctldHost=", name,
      "(127.0.0.1)\nSlurmUser=", user->pw_name, "\nSlurmdUser=", user->pw_name,
      "\nCommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
      "AuthType=auth/none\nCredType=cred/none\n"
      "SlurmctldPort=46817\nSlurmdPort=46818\nStateSaveLocation=",
      folder_, "/state\nSlurmdSpoolDir=", folder_,
      "/spool\nSlurmctldPidFile=", folder_,
      "/slurmctld.pid\nSlurmdPidFile=", folder_,
      "/slurmd.pid\nPluginDir=", root_, kPlugins,
      "\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
      "JobAcctGatherType=jobacct_gather/none\n"
      "AccountingStorageType=accounting_storage/none\nMpiDefault=none\n"
      "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
      // Its default is to look for jobs to start every 3 s.
      "SchedulerParameters=batch_sched_delay=0\n"
      "ReturnToService=2\nMaxJobCount=20000\nMaxArraySize=20000\nNodeName=",
      name, " NodeAddr=127.0.0.1 CPUs=", std::thread::hardware_concurrency(),
      " State=UNKNOWN\nPartitionName=p Nodes=", name,
      " Default=YES MaxTime=INFINITE State=UP\n");
}

void BenchSlurm::Start() {
  daemons_.push_back(
      Spawn({Find("slurmctld"), "-D", "-c"}, folder_ + "/slurmctld.log"));
  daemons_.push_back(Spawn({Find("slurmd"), "-D", "-d", Find("slurmstepd")},
                           folder_ + "/slurmd.log"));
  const std::string states = folder_ + "/states";
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    unlink(states.c_str());
    waitpid(Spawn({Find("sinfo"), "-h", "-o", "%t"}, states), nullptr, 0);
    if (TextOf(states) == "idle\n") return;
  }
  problem_ = "its node does not come up";
}

bool BenchSlurm::Submit(std::vector<std::string> words) const {
  words.insert(words.begin(),
               {Find("sbatch"), "--quiet", "--output=/dev/null"});
  return Run(std::move(words));
}

bool BenchSlurm::RunNow(std::vector<std::string> words) const {
  const std::string program = Find("srun");
  if (program.empty()) return false;
  words.insert(words.begin(), {program, "--quiet"});
  return Run(std::move(words));
}

void BenchSlurm::Idle() const {
  const std::string queue = folder_ + "/queue";
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    unlink(queue.c_str());
    waitpid(Spawn({Find("squeue"), "-h"}, queue), nullptr, 0);
  } while (!TextOf(queue).empty());
}

double BenchSlurm::Queue() const {
  const int64_t start = NowNanos();
  const std::string queue = folder_ + "/queue";
  waitpid(Spawn({Find("squeue"), "-r"}, queue), nullptr, 0);
  const auto nanos = static_cast<double>(NowNanos() - start);
  unlink(queue.c_str());
  return nanos / 1e6;
}

}  // namespace muster::local
