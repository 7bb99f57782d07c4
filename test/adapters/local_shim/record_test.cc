// The files of an attempt, as bytes.
#include <gtest/gtest.h>

#include "adapters/local/shim/shim_exit.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/shim_start.h"

namespace muster::local {
namespace {

ShimSpec FullSpec() {
  return ShimSpec{.command = {"python", "train.py", "", "a=b\nc"},
                  .environment = {"PATH=/bin", "EMPTY=", "TEXT=x=y\n"},
                  .directory = "/data",
                  .output = "output",
                  .error = "/tmp/error",
                  .append = true,
                  .user = ShimUser{.uid = 1000, .gid = 100, .groups = {4, 27}},
                  .cpus = {0, 3},
                  .cpuset = true,
                  .umask = 027,
                  .open_files = 4096,
                  .time_limit = 90 * kSecond,
                  .grace = 5 * kSecond,
                  .memory_limit = int64_t{8} << 30,
                  .cgroup = "/sys/fs/cgroup/muster/1",
                  .cpu_max = "50000 100000",
                  .cpu_weight = 250};
}

TEST(ShimRecordTest, ASpecIsReadAsItWasWritten) {
  for (const ShimSpec& spec : {FullSpec(), ShimSpec{.command = {"true"}}}) {
    ShimSpec read;
    ASSERT_TRUE(Decode(Encode(spec), &read));
    EXPECT_EQ(read, spec);
  }
}

TEST(ShimRecordTest, AnExitAndAStartAreReadAsTheyWereWritten) {
  const ShimExit exit{.code = 137,
                      .reason = ShimReason::kOutOfMemory,
                      .message = "a: b",
                      .started = 5 * kSecond,
                      .ended = 9 * kSecond,
                      .ran = 4 * kSecond,
                      .user_time = 3,
                      .system_time = 2,
                      .max_rss = 1 << 20,
                      .left = 1};
  ShimExit exit_read;
  ASSERT_TRUE(Decode(Encode(exit), &exit_read));
  EXPECT_EQ(exit_read, exit);
  const ShimStart start{.task = {.pid = 10, .start = 1000},
                        .shim = {.pid = 9, .start = 999},
                        .boot = "b00t",
                        .at = kSecond};
  ShimStart start_read;
  ASSERT_TRUE(Decode(Encode(start), &start_read));
  EXPECT_EQ(start_read, start);
}

TEST(ShimRecordTest, AnyPartOfAFileIsNone) {
  const std::string bytes = Encode(FullSpec());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ShimSpec spec;
    EXPECT_FALSE(Decode(bytes.substr(0, size), &spec)) << size;
  }
  ShimSpec spec;
  EXPECT_FALSE(Decode(bytes + "x", &spec));
}

TEST(ShimRecordTest, WhatASpecCannotSayIsToldByItsField) {
  const auto problem = [](auto change) {
    ShimSpec spec = FullSpec();
    change(spec);
    return ProblemOf(spec).substr(0, ProblemOf(spec).find(':'));
  };
  EXPECT_EQ(problem([](ShimSpec&) {}), "");
  EXPECT_EQ(problem([](ShimSpec& s) { s.command.clear(); }), "command");
  EXPECT_EQ(problem([](ShimSpec& s) { s.command[1] = std::string("a\0b", 3); }),
            "command");
  EXPECT_EQ(problem([](ShimSpec& s) { s.environment = {"NAME"}; }),
            "environment");
  EXPECT_EQ(problem([](ShimSpec& s) { s.environment = {"=x"}; }),
            "environment");
  EXPECT_EQ(problem([](ShimSpec& s) { s.directory = "data"; }), "directory");
  for (const char* name : {"../up", "..", "a/b", "exit", "exit.new", "lock",
                           "spec", "started", "grace"}) {
    EXPECT_EQ(problem([name](ShimSpec& s) { s.output = name; }), "output");
    EXPECT_EQ(problem([name](ShimSpec& s) { s.error = name; }), "error");
  }
  EXPECT_EQ(problem([](ShimSpec& s) { s.cpus = {1024}; }), "cpus");
  EXPECT_EQ(problem([](ShimSpec& s) { s.cpus = {}; }), "cpuset");
  EXPECT_EQ(problem([](ShimSpec& s) { s.umask = 01000; }), "umask");
  EXPECT_EQ(problem([](ShimSpec& s) { s.open_files = 2; }), "open_files");
  EXPECT_EQ(problem([](ShimSpec& s) { s.time_limit = -1; }), "time_limit");
  EXPECT_EQ(problem([](ShimSpec& s) { s.grace = kForever; }), "grace");
  EXPECT_EQ(problem([](ShimSpec& s) { s.memory_limit = -1; }), "memory_limit");
  EXPECT_EQ(problem([](ShimSpec& s) { s.cgroup = "x"; }), "cgroup");
  EXPECT_EQ(problem([](ShimSpec& s) { s.cgroup.clear(); }), "cpu_max");
  EXPECT_EQ(problem([](ShimSpec& s) { s.cpu_weight = 10'001; }), "cpu_weight");
  EXPECT_EQ(problem([](ShimSpec& s) {
              s.cgroup.clear();
              s.cpu_max.clear();
            }),
            "cpu_weight");
}

}  // namespace
}  // namespace muster::local
