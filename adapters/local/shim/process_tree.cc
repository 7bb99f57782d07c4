#include "adapters/local/shim/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <string_view>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/record.h"

namespace muster::local {
namespace {

// Sweeps over a tree: a fork bomb ends when all of its processes are stopped,
// and no tree needs as many.
constexpr int kSweeps = 5000;
constexpr int kKillPatienceMs = 20;

// The numbers among the names in a folder, in rising order.
std::vector<int32_t> NumbersIn(const std::string& path) {
  std::set<int32_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()),
                                                   &closedir);
  if (folder == nullptr) return {};
  while (const dirent* entry = readdir(folder.get())) {
    int32_t number = 0;
    if (ParseNumber(entry->d_name, &number)) numbers.insert(number);
  }
  return {numbers.begin(), numbers.end()};
}

// Numbers with a space behind each.
void AddNumbers(std::string_view text, std::vector<int32_t>* numbers) {
  for (size_t end = 0; (end = text.find(' ')) != std::string_view::npos;) {
    int32_t number = 0;
    if (ParseNumber(text.substr(0, end), &number)) numbers->push_back(number);
    text.remove_prefix(end + 1);
  }
}

std::string ThreadFolder(int32_t pid) {
  return "/proc/" + std::to_string(pid) + "/task";
}

std::vector<int32_t> ChildrenOf(int32_t pid) {
  std::vector<int32_t> children;
  for (const int32_t thread : ThreadsOf(pid)) {
    std::string text;
    const std::string file =
        ThreadFolder(pid) + "/" + std::to_string(thread) + "/children";
    if (ReadFile(AT_FDCWD, file.c_str(), &text) == 0) {
      AddNumbers(text, &children);
    }
  }
  return children;
}

// Not every kernel is built with that file.
bool KernelTellsChildren() {
  static const bool tells = access("/proc/thread-self/children", R_OK) == 0;
  return tells;
}

std::vector<ProcessStat> AllProcesses() {
  std::vector<ProcessStat> all;
  for (const int32_t pid : NumbersIn("/proc")) {
    if (const auto stat = StatOf(pid)) all.push_back(*stat);
  }
  return all;
}

std::vector<ProcessStat> ByParents(int32_t pid) {
  std::multimap<int32_t, ProcessStat> by_parent;
  for (const ProcessStat& process : AllProcesses()) {
    by_parent.emplace(process.parent, process);
  }
  std::vector<ProcessStat> found;
  const auto add_children = [&](int32_t parent) {
    const auto [first, last] = by_parent.equal_range(parent);
    for (auto it = first; it != last; ++it) found.push_back(it->second);
    by_parent.erase(first, last);
  };
  add_children(pid);
  for (size_t i = 0; i < found.size(); ++i) add_children(found[i].id.pid);
  return found;
}

}  // namespace

std::optional<ProcessStat> StatOf(int32_t pid) {
  std::string text;
  const std::string file = "/proc/" + std::to_string(pid) + "/stat";
  if (ReadFile(AT_FDCWD, file.c_str(), &text) != 0) return std::nullopt;
  // "PID (NAME) STATE PARENT GROUP SESSION ...", the name being anything.
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  ProcessStat stat{.id = {.pid = pid}};
  bool good = true;
  int field = 3;
  for (const auto part :
       std::string_view(text).substr(name_end + 2) | std::views::split(' ')) {
    const std::string_view value(part.begin(), part.end());
    if (field == 3 && !value.empty()) stat.state = value.front();
    if (field == 4) good &= ParseNumber(value, &stat.parent);
    if (field == 6) good &= ParseNumber(value, &stat.session);
    if (field == 22) {
      good &= ParseNumber(value, &stat.id.start);
      return good ? std::optional(stat) : std::nullopt;
    }
    ++field;
  }
  return std::nullopt;
}

bool Signal(const ProcessId& process, int signal) {
  // By system calls: older C libraries lack the functions.
  const OpenFile pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd.ok()) return false;
  const auto stat = StatOf(process.pid);
  if (!stat || stat->id != process) {
    errno = ESRCH;
    return false;
  }
  return syscall(SYS_pidfd_send_signal, pidfd.fd(), signal, nullptr, 0) == 0;
}

std::vector<int32_t> ThreadsOf(int32_t pid) {
  return NumbersIn(ThreadFolder(pid));
}

std::vector<ProcessStat> DescendantsOf(int32_t pid) {
  if (!KernelTellsChildren()) return ByParents(pid);
  std::vector<ProcessStat> found;
  std::set<int32_t> seen = {pid};
  const auto add_children = [&](int32_t parent) {
    for (const int32_t child : ChildrenOf(parent)) {
      if (!seen.insert(child).second) continue;
      if (const auto stat = StatOf(child)) found.push_back(*stat);
    }
  };
  add_children(pid);
  for (size_t i = 0; i < found.size(); ++i) add_children(found[i].id.pid);
  return found;
}

std::vector<ProcessStat> ProcessesOfSession(int32_t session) {
  std::vector<ProcessStat> found = AllProcesses();
  std::erase_if(found, [session](const ProcessStat& process) {
    return process.session != session;
  });
  return found;
}

std::vector<ProcessId> Freeze(const ProcessList& list, int patience_ms) {
  std::vector<ProcessId> found;
  std::set<ProcessId> seen;
  for (int sweep = 0, waits = 0; sweep < kSweeps; ++sweep) {
    bool news = false;
    bool still = true;
    for (const ProcessStat& process : list()) {
      if (process.state == 'Z' || process.state == 'X') continue;
      still = still && (process.state == 'T' || process.state == 't');
      if (!seen.insert(process.id).second) continue;
      found.push_back(process.id);
      Signal(process.id, SIGSTOP);
      news = true;
    }
    if (news) continue;
    if (still || ++waits > patience_ms) break;
    poll(nullptr, 0, 1);
  }
  return found;
}

void Thaw(const ProcessList& list) {
  const std::vector<ProcessStat> found = list();
  for (const ProcessStat& process : found | std::views::reverse) {
    Signal(process.id, SIGCONT);
  }
}

std::vector<ProcessId> Slay(const ProcessList& list) {
  const std::vector<ProcessId> found = Freeze(list, kKillPatienceMs);
  for (const ProcessId& process : found) Signal(process, SIGKILL);
  return found;
}

}  // namespace muster::local
