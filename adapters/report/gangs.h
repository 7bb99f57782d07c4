// The stories of a bounded number of gangs, for a time line: those that stand
// out, and some picked by lot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/inprocess/observer.h"
#include "muster/enum_names.h"
#include "muster/ids.h"
#include "muster/reason.h"

namespace muster::inprocess {

struct ReasonAt {
  Time at = 0;
  ReasonCode code = ReasonCode::kNone;
  std::string text{};
};

// One stretch of work.
struct Stint {
  static constexpr size_t kMaxNodes = 8;
  static constexpr size_t kMaxSizes = 32;

  Time from = 0;
  Time to = kForever;                // kForever: it still works.
  std::optional<StopCause> cause{};  // Nothing: likewise.
  Duration saved = 0;                // As in RunStop.
  Duration lost = 0;
  std::string on_behalf_of{};
  std::vector<Size> sizes{};  // In order of time; the first is at `from`.
  uint32_t nodes_in_all = 0;
  std::vector<std::string> nodes{};  // The first of them, by key.
};

// One gang's way. Bounded: of what comes after the first kMaxStints stretches
// of work only the number is kept; of sizes and reasons the first ones.
struct GangRecord {
  static constexpr size_t kMaxStints = 64;
  static constexpr size_t kMaxReasons = 16;

  uint32_t number = 0;  // Of its submission, from 0.
  std::string key{};
  std::string priority_class{};
  std::string queue{};
  int64_t device_milli = 0;
  uint32_t tasks = 0;
  Time submitted = 0;
  Time ended = kForever;  // kForever: it did not end.
  std::string gone{};     // Why it is gone without finishing.
  Duration waited = 0;    // Until its first work, or for all its life.
  uint32_t stops = 0;     // That were not its end.
  uint32_t stints_in_all = 0;
  std::vector<Stint> stints{};
  std::vector<ReasonAt> reasons{};  // Why it waited, and from when on.
};

// Why a gang is in the sample.
enum class Standing : uint8_t { kLargest, kInterrupted, kWaited, kByLot };
inline constexpr size_t kStandings = 4;
MUSTER_ENUM_NAMES(Standing, "largest", "most interrupted", "waited longest",
                  "by lot");

// Of all gangs offered: per standing the `per_standing` that come first (by
// lot: by a hash of the key, so that equal runs give equal samples); all, while
// there are no more than kStandings x per_standing. Time O(log per_standing) a
// gang; memory O(per_standing).
class GangSample {
 public:
  explicit GangSample(size_t per_standing) : per_standing_(per_standing) {}

  // A gang that has ended, or at the end one that has not.
  void Offer(GangRecord gang);

  struct Picked {
    std::shared_ptr<const GangRecord> gang{};
    std::array<bool, kStandings> standing{};
  };
  // In order of submission.
  std::vector<Picked> Picks() const;
  uint64_t offered() const { return offered_; }
  bool complete() const { return offered_ <= kStandings * per_standing_; }

 private:
  // The highest scores, the lowest on top.
  struct Scored {
    std::pair<int64_t, int64_t> score{};
    std::shared_ptr<const GangRecord> gang{};
  };
  static bool Higher(const Scored& a, const Scored& b) {
    return a.score > b.score;
  }

  size_t per_standing_;
  uint64_t offered_ = 0;
  std::array<std::vector<Scored>, kStandings> best_{};
  std::vector<std::shared_ptr<const GangRecord>> all_{};  // While complete().
};

}  // namespace muster::inprocess
