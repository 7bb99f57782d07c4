// top: queue and devices, live.
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <iostream>
#include <ostream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/queue_text.h"
#include "adapters/local/client/tables.h"

namespace muster::local {
namespace {

constexpr int kEvery = 1'000;  // Milliseconds.

// Keys come one by one and are not shown, Ctrl-C too, so that the terminal is
// as it was before at the end.
class RawTerminal {
 public:
  RawTerminal() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    changed_ = true;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  ~RawTerminal() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_ = {};
  bool changed_ = false;
};

absl::StatusOr<std::string> Page(Session* session, bool all) {
  const auto nodes = session->Ask("GET", "/v1/nodes");
  if (!nodes.ok()) return nodes.status();
  const std::string mine = absl::StrCat("&uid=", session->uid());
  const auto jobs =
      session->AskText("GET", "/v1/jobs?why=1" + (all ? "" : mine));
  if (!jobs.ok()) return jobs.status();
  return NodesText(*nodes) + "\n" + QueueText(*jobs, session->Now(), all);
}

// As many lines and columns as the terminal has: nothing is wrapped or scrolls.
std::string Fitted(const std::string& page) {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
    return page;
  }
  std::istringstream lines(page);
  std::string fitted;
  std::string line;
  for (unsigned row = 1; row < size.ws_row && std::getline(lines, line);
       ++row) {
    size_t columns = 0;
    size_t end = 0;
    for (; end < line.size(); ++end) {
      const bool begins =
          (static_cast<unsigned char>(line[end]) & 0xC0) != 0x80;
      if (begins && columns++ == size.ws_col) break;
    }
    fitted += line.substr(0, end) + "\033[K\n";
  }
  return fitted;
}

// True: it is over.
bool WaitForQ() {
  pollfd key = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&key, 1, kEvery) <= 0) return false;
  constexpr char kControlC = 3;
  char c = 0;
  return read(STDIN_FILENO, &c, 1) <= 0 || c == 'q' || c == kControlC;
}

}  // namespace

int Top(Session* session, bool all) {
  const bool live = !session->json() && &session->out() == &std::cout &&
                    isatty(STDOUT_FILENO) == 1 && isatty(STDIN_FILENO) == 1;
  if (!live) {
    const auto page = Page(session, all);
    if (!page.ok()) return session->Fail(page.status());
    if (session->json()) return ShowQueue(session, all);
    session->out() << *page;
    return kDone;
  }
  const RawTerminal raw;
  for (;;) {
    const auto page = Page(session, all);
    if (!page.ok()) return session->Fail(page.status());
    session->out() << "\033[H" << Fitted(*page) << "\033[J" << std::flush;
    if (WaitForQ()) return kDone;
  }
}

}  // namespace muster::local
