// CronDriver: submits the jobs of calendars when their times have come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "adapters/local/controller/cron_book.h"
#include "adapters/local/controller/life_driver.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/submitter.h"
#include "adapters/local/model/turn_save.h"
#include "muster/ids.h"

namespace muster::local {

// Calendars follow the wall clock, which may be set:
// - Of the times that passed unseen, as the machine slept or the clock was set
//   ahead, the last one counts, once, if it is within its starting deadline.
// - Set back by less than kCorrection, no time comes twice. By more, the clock
//   was wrong before, and calendars go by it as it is now.
// Not synchronised.
class CronDriver {
 public:
  static constexpr Duration kCorrection = 3 * kHour;

  // None is owned.
  CronDriver(ControllerState* state, LifeDriver* lives, Submitter* submitter)
      : s_(*state), lives_(*lives), submitter_(*submitter) {}

  // What is due by now.
  void PassTime();
  // Jobs of calendars that have finished with this turn.
  void NoteEnds(const TurnSave& save);

  // NOT_FOUND. A time that passes while it is suspended is left out.
  absl::Status Suspend(uint64_t id);
  absl::Status Resume(uint64_t id);
  // Its jobs go on.
  absl::Status Remove(uint64_t id);

 private:
  void SeeToClock();
  void Look(CronRecord* cron);
  // False: it waits.
  bool Start(CronRecord* cron, Time time);
  void Submit(CronRecord* cron, Time time);

  ControllerState& s_;
  LifeDriver& lives_;
  Submitter& submitter_;
  Time seen_ = kForever;  // What the wall clock told last.
};

}  // namespace muster::local
