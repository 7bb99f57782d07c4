// The command line of `muster`.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace muster::local {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

// A command of another part of the program, with words that are its own.
// Returns what the program ends with.
struct OtherCommand {
  std::string name{};
  std::string help{};
  std::function<int(const std::vector<std::string>& words,
                    const std::string& socket, const Streams& to)>
      run{};
};

// Where musterd is asked where nothing is said: at MUSTER_SOCKET, or at one's
// own socket, or at that of the system where there is none of one's own.
std::string FindSocket();

// Runs one command; `arguments` without the program's name. What the program
// ends with: see session.h.
int RunMuster(const std::vector<std::string>& arguments, const Streams& to,
              const std::vector<OtherCommand>& others = {});

}  // namespace muster::local
