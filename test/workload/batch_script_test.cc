// Scripts for sbatch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Script(std::string_view options) {
  return "#!/bin/sh\n#SBATCH " + std::string(options) + "\necho hi\n";
}
Job ScriptJob(std::string_view options) {
  return ParseOne(Script(options)).job;
}

TEST(BatchScriptTest, TheScriptRunsInTheFirstOfItsPlaces) {
  const Job job = JobOf("sbatch");
  EXPECT_EQ(job.name, "bert");
  EXPECT_EQ(job.scheduling.queue, "short");
  EXPECT_EQ(job.active_deadline, ((36 * 60 + 30) * 60) * kSecond);
  const TaskTemplate& task = job.roles[0].task;
  EXPECT_EQ(task.script, ManifestOf("sbatch"));
  EXPECT_EQ(task.Requested("cpu"), 8000);
  EXPECT_EQ(task.Requested("memory"), int64_t{16} << 30);  // A quarter of 64G.
  EXPECT_EQ(task.Requested("nvidia.com/gpu"), 1);
  EXPECT_EQ(job.roles[1].replicas, 7u);
  EXPECT_EQ(job.roles[1].task.requests, task.requests);
}

TEST(BatchScriptTest, ReadsTimes) {
  const std::pair<const char*, int64_t> kRows[] = {
      {"30", 1800},     {"30:05", 1805},     {"2:00:01", 7201},
      {"1-12", 129600}, {"1-12:30", 131400}, {"1-12:30:05", 131405},
      {"0", 0}};
  for (const auto& [text, seconds] : kRows) {
    EXPECT_EQ(ScriptJob(std::string("-t ") + text).active_deadline,
              seconds * kSecond)
        << text;
  }
  EXPECT_THAT(Refusal(Script("-t soon")), HasSubstr("line 2: -t: 'soon'"));
}

TEST(BatchScriptTest, ReadsArrays) {
  EXPECT_THAT(ScriptJob("-a 1,3,5-7").array.indexes,
              ElementsAre(1, 3, 5, 6, 7));
  const Job job = ScriptJob("--array=0-9:4 -J sweep");
  EXPECT_THAT(job.array.indexes, ElementsAre(0, 4, 8));
  const auto element = ArrayElement(job, 4);
  ASSERT_TRUE(element.ok());
  EXPECT_EQ(element->name, "sweep_4");
  EXPECT_TRUE(element->array.indexes.empty());
  std::string env;
  for (const EnvVar& v : element->roles[0].task.env) {
    env += v.name + "=" + v.value + " ";
  }
  EXPECT_EQ(env,
            "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=3 "
            "SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=8 "
            "SLURM_ARRAY_TASK_STEP=4 ");
  EXPECT_FALSE(ArrayElement(job, 5).ok());
  EXPECT_EQ(ScriptJob("--array=0-9").array.at_once, 0u);
  EXPECT_EQ(ScriptJob("--array=0-9%2").array.at_once, 2u);
  EXPECT_EQ(ScriptJob("--array=0-9%2").array.indexes.size(), 10u);
  for (const char* wrong : {"-a 0-9%", "-a 0-9%0", "-a 0-9%x", "-a %2"}) {
    EXPECT_THAT(Refusal(Script(wrong)), HasSubstr("-a: ")) << wrong;
  }
  EXPECT_THAT(Refusal(Script("-a 1-0")), HasSubstr("-a: '1-0'"));
  EXPECT_THAT(Refusal(Script("-a 0-3999999:4294967295,0-100000")),
              HasSubstr("indexes"));
}

TEST(BatchScriptTest, SaysWhatIsNotSupported) {
  for (const char* option :
       {"--dependency=afterok:1", "-d singleton", "--begin=now+1hour",
        "-w node1", "-C gpu", "--licenses=x", "--no-such-option"}) {
    const auto status = Parse(Script(option)).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << option << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("not supported yet"));
  }
}

TEST(BatchScriptTest, TellsIgnoredOptions) {
  const ParsedJob parsed =
      ParseOne(Script("-A me --mail-type=END --nice # a comment"));
  ASSERT_EQ(parsed.ignored.size(), 3u);
  EXPECT_EQ(parsed.ignored[0].path, "--account");
  EXPECT_EQ(parsed.ignored[1].path, "--mail-type");
  EXPECT_EQ(parsed.ignored[2].line, 2);
}

TEST(BatchScriptTest, LooksNoFurtherThanTheFirstCommand) {
  const Job job =
      ParseOne(
          "#!/bin/sh\n# a remark\n\n#SBATCH -J one\ntrue\n#SBATCH -J two\n")
          .job;
  EXPECT_EQ(job.name, "one");
}

TEST(BatchScriptTest, QuotesKeepBlanks) {
  const Job job = ScriptJob("--job-name=\"my job\" -o 'out %j.txt'");
  EXPECT_EQ(job.name, "my job");
  EXPECT_EQ(job.roles[0].task.output, "out %j.txt");
  EXPECT_THAT(Refusal(Script("-J \"open")), HasSubstr("quote is not closed"));
  EXPECT_THAT(Refusal(Script("-J ../x")), HasSubstr("metadata.name"));
}

TEST(BatchScriptTest, GpusMustShareOut) {
  EXPECT_EQ(
      ScriptJob("-n 4 --gpus=8").roles[0].task.Requested("nvidia.com/gpu"), 2);
  EXPECT_THAT(Refusal(Script("-n 3 -G 4")), HasSubstr("do not share out"));
}

TEST(BatchScriptTest, SizesThatAreTooLargeAreRefused) {
  // 2^32 tasks, which 32 bits take for none.
  EXPECT_THAT(Refusal(Script("-N 65536 --ntasks-per-node=65536 -G 8")),
              HasSubstr("'4294967296' is not what is allowed: 100000 tasks"));
  EXPECT_THAT(Refusal(Script("-c 100000 --mem-per-cpu=1024T")),
              HasSubstr("1125899906842624 bytes for each of 100000"));
  EXPECT_THAT(Refusal(Script("--gpus-per-task=100000 --mem-per-gpu=1024T")),
              HasSubstr("1125899906842624 bytes for each of 100000"));
  EXPECT_THAT(Refusal(Script("-t 1000000-0")),
              HasSubstr("line 2: -t: '1000000-0'"));
}

TEST(BatchScriptTest, HoldExclusiveAndNoRequeue) {
  const Job job = ScriptJob("-H --exclusive --no-requeue --export=ALL,A=b");
  EXPECT_TRUE(job.suspend);
  EXPECT_TRUE(job.roles[0].task.whole_node);
  EXPECT_FALSE(job.requeue);
  EXPECT_EQ(job.roles[0].task.env[0], (EnvVar{.name = "A", .value = "b"}));
}

}  // namespace
}  // namespace muster::workload
