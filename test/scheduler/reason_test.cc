// Reasons as text, and their page.
#include "muster/reason.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "muster/ids.h"

namespace muster {
namespace {

TEST(ReasonTest, AmountsAreTold) {
  EXPECT_EQ(ToText({.code = ReasonCode::kInsufficient,
                    .object_kind = ReasonObject::kRole,
                    .object = "worker",
                    .resource = "gpu",
                    .needed = 4000,
                    .available = 1000}),
            "insufficient (role worker): needs 4000 gpu, 1000 available");
  EXPECT_EQ(ToText({.code = ReasonCode::kNoDomain, .needed = 4}),
            "no-domain: needs 4 tasks, 0 available");
  EXPECT_EQ(ToText({.code = ReasonCode::kFits}), "fits");
}

TEST(ReasonTest, TimesAreToldAsTimes) {
  EXPECT_EQ(
      ToText({.code = ReasonCode::kNotBefore, .needed = kHour, .available = 0}),
      "not-before: until 3600 s, now 0 s");
  EXPECT_EQ(ToText({.code = ReasonCode::kBackoff,
                    .needed = 20 * kSecond,
                    .available = 10 * kSecond + 500 * kMillisecond}),
            "backoff: until 20 s, now 10500 ms");
}

// Each line of a table in docs/reasons.md begins with a code.
TEST(ReasonTest, ThePageHasEveryReasonAndNoOther) {
  std::ifstream page(MUSTER_REASONS_PAGE);
  ASSERT_TRUE(page.good()) << MUSTER_REASONS_PAGE;
  std::set<std::string> described;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ")) continue;
    const std::string code = line.substr(2, line.find(" |", 2) - 2);
    if (!code.starts_with("of ")) described.insert(code);  // No table's head.
  }
  std::set<std::string> known;
  for (const std::string_view name : EnumNames(ReasonCode{})) {
    known.emplace(name);
  }
  known.erase("none");
  EXPECT_EQ(described, known);
}

}  // namespace
}  // namespace muster
