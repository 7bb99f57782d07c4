#include "adapters/kubernetes/controller/gang_book.h"

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GroupRef Named(const std::string& name) {
  return {GroupKind::kPodGroup, "ns", name};
}

std::vector<std::string> Names(std::span<GangRecord* const> gangs) {
  std::vector<std::string> names;
  names.reserve(gangs.size());
  for (const GangRecord* gang : gangs) names.push_back(gang->ref.name);
  return names;
}

TEST(GangBookTest, WhoIsTouchedIsGivenOnceAsItWasTouched) {
  GangBook book;
  for (const char* name : {"b", "c", "a"}) book.Touch(&book.Of(Named(name)));
  book.Touch(Named("c"));
  book.Touch(Named("nobody"));
  EXPECT_EQ(book.next_touched(5), 5);
  EXPECT_THAT(Names(book.TakeTouched(5)), ElementsAre("b", "c", "a"));
  EXPECT_THAT(book.TakeTouched(5), IsEmpty());
  EXPECT_EQ(book.next_touched(5), kForever);
}

TEST(GangBookTest, AGangThatIsErasedIsInNoList) {
  GangBook book;
  for (const char* name : {"a", "b", "c"}) {
    GangRecord& gang = book.Of(Named(name));
    book.Touch(&gang);
    book.SetUnreported(&gang);
    book.SetOutside(gang.ref);
    book.TouchAt(7, gang.ref);
  }
  book.Erase(book.Find(Named("b")));
  EXPECT_EQ(book.Find(Named("b")), nullptr);
  EXPECT_EQ(book.outside(), 2u);
  EXPECT_THAT(Names(book.TakeTouched(0)), ElementsAre("a", "c"));
  EXPECT_THAT(Names(book.TakeUnreported()), ElementsAre("a", "c"));
  EXPECT_THAT(Names(book.TakeTouched(7)), ElementsAre("a", "c"));

  book.SetUnreported(book.Find(Named("a")));
  book.Erase(book.Find(Named("a")));
  EXPECT_FALSE(book.has_unreported());
  // One that is new has none of the places of the former.
  book.SetUnreported(&book.Of(Named("a")));
  EXPECT_THAT(Names(book.TakeUnreported()), ElementsAre("a"));
}

TEST(GangBookTest, WhoIsOutsideIsTouchedWhenItMayBeLetIn) {
  GangBook book;
  book.SetOutside(book.Of(Named("b")).ref);
  book.SetOutside(book.Of(Named("a")).ref);
  book.Of(Named("c"));
  EXPECT_THAT(book.TakeTouched(0), IsEmpty());
  book.TouchOutside();
  EXPECT_THAT(Names(book.TakeTouched(0)), ElementsAre("a", "b"));
  EXPECT_EQ(book.outside(), 0u);
}

// Against a map, as gangs come and go.
TEST(GangBookTest, AllAreInOrder) {
  GangBook book;
  std::map<GroupRef, const GangRecord*> expected;
  std::mt19937_64 random(7);
  for (int step = 0; step < 5'000; ++step) {
    const GroupRef ref{random() % 2 == 0 ? GroupKind::kPod : GroupKind::kOwner,
                       "ns" + std::to_string(random() % 3),
                       std::to_string(random() % 100)};
    if (GangRecord* const known = book.Find(ref); known == nullptr) {
      expected[ref] = &book.Of(ref);
    } else if (random() % 3 == 0) {
      book.Erase(known);
      expected.erase(ref);
    }
    if (random() % 10 != 0) continue;
    const auto all = book.all();
    ASSERT_EQ(all.size(), expected.size());
    ASSERT_EQ(book.size(), expected.size());
    ASSERT_TRUE(std::ranges::equal(
        all, expected, [](const GangRecord* gang, const auto& entry) {
          return gang == entry.second && gang->ref == entry.first;
        }));
  }
  EXPECT_GT(expected.size(), 100u);
}

}  // namespace
}  // namespace muster::kubernetes
