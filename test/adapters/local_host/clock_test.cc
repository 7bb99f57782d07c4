#include "adapters/local/host/clock.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace muster::local {
namespace {

constexpr Time kDay = int64_t{24} * 3600 * kSecond;
constexpr Time kStart = 20'000 * kDay;
constexpr Duration kOneHour = 3600 * kSecond;

// A machine whose clocks the test sets.
struct Machine {
  Time wall = kStart;
  Time steady = 77 * kSecond;
  std::string boot = "boot-1";

  ClockSources Sources() {
    return {.wall = [this] { return wall; },
            .steady = [this] { return steady; },
            .boot = boot};
  }
  void Pass(Duration span) {
    wall += span;
    steady += span;
  }
};

TEST(ClockTest, ItTellsTheTimeOfDay) {
  Machine machine;
  Clock clock(machine.Sources());
  EXPECT_EQ(clock.Now(), kStart);
  machine.Pass(kOneHour);
  EXPECT_EQ(clock.Now(), kStart + kOneHour);
}

TEST(ClockTest, AJumpOfTheWallIsNoneOfIt) {
  for (const Duration jump : {kOneHour, -kOneHour}) {
    Machine machine;
    Clock clock(machine.Sources());
    machine.wall += jump;
    EXPECT_EQ(clock.Now(), kStart);
    machine.Pass(200 * kSecond);
    // It nears the wall's time.
    const Time near = kStart + 200 * kSecond + (jump > 0 ? 1 : -1) * kSecond;
    EXPECT_EQ(clock.Now(), near);
  }
}

TEST(ClockTest, InTheEndItIsTheWallsTime) {
  Machine machine;
  Clock clock(machine.Sources());
  machine.wall += kOneHour;
  Time before = clock.Now();
  for (int minute = 0; minute < 9 * 24 * 60; ++minute) {
    machine.Pass(60 * kSecond);
    const Time now = clock.Now();
    const Duration passed = now - before;
    ASSERT_LE(std::abs(passed - 60 * kSecond), 60 * kSecond / Clock::kSlew);
    before = now;
  }
  EXPECT_EQ(clock.Now(), machine.wall);
}

TEST(ClockTest, ItNeverGoesBack) {
  Machine machine;
  Clock clock(machine.Sources());
  machine.Pass(kOneHour);
  const Time now = clock.Now();
  machine.steady -= kOneHour;  // Which no such clock does.
  machine.wall = 0;
  EXPECT_EQ(clock.Now(), now);
  clock.NotBefore(now + kOneHour);
  EXPECT_EQ(clock.Now(), now + kOneHour);
  clock.NotBefore(now);
  EXPECT_EQ(clock.Now(), now + kOneHour);
}

TEST(ClockTest, TheNextProgramOfTheSameStartGoesOnWithIt) {
  Machine machine;
  Clock clock(machine.Sources());
  const std::string kept = clock.Save();
  machine.wall -= kOneHour;
  machine.Pass(10 * kSecond);
  Clock next(machine.Sources(), kept);
  EXPECT_EQ(next.Now(), kStart + 10 * kSecond);
}

TEST(ClockTest, AnotherStartOrATextThatIsNoneBeginsWithTheWall) {
  Machine machine;
  const std::string kept = Clock(machine.Sources()).Save();
  machine.wall += kOneHour;
  ASSERT_EQ(Clock(machine.Sources(), kept).Now(), kStart);
  for (const std::string& text :
       {std::string(), std::string("boot-1"), std::string("boot-1 x"),
        std::string("boot-1 9223372036854775807"), kept + kept,
        std::string("boot-2 5")}) {
    EXPECT_EQ(Clock(machine.Sources(), text).Now(), kStart + kOneHour) << text;
  }
  machine.boot = "";
  EXPECT_EQ(Clock(machine.Sources(), " 5").Now(), kStart + kOneHour);
}

TEST(ClockTest, TimesThatNoSchedulerTakesAreNotTold) {
  Machine machine;
  machine.wall = -5;
  EXPECT_EQ(Clock(machine.Sources()).Now(), 0);
  machine.wall = kForever;
  Clock late(machine.Sources());
  EXPECT_EQ(late.Now(), kMaxTime);
  machine.Pass(0);
  machine.steady += kOneHour;
  EXPECT_EQ(late.Now(), kMaxTime);
}

TEST(ClockTest, ThatOfTheMachineMoves) {
  Clock clock(ClockSources::OfMachine());
  const Time then = clock.Now();
  EXPECT_GT(then, 1'500'000'000 * kSecond);
  while (clock.Now() == then) continue;
  EXPECT_LT(clock.Now() - then, 60 * kSecond);
}

}  // namespace
}  // namespace muster::local
