// A field of a gang is its own, or shared by gangs that are alike.
#include "lib/scheduler/gang_own.h"

#include <gtest/gtest.h>

#include <tuple>

#include "muster/fields/gang.h"

namespace muster {
namespace {

// Whoever adds a field to Gang says in gang_own.h which it is. Its queue and
// its priority class are neither.
TEST(GangOwnTest, EachFieldIsEither) {
  Gang gang;
  size_t fields = 0;
  VisitFields(gang, [&](int, const char*, const auto&) { ++fields; });
  size_t own = 0;
  GangOwn values;
  GangOwn::Each(gang, values, [&](const auto&, const auto&) { ++own; });
  const size_t shared = std::tuple_size_v<decltype(SharedFields(gang))>;
  EXPECT_EQ(own + shared + 2, fields);
}

TEST(GangOwnTest, WithoutGroupsItHasARoot) {
  Gang with, without;
  with.groups.emplace_back();
  EXPECT_EQ(SharedFields(with), SharedFields(without));
  with.groups[0].name = "all";
  EXPECT_NE(SharedFields(with), SharedFields(without));
}

}  // namespace
}  // namespace muster
