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
                {.guarantee = 8, .limit = 12}},
               {{.nominal = 8, .borrowing_limit = 0, .lending_limit = 3},
                true,
                {.guarantee = 8, .limit = 8, .lend_limit = 3}},
               {{.nominal = INT64_MAX, .borrowing_limit = INT64_MAX},
                true,
                {.guarantee = kAll, .limit = kAll}}};
  for (const auto& c : cases) {
    Quota to = c.to;
    to.resource = "gpu";
    EXPECT_EQ(ToQuota("gpu", c.quota, c.in_cohort), to)
        << c.quota.nominal << " " << c.in_cohort;
  }
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
