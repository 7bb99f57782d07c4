// Tidier: removes what is kept of finished jobs for too long.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "adapters/local/model/turn_save.h"
#include "adapters/local/store/retention.h"
#include "adapters/local/store/store.h"
#include "muster/ids.h"

namespace muster::local {

// Of a job all files in its folder go first, then its rows: who is killed
// between them goes on with it later. Files that the job put elsewhere are its
// owner's. Not synchronised.
class Tidier {
 public:
  // The store outlives it. `state`: as ControllerConfig::state.
  Tidier(Store* store, std::string state, const Retention& retention)
      : store_(*store), state_(std::move(state)), retention_(retention) {}

  // One pass, which removes kMostFiles files at most. An error says what cannot
  // be removed: that job stays, and its turn comes again with the next regular
  // pass.
  absl::Status Pass(Time now);
  // The turn has been kept: a job that has ended with it may go soon.
  void Kept(const TurnSave& save, Time now);
  // When the next pass is due.
  Time due_at() const { return due_at_; }

  static constexpr size_t kMostFiles = 1000;
  static constexpr Duration kEvery = 600 * kSecond;
  static constexpr Duration kLinger = 2 * kSecond;  // Retention::linger.

 private:
  // False: the budget did not suffice.
  absl::StatusOr<bool> Count(size_t* budget);
  absl::StatusOr<bool> Remove(Time now, size_t* budget);

  Store& store_;
  const std::string state_;
  const Retention retention_;
  Time due_at_ = 0;
  absl::Status failed_ = absl::OkStatus();  // Of this pass, the first.
};

}  // namespace muster::local
