#include "adapters/translate/taints.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::translate {
namespace {

TEST(TaintsTest, AnUnknownWordIsNamed) {
  EXPECT_EQ(ToTaint("key", "", "Never").status().message(),
            "effect: expected a taint's effect");
  EXPECT_EQ(ToTaint("key", "", "").status().message(),
            "effect: expected a taint's effect");
  EXPECT_EQ(ToToleration("key", "", "", "Never").status().message(),
            "effect: expected a taint's effect");
  EXPECT_EQ(ToToleration("key", "In", "", "").status().message(),
            "operator: expected Equal or Exists");
}

TEST(TaintsTest, ATolerationIsAboutItsTaintsAlone) {
  const struct {
    const char* key;
    const char* op;
    const char* value;
    const char* effect;
    bool tolerates;  // gpu=only:NoSchedule
  } cases[] = {{"gpu", "", "only", "", true},
               {"gpu", "Equal", "only", "NoSchedule", true},
               {"gpu", "Equal", "only", "NoExecute", false},
               {"gpu", "Equal", "", "", false},
               {"gpu", "Exists", "", "", true},
               {"gpu", "Exists", "another", "", true},
               {"cpu", "Exists", "", "", false},
               {"", "Exists", "", "", true},
               {"", "Exists", "", "NoExecute", false},
               {"", "Equal", "only", "", false}};
  const auto taint = ToTaint("gpu", "only", "NoSchedule");
  ASSERT_TRUE(taint.ok());
  for (const auto& c : cases) {
    const auto toleration = ToToleration(c.key, c.op, c.value, c.effect);
    ASSERT_TRUE(toleration.ok()) << toleration.status();
    EXPECT_EQ(Tolerates({{*toleration}}, *taint), c.tolerates)
        << c.key << " " << c.op << " " << c.value << " " << c.effect;
  }
}

TEST(TaintsTest, OneOfTheTolerationsIsEnough) {
  const Taint taint{.key = "gpu"};
  std::vector<Toleration> all{{.key = "cpu", .op = TolerationOp::kExists}};
  EXPECT_FALSE(Tolerates({}, taint));
  EXPECT_FALSE(Tolerates(all, taint));
  all.push_back({.key = "gpu", .op = TolerationOp::kExists});
  EXPECT_TRUE(Tolerates(all, taint));
}

}  // namespace
}  // namespace muster::translate
