#include "test/adapters/local_shim/shim_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace muster::local {
namespace {

constexpr int kLongestMs = 60'000;
constexpr int kLooks = 30'000;

}  // namespace

bool IsReadable(int fd) {
  pollfd poll_fd{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&poll_fd, 1, kLongestMs) == 1;
}

bool Eventually(const std::function<bool()>& is_so) {
  for (int look = 0; look < kLooks; ++look) {
    if (is_so()) return true;
    poll(nullptr, 0, 2);
  }
  return false;
}

OpenFile PidfdOf(int32_t pid) {
  return OpenFile(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

std::string ReadText(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

ShimRun::ShimRun() {
  std::string pattern = testing::TempDir() + "shim-XXXXXX";
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = std::filesystem::canonical(pattern).string();
  chmod(folder_.c_str(), 0777);
  for (const auto& [path, file] :
       {std::pair(said(), &say_), std::pair(heard(), &hear_)}) {
    EXPECT_EQ(mkfifo(path.c_str(), 0666), 0);
    chmod(path.c_str(), 0666);
    // Both ends, so that no task waits to open it, nor is it ever at its end.
    *file = OpenFile(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  }
}

ShimRun::~ShimRun() {
  for (const int attempt : attempts_) {
    auto adoption = Adopt(AttemptFolder(attempt));
    if (!adoption.ok() || !adoption->shim) continue;
    EXPECT_TRUE(adoption->shim->Kill().ok());
    EXPECT_TRUE(IsReadable(adoption->shim->fd()));
  }
  // Volumes are removed at the same time.
  EXPECT_TRUE(Eventually([this] {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
    return !error;
  }));
}

std::string ShimRun::AttemptFolder(int attempt) const {
  return folder_ + "/job/worker-0/" + std::to_string(attempt);
}

ShimSpec ShimRun::Script(const std::string& script) const {
  return ShimSpec{.command = {"/bin/sh", "-c", script},
                  .environment = {"PATH=/usr/bin:/bin", "SAY=" + said(),
                                  "HEAR=" + heard(), "SHIM_TASK=" SHIM_TASK},
                  .output = "output"};
}

Shim ShimRun::Start(const ShimSpec& spec, int attempt) {
  attempts_.push_back(attempt);
  auto shim = Launch(MUSTER_SHIM, AttemptFolder(attempt), spec);
  if (!shim.ok()) {
    ADD_FAILURE() << shim.status();
    std::abort();  // No test goes on without.
  }
  return *std::move(shim);
}

ShimExit ShimRun::End(Shim* shim) {
  EXPECT_TRUE(IsReadable(shim->fd()));
  const auto exit = shim->Exit();
  EXPECT_TRUE(exit.ok()) << exit.status();
  return exit.ok() ? *exit : ShimExit{.code = -1};
}

ShimExit ShimRun::Run(const ShimSpec& spec, int attempt) {
  Shim shim = Start(spec, attempt);
  return End(&shim);
}

std::string ShimRun::Output(int attempt) const {
  // Where lines are counted, a program in an image says of each file of counts
  // that it cannot be written there.
  const auto is_the_tasks = [](absl::string_view line) {
    return !absl::StartsWith(line, "profiling:");
  };
  return absl::StrJoin(
      absl::StrSplit(ReadText(AttemptFolder(attempt) + "/output"), '\n',
                     is_the_tasks),
      "\n");
}

std::string ShimRun::Line() {
  for (;;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (!IsReadable(say_.fd())) {
      ADD_FAILURE() << "the task says nothing";
      return "";
    }
    char block[4096];
    const ssize_t count = read(say_.fd(), block, sizeof(block));
    if (count > 0) unread_.append(block, static_cast<size_t>(count));
  }
}

int32_t ShimRun::Number() { return std::atoi(Line().c_str()); }

void ShimRun::Tell(const std::string& line) const {
  const std::string text = line + "\n";
  EXPECT_EQ(write(hear_.fd(), text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
}

}  // namespace muster::local
