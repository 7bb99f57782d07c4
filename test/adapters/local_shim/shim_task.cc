// Tasks that a shell cannot be: shim_task MODE ARGUMENT...
//
//   bomb COUNT FIFO   COUNT processes, which fork another one whenever a child
//                     ends, 50 COUNT in all; writes "full" to the FIFO when
//                     there are COUNT
//   heed CODE         writes its number to $SAY, prints "saved" on SIGTERM, and
//                     exits
//   hear              writes its number to $SAY, and "heard" on each SIGTERM
//   memory BYTES      has so much memory, then a SIGKILL ends it
//   signals           prints the signals that are blocked and ignored
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

// Shared by all processes of the bomb.
std::atomic<int>* forks = nullptr;
int most = 0;

void Pause() {
  for (;;) pause();
}

// In the handler, so that it is still done when children are killed.
void ForkAnother(int) {
  if (forks->fetch_add(1) < most) fork();  // The child waits, as its parent.
}

int Bomb(int count, const char* fifo) {
  forks = static_cast<std::atomic<int>*>(
      mmap(nullptr, sizeof(*forks), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  most = 50 * count;
  std::signal(SIGCHLD, ForkAnother);
  std::signal(SIGTERM, SIG_IGN);
  // Each has two children, until there are enough.
  for (int children = 0; forks->fetch_add(1) < count - 1;) {
    const pid_t pid = fork();
    if (pid == 0) {
      children = 0;
      if (forks->load() % 3 == 0) setsid();
    } else if (++children == 2) {
      Pause();
    }
  }
  const int file = open(fifo, O_WRONLY);
  if (write(file, "full\n", 5) != 5) return 1;
  close(file);
  Pause();
  return 0;
}

void Say(const std::string& line) {
  std::ofstream(std::getenv("SAY")) << line + "\n";
}

// A shell's trap would not do: a signal just before it waits does not wake it.
void AwaitTerm() {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  int signal = 0;
  sigwait(&term, &signal);
}

void BeginToHear() {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  Say(std::to_string(getpid()));
}

int Heed(int code) {
  BeginToHear();
  AwaitTerm();
  std::cout << "saved\n";
  return code;
}

int Hear() {
  BeginToHear();
  for (;;) {
    AwaitTerm();
    Say("heard");
  }
}

int Memory(size_t bytes) {
  std::vector<char> memory(bytes, 'x');
  std::raise(SIGKILL);
  return memory.back();
}

int Signals() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk") || line.starts_with("SigIgn")) {
      std::cout << line << "\n";
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "bomb" && argc == 4) return Bomb(std::atoi(argv[2]), argv[3]);
  if (mode == "heed" && argc == 3) return Heed(std::atoi(argv[2]));
  if (mode == "hear") return Hear();
  if (mode == "memory" && argc == 3) {
    return Memory(std::strtoull(argv[2], nullptr, 10));
  }
  if (mode == "signals") return Signals();
  return 2;
}
