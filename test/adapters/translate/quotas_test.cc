#include "adapters/translate/quotas.h"

#include <gtest/gtest.h>

#include "muster/resources.h"

namespace muster::translate {
namespace {

constexpr int64_t kAll = Resources::kMaxQuantity;

TEST(QuotasTest, NominalQuotasBorrowInsideACohortOnly) {
  const struct {
    NominalQuota quota;
    bool in_cohort;
    Quota to;
  } cases[] = {{{.nominal = 8}, false, {.guarantee = 8, .limit = 8}},
               {{.nominal = 8, .borrowing_limit = 4},
                false,
                {.guarantee = 8, .limit = 8}},
               {{.nominal = 8}, true, {.guarantee = 8}},
               {{.nominal = 8, .borrowing_limit = 4},
                true,
                {.guarantee = 8, .borrow_limit = 4}},
               {{.nominal = 8, .borrowing_limit = 0, .lending_limit = 3},
                true,
                {.guarantee = 8, .borrow_limit = 0, .lend_limit = 3}},
               {{.nominal = INT64_MAX, .borrowing_limit = INT64_MAX},
                true,
                {.guarantee = kAll, .borrow_limit = kAll}}};
  for (const auto& c : cases) {
    Quota to = c.to;
    to.resource = "gpu";
    EXPECT_EQ(ToQuota("gpu", c.quota, c.in_cohort), to)
        << c.quota.nominal << " " << c.in_cohort;
  }
}

TEST(QuotasTest, APolicyOfPreemptionIsReadInKueuesWords) {
  const auto none = ToPreemptionPolicy({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, (PreemptionPolicy{.within = PreemptWithin::kNever,
                                     .across = PreemptAcross::kNever,
                                     .borrowing = PreemptBorrowing::kNever}));
  const auto all = ToPreemptionPolicy(
      {"LowerOrNewerEqualPriority", "Any", "LowerPriority", 7});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, (PreemptionPolicy{.within = PreemptWithin::kLowerOrNewerEqual,
                                    .across = PreemptAcross::kAny,
                                    .borrowing = PreemptBorrowing::kLower,
                                    .borrowing_threshold = 7}));
  const auto lower =
      ToPreemptionPolicy({"LowerPriority", "LowerPriority", "Never", {}});
  ASSERT_TRUE(lower.ok());
  EXPECT_EQ(lower->within, PreemptWithin::kLower);
  EXPECT_EQ(lower->across, PreemptAcross::kLower);
}

TEST(QuotasTest, AWordThatAFieldDoesNotKnowIsRefused) {
  EXPECT_EQ(ToPreemptionPolicy({"Any", "", "", {}}).status().message(),
            "withinClusterQueue: 'Any' is not known");
  EXPECT_EQ(ToPreemptionPolicy({"", "Some", "", {}}).status().message(),
            "reclaimWithinCohort: 'Some' is not known");
  EXPECT_EQ(ToPreemptionPolicy({"", "", "Any", {}}).status().message(),
            "borrowWithinCohort.policy: 'Any' is not known");
}

TEST(QuotasTest, SharesAreGuaranteedAndWhatIsKeptIsNotLent) {
  const struct {
    ShareQuota quota;
    bool all_if_unset;
    Quota to;
  } cases[] = {
      {{}, false, {}},
      {{}, true, {.guarantee = kAll}},
      {{.share = 4, .limit = 9}, true, {.guarantee = 4, .limit = 9}},
      {{.limit = 9}, true, {.guarantee = 9, .limit = 9}},
      {{.limit = 9}, false, {.limit = 9}},
      {{.share = 9, .limit = 4}, false, {.guarantee = 4, .limit = 4}},
      {{.share = 4, .kept = 1}, false, {.guarantee = 4, .lend_limit = 3}},
      {{.share = 4, .kept = 6}, false, {.guarantee = 6, .lend_limit = 0}},
      {{.share = 4, .kept = 0}, false, {.guarantee = 4}}};
  for (const auto& c : cases) {
    Quota to = c.to;
    to.resource = "gpu";
    EXPECT_EQ(ToQuota("gpu", c.quota, c.all_if_unset), to)
        << c.quota.share.value_or(-1) << " " << c.quota.limit.value_or(-1)
        << " " << c.quota.kept.value_or(-1) << " " << c.all_if_unset;
  }
}

}  // namespace
}  // namespace muster::translate
