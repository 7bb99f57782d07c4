// 256 codes in the dialects that differ by them.
#include <gtest/gtest.h>

#include <set>

#include "muster/workload/life.h"

namespace muster::workload {
namespace {

constexpr auto kExited = ExitReason::kExited;

// KubeDL's comments and its code disagree about 128 and above: defect 11. What
// its code does holds for its manifests.
TEST(ExitClassTest, CodesThatAreRetriedDifferByDialect) {
  const std::set<int> four = {130, 137, 138, 143};
  for (int code = 0; code < 256; ++code) {
    const ExitClass kubedl = Classify(
        RestartPolicy::kExitCode, RetryableCodes::kFourSignals, code, kExited);
    const ExitClass kubeflow = Classify(
        RestartPolicy::kExitCode, RetryableCodes::kSignals, code, kExited);
    const ExitClass batch = Classify(RestartPolicy::kReplace,
                                     RetryableCodes::kSignals, code, kExited);
    if (code == 0) {
      EXPECT_EQ(kubedl, ExitClass::kSuccess);
      EXPECT_EQ(kubeflow, ExitClass::kSuccess);
      EXPECT_EQ(batch, ExitClass::kSuccess);
      continue;
    }
    EXPECT_EQ(kubedl, four.contains(code) ? ExitClass::kRetryable
                                          : ExitClass::kPermanent)
        << code;
    EXPECT_EQ(kubeflow,
              code >= 128 ? ExitClass::kRetryable : ExitClass::kPermanent)
        << code;
    EXPECT_EQ(batch, ExitClass::kRetryable) << code;
    EXPECT_EQ(Classify(RestartPolicy::kNever, RetryableCodes::kSignals, code,
                       kExited),
              ExitClass::kPermanent);
    EXPECT_EQ(Classify(RestartPolicy::kOnFailure, RetryableCodes::kSignals,
                       code, kExited),
              ExitClass::kRetryable);
  }
}

TEST(ExitClassTest, WhatIsNobodysFailureIsFreeUnderEveryPolicy) {
  for (const RestartPolicy policy :
       {RestartPolicy::kNever, RestartPolicy::kOnFailure,
        RestartPolicy::kAlways, RestartPolicy::kExitCode,
        RestartPolicy::kReplace}) {
    for (const ExitReason reason :
         {ExitReason::kNodeLost, ExitReason::kPreempted, ExitReason::kLost}) {
      EXPECT_EQ(Classify(policy, RetryableCodes::kFourSignals, 1, reason),
                ExitClass::kFree);
    }
  }
}

TEST(ExitClassTest, WhatMayBeTheMachinesFaultIsNotTheProgramsOwnEnd) {
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(MayBeMachinesFault(code, kExited),
              (std::set<int>{134, 135, 137}.contains(code)))
        << code;
    EXPECT_EQ(MayBeMachinesFault(code, ExitReason::kNotStarted),
              code != 126 && code != 127);
    EXPECT_TRUE(MayBeMachinesFault(code, ExitReason::kLost));
    EXPECT_TRUE(MayBeMachinesFault(code, ExitReason::kNodeLost));
    EXPECT_FALSE(MayBeMachinesFault(code, ExitReason::kOutOfMemory));
    EXPECT_FALSE(MayBeMachinesFault(code, ExitReason::kPreempted));
  }
}

TEST(ExitClassTest, AlwaysMeansAfterSuccessToo) {
  EXPECT_EQ(
      Classify(RestartPolicy::kAlways, RetryableCodes::kSignals, 0, kExited),
      ExitClass::kRetryable);
}

}  // namespace
}  // namespace muster::workload
