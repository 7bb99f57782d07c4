// The search for victims of one gang, asked directly.
#include "lib/scheduler/make_room.h"

#include <cstdint>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/scheduler/pass_context.h"
#include "test/scheduler/tables_stage.h"

namespace muster {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// A question for victims may be active alone, without the one for room. Where
// there is room it finds a place and no victims, hence no runner-up of them.
TEST(MakeRoomTest, WhereThereIsRoomItFindsNoVictims) {
  TablesStage s;
  s.HasNode(8);
  s.Happens(PriorityClassChanged{{.key = "low"}});
  s.Happens(PriorityClassChanged{{.key = "high", .value = 20}});
  ASSERT_TRUE(s.Run(s.Submit(Job("runs", 1, 4, "low")), 1));
  s.tables.round_seq = s.tables.next_seq;  // It was placed in an earlier round.
  s.tables.placed.clear();
  const GangIndex g = s.Submit(Job("waits", 1, 4, "high"));

  const std::unique_ptr<GangSolver> solver = NewGangSolver();
  const std::unique_ptr<VictimSearch> search = NewVictimSearch();
  PassContext pass{s.tables, *solver, *search};
  Plan plan;
  pass.plan.Begin(&plan);
  MakeRoom make_room(pass);
  make_room.Begin();
  EXPECT_TRUE(make_room.Try(g, ReasonCode::kInsufficient, 100'000));
  EXPECT_THAT(plan.preemptions, IsEmpty());
  EXPECT_THAT(make_room.touched(), IsEmpty());
  EXPECT_THAT(s.tables.gangs.at(g).tasks, SizeIs(1));
}

}  // namespace
}  // namespace muster
