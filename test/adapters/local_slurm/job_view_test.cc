#include "adapters/local/slurm/job_view.h"

#include <nlohmann/json.hpp>
#include <string>

#include "adapters/local/slurm/queue_json.h"
#include "gtest/gtest.h"

namespace muster::local::slurm {
namespace {

Json Ended(const std::string& phase, int code, const std::string& reason = "") {
  return {{"phase", phase}, {"exit_code", code}, {"reason", reason}};
}

TEST(JobViewTest, PhasesAreStatesOfSlurm) {
  const struct {
    Json job;
    const char* state;
    const char* code;
  } rows[] = {{{{"phase", "new"}}, "PENDING", "PD"},
              {{{"phase", "queued"}}, "PENDING", "PD"},
              {{{"phase", "running"}}, "RUNNING", "R"},
              {{{"phase", "checkpointing"}}, "COMPLETING", "CG"},
              {{{"phase", "stopping"}}, "COMPLETING", "CG"},
              {{{"phase", "backoff"}}, "REQUEUED", "RQ"},
              {{{"phase", "suspended"}}, "SUSPENDED", "S"},
              {Ended("succeeded", 0), "COMPLETED", "CD"},
              {Ended("failed", 3), "FAILED", "F"},
              {Ended("failed", 124, "DeadlineExceeded"), "TIMEOUT", "TO"},
              {Ended("failed", 137, "OutOfMemory"), "OUT_OF_MEMORY", "OOM"},
              {Ended("failed", 143, "Preempted"), "PREEMPTED", "PR"},
              {Ended("forgotten", 143), "CANCELLED", "CA"}};
  for (const auto& [job, state, code] : rows) {
    EXPECT_EQ(StateOf(job), state) << job;
    EXPECT_EQ(ShortState(state), code);
    EXPECT_EQ(ReadState(code).value(), state);
  }
  EXPECT_EQ(ReadState("running").value(), "RUNNING");
  EXPECT_FALSE(ReadState("sleeping").ok());
}

TEST(JobViewTest, ExitCodesArePartedFromSignals) {
  EXPECT_EQ(ExitCodeOf(Ended("failed", 5)).code, 5);
  EXPECT_EQ(ExitCodeOf(Ended("failed", 5)).signal, 0);
  EXPECT_EQ(ExitCodeOf(Ended("failed", 143)).signal, 15);
  EXPECT_EQ(ExitCodeOf(Ended("failed", 143)).code, 0);
  EXPECT_EQ(ExitCodeOf(Ended("failed", 255)).code, 255);
}

TEST(JobViewTest, WhatAJobAsksForIsReadOfItsManifest) {
  const Json job{
      {"manifest",
       "#!/bin/sh\n#SBATCH -n 2 -c 3 --mem=4G -G 2 -t 5 -o %j.txt\ntrue\n"}};
  const auto asked = AskedOf(job);
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->tasks, 2);
  EXPECT_EQ(asked->cpus, 6);
  EXPECT_EQ(asked->limit, 300);
  EXPECT_EQ(asked->output, "%j.txt");
  EXPECT_EQ(TresText(*asked), "cpu=6,mem=4G,node=1,gres/gpu=2");
  EXPECT_FALSE(AskedOf({{"id", 7}}).has_value());
  EXPECT_EQ(GpuText(500), "0.5");
  EXPECT_EQ(MemoryText(int64_t{1536} << 20), "1536M");
}

TEST(JobViewTest, IdsAreThoseOfJobsArraysAndElements) {
  const Json plain{{"id", 7}};
  const Json element{{"id", 9}, {"array", 8}, {"array_index", 3}};
  const struct {
    const char* text;
    bool plain;
    bool element;
  } rows[] = {{"7", true, false},         {"8", false, true},
              {"9", false, true},         {"8_3", false, true},
              {"8_4", false, false},      {"8_[1-4]", false, true},
              {"8_[1,2],7", true, false}, {"8_*", false, true},
              {"6-9", true, true},        {"1,2", false, false}};
  for (const auto& [text, has_plain, has_element] : rows) {
    const auto ids = JobIds::Parse(text);
    ASSERT_TRUE(ids.ok()) << text;
    EXPECT_EQ(ids->Has(plain), has_plain) << text;
    EXPECT_EQ(ids->Has(element), has_element) << text;
  }
  for (const char* text : {"a", "0", "8_[x]", "8_[1-4", "last", "all"}) {
    EXPECT_FALSE(JobIds::Parse(text).ok()) << text;
  }
}

TEST(JobViewTest, AnElementHasTheNameOfItsArray) {
  EXPECT_EQ(NameOfJob({{"name", "sweep_12"}, {"array_index", 12}}), "sweep");
  EXPECT_EQ(NameOfJob({{"name", "sweep_12"}}), "sweep_12");
}

TEST(JobViewTest, IndicesAreWrittenAsRanges) {
  EXPECT_EQ(IndexText({1, 2, 3, 8, 10, 11}), "1-3,8,10-11");
  EXPECT_EQ(IndexText({}), "");
}

}  // namespace
}  // namespace muster::local::slurm
