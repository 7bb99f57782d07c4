// HiGHS, which ./dev setup installs, as an oracle.
#pragma once

#include <string>

namespace muster::solver_test {

struct ProgramAnswer {
  std::string skipped{};  // Why it could not be asked; else empty.
  int status = -1;        // The script's exit status; -1: it did not exit.
  std::string output{};
};

// Runs a script, named by its path in test/, with the questions as its input.
// Tests run in the root of the source tree.
ProgramAnswer AskIntegerProgram(const std::string& script,
                                const std::string& questions);

}  // namespace muster::solver_test
