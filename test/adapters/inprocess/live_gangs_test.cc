#include "adapters/inprocess/live_gangs.h"

#include <gtest/gtest.h>

namespace muster::inprocess {
namespace {

uint32_t Add(LiveGangs* gangs, GangId id) {
  const uint32_t slot = gangs->NewSlot();
  LiveGang& g = (*gangs)[slot];
  g.job.gang.roles = {{}};
  EXPECT_TRUE(g.Begin(id));
  gangs->Enter(slot);
  return slot;
}

TEST(LiveGangsTest, AGangIsFoundByItsIdAsLongAsItLives) {
  LiveGangs gangs;
  const GangId id{7, 1};
  EXPECT_EQ(gangs.SlotOf(id), LiveGangs::kNoSlot);
  const uint32_t slot = Add(&gangs, id);
  EXPECT_EQ(gangs.SlotOf(id), slot);
  EXPECT_EQ(gangs.SlotOf(GangId{7, 2}), LiveGangs::kNoSlot) << "another life";
  EXPECT_EQ(gangs.alive(), 1u);
  gangs.Free(slot);
  EXPECT_EQ(gangs.SlotOf(id), LiveGangs::kNoSlot);
  EXPECT_EQ(gangs.alive(), 0u);
}

TEST(LiveGangsTest, SlotsAreUsedAgainAndTheirVersionsAreNot) {
  LiveGangs gangs;
  const uint32_t slot = Add(&gangs, {0, 1});
  Add(&gangs, {1, 1});
  const uint32_t version = gangs[slot].version;
  gangs.Free(slot);
  EXPECT_EQ(Add(&gangs, {2, 1}), slot);
  EXPECT_GT(gangs[slot].version, version);
  EXPECT_EQ(gangs.slots(), 2u);
}

}  // namespace
}  // namespace muster::inprocess
