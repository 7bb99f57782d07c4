#include "adapters/serve/query.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(QueryTest, ParametersAreDecoded) {
  EXPECT_THAT(*ParseQuery("namespace=a%2Fb&group=x+y&empty=&flag"),
              ElementsAre(Pair("empty", ""), Pair("flag", ""),
                          Pair("group", "x y"), Pair("namespace", "a/b")));
  EXPECT_THAT(*ParseQuery(""), IsEmpty());
}

TEST(QueryTest, WhatIsAmbiguousOrBrokenIsRefused) {
  std::string many = "a0";
  for (int i = 1; i < 17; ++i) many += "&a" + std::to_string(i);
  for (const std::string& query : {std::string("a=1&a=2"), std::string("a=%2"),
                                   std::string("a=%zz"), many}) {
    EXPECT_EQ(ParseQuery(query).status().code(),
              absl::StatusCode::kInvalidArgument)
        << query;
  }
}

}  // namespace
}  // namespace muster::serve
