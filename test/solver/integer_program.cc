#include "test/solver/integer_program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace muster::solver_test {
namespace {

constexpr int kNotInstalled = 77;  // The script says so.
constexpr int kNoPython = 127;     // The shell says so.

// The Python that has the solver.
std::string Python() {
  if (const char* named = std::getenv("MUSTER_ORACLE_PYTHON")) return named;
  const std::string own = "build/oracle-venv/bin/python";
  return std::ifstream(own).good() ? own : "python3";
}

}  // namespace

ProgramAnswer AskIntegerProgram(const std::string& script,
                                const std::string& questions) {
  ProgramAnswer answer;
  const std::string name = script.substr(script.rfind('/') + 1);
  const std::string path = testing::TempDir() + name + "_" +
                           std::to_string(getpid()) + "_questions.json";
  std::ofstream(path) << questions;
  const std::string command = Python() + " test/" + script + " <" + path;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return answer;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) {
    answer.output += static_cast<char>(c);
  }
  const int status = pclose(pipe);
  std::remove(path.c_str());
  if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  if (answer.status == kNoPython) answer.skipped = "no python3";
  if (answer.status == kNotInstalled) answer.skipped = "no highspy";
  return answer;
}

}  // namespace muster::solver_test
