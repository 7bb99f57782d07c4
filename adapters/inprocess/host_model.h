// How the simulated host behaves: how long things take, and its lapses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "muster/ids.h"

namespace muster::inprocess {

enum class LapseKind : uint8_t {
  kRefuse,        // The decision is refused as a whole.
  kFail,          // A start: its tasks fail instead.
  kElsewhere,     // A start: its tasks start on another node than planned.
  kOtherDevices,  // A start: ... on other devices of the node.
  kLate,          // It is answered `delay` later than usual.
  kNoAnswer,      // It is done and never answered.
};
MUSTER_ENUM_NAMES(LapseKind, "refuse", "fail", "elsewhere", "other-devices",
                  "late", "no-answer");

// A deviation from what was asked, of the next `times` decisions about a gang
// that start tasks (or, with on_stop, stop them).
struct Lapse {
  std::string gang{};
  bool on_stop = false;
  LapseKind kind = LapseKind::kLate;
  std::string node{};  // kElsewhere.
  Duration delay = 0;  // kLate.
  uint32_t times = 1;
};

struct HostModel {
  Duration start_time = 0;    // Decision to running tasks, per wave of roles.
  Duration stop_time = 0;     // Decision to stopped tasks.
  Duration answer_delay = 0;  // What happened to the scheduler's knowing it.
  uint32_t answers = 1;       // How often each answer is given,
  Duration answer_gap = 0;    // this far apart.
  std::vector<Lapse> lapses{};

  // Whether what is decided is done and answered at once.
  bool immediate() const {
    return start_time == 0 && stop_time == 0 && answer_delay == 0 &&
           answers == 1 && lapses.empty();
  }
};

}  // namespace muster::inprocess
