// What the program says and ends with, without a daemon.
#include "adapters/local/client/cli.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;

struct Ran {
  int code = 0;
  std::string out{};
  std::string err{};
};

Ran Muster(const std::vector<std::string>& arguments) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunMuster(arguments, {.in = in, .out = out, .err = err});
  return {code, out.str(), err.str()};
}

TEST(CliTest, WithoutADaemonItEndsWithThree) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"submit", "--", "x"},
                                             {"queue"},
                                             {"cancel", "last"},
                                             {"wait", "7"},
                                             {"logs", "-f", "7"},
                                             {"top"},
                                             {"version"},
                                             {"nodes", "--json"}}) {
    std::vector<std::string> arguments{"--socket", "/proc/nonexistent/socket"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    EXPECT_EQ(Muster(arguments).code, 3) << command[0];
  }
}

TEST(CliTest, WhatCannotBeReadEndsWithTwo) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {},
           {"none"},
           {"submit"},
           {"submit", "--gpus", "1.5", "--", "x"},
           {"submit", "--array", "3-1", "--", "x"},
           {"submit", "--tasks", "0", "--", "x"},
           {"submit", "--colour", "red", "--", "x"},
           {"cancel"},
           {"priority", "7"},
           {"queue", "--none"},
           {"apply"},
           {"completion", "fish"}}) {
    EXPECT_EQ(Muster(arguments).code, 2)
        << (arguments.empty() ? "" : arguments[0]);
  }
}

TEST(CliTest, HelpAndVersionNeedNoDaemon) {
  EXPECT_EQ(Muster({"--version"}).code, 0);
  EXPECT_THAT(Muster({"--help"}).out, HasSubstr("submit"));
  EXPECT_THAT(Muster({"submit", "--help"}).out, HasSubstr("--gpu-mem"));
}

TEST(CliTest, ATooLongSocketIsNamed) {
  const Ran ran = Muster({"--socket", std::string(108, 'x'), "queue"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("at most 107 bytes"));
}

TEST(CliTest, CompletionKnowsCommandsAndTheirOptions) {
  const Ran ran = Muster({"completion", "bash"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("what-if"));
  EXPECT_THAT(ran.out, HasSubstr("--gpu-mem"));
  EXPECT_THAT(ran.out, HasSubstr("complete -o default -F _muster muster"));
}

}  // namespace
}  // namespace muster::local
