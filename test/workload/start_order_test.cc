#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

using ::testing::HasSubstr;

TEST(StartOrderTest, AnAnnotationReplacesTheKindsOrder) {
  const Job job = ParseOne(WithOrder("worker=ps:Ready:1, chief; ps=")).job;
  const Role& worker = job.roles[FindRole(job, "worker")];
  ASSERT_EQ(worker.start_after.size(), 2u);
  EXPECT_EQ(worker.start_after[0],
            (StartAfter{FindRole(job, "ps"), StartCondition::kReady, 1}));
  EXPECT_EQ(worker.start_after[1].role, FindRole(job, "chief"));
  // What it does not name stays.
  EXPECT_EQ(job.roles[FindRole(job, "evaluator")].start_after.size(), 1u);
}

TEST(StartOrderTest, CyclesAreToldByTheirPath) {
  EXPECT_THAT(Refusal(WithOrder("ps=worker; worker=chief; chief=ps")),
              HasSubstr("cycle: ps after worker after chief after ps"));
}

TEST(StartOrderTest, ConditionsThatNeverComeTrueAreRefused) {
  EXPECT_THAT(Refusal(WithOrder("worker=ps:Running:3")),
              HasSubstr("starts after 3 tasks of 'ps'"));
  EXPECT_THAT(Refusal(WithOrder("worker=master")),
              HasSubstr("'master' is no role of the job"));
  EXPECT_THAT(Refusal(WithOrder("worker=ps:Done")),
              HasSubstr("'Done' is none of"));
  const std::string mpi = With(ManifestOf("mpi-kubeflow"), "name: hpl",
                               "name: hpl, annotations: {muster.dev/dag: "
                               "\"launcher=worker:Succeeded\"}");
  EXPECT_THAT(Refusal(mpi), HasSubstr("whose tasks never end"));
}

}  // namespace
}  // namespace muster::workload
