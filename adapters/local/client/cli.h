// The command line of `muster`.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace muster::local {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

// Runs one command; `arguments` without the program's name. What the program
// ends with: see session.h.
int RunMuster(const std::vector<std::string>& arguments, const Streams& to);

}  // namespace muster::local
