#include "adapters/local/shim/shim_exit.h"

#include <algorithm>
#include <array>

#include "adapters/local/shim/record.h"

namespace muster::local {
namespace {

constexpr std::array<std::string_view, 5> kNames = {
    "exited", "stopped", "time limit", "out of memory", "not started"};

bool DecodeReason(std::string_view value, ShimReason* reason) {
  const auto* const found = std::ranges::find(kNames, value);
  if (found == kNames.end()) return false;
  *reason = static_cast<ShimReason>(found - kNames.begin());
  return true;
}

}  // namespace

std::string_view Name(ShimReason reason) {
  return kNames[static_cast<size_t>(reason)];
}

std::string Encode(const ShimExit& exit) {
  RecordWriter out;
  out.Add("code", exit.code);
  out.Add("reason", Name(exit.reason));
  out.Add("message", exit.message);
  out.Add("started", exit.started);
  out.Add("ended", exit.ended);
  out.Add("ran", exit.ran);
  out.Add("user_time", exit.user_time);
  out.Add("system_time", exit.system_time);
  out.Add("max_rss", exit.max_rss);
  out.Add("left", exit.left);
  return out.Take();
}

bool Decode(std::string_view bytes, ShimExit* exit) {
  *exit = ShimExit();
  return ReadRecords(bytes,
                     [exit](std::string_view name, std::string_view value) {
                       if (name == "code")
                         return ParseNumber(value, &exit->code);
                       if (name == "reason")
                         return DecodeReason(value, &exit->reason);
                       if (name == "message") exit->message = value;
                       if (name == "started")
                         return ParseNumber(value, &exit->started);
                       if (name == "ended")
                         return ParseNumber(value, &exit->ended);
                       if (name == "ran") return ParseNumber(value, &exit->ran);
                       if (name == "user_time")
                         return ParseNumber(value, &exit->user_time);
                       if (name == "system_time")
                         return ParseNumber(value, &exit->system_time);
                       if (name == "max_rss")
                         return ParseNumber(value, &exit->max_rss);
                       if (name == "left")
                         return ParseNumber(value, &exit->left);
                       return true;
                     });
}

}  // namespace muster::local
