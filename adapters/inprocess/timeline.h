// The story of a simulation: who worked when, and why it stopped.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/inprocess/observer.h"
#include "muster/ids.h"

namespace muster::inprocess {

// One stretch of work of one gang.
struct Interval {
  Time from = 0;
  Time to = kForever;                // kForever: it still works.
  std::optional<StopCause> cause{};  // Nothing: likewise.
  Duration saved = 0;
  Duration lost = 0;
  std::string on_behalf_of{};
  // By task, when it began; "": the task did not run.
  std::vector<std::string> nodes{};
  std::vector<Size> sizes{};  // In order of time; the first is at `from`.

  uint32_t tasks() const;
};

struct GangStory {
  std::string key{};
  Time submitted = 0;
  std::vector<Interval> intervals{};
  std::string gone{};  // Why it is gone without finishing; "": it is not.
  std::vector<std::string> task_roles{};  // By task.
};

// Remembers everything: for scenarios, not for traces.
class Timeline final : public Observer {
 public:
  void Submitted(Time at, const Gang& gang) override;
  void Ran(const RunStart& run) override;
  void Resized(Time at, const Gang& gang, uint32_t tasks) override;
  void Stopped(const RunStop& stop) override;
  void Gone(Time at, const Gang& gang, std::string_view why) override;
  void Planned(const Plan& plan, const Scheduler& scheduler) override;

  // In order of submission, then of key.
  std::vector<const GangStory*> Stories() const;
  const GangStory* Find(std::string_view key) const;  // Null: no such gang.
  uint64_t nominations() const { return nominations_; }

 private:
  GangStory& StoryOf(const Gang& gang);

  std::map<std::string, GangStory, std::less<>> stories_;
  uint64_t nominations_ = 0;
};

// "100-150 preempted by test-p1 with 40 s saved and 10 s lost", in seconds;
// "0-90 (4 tasks, 2 from 30, 4 from 50)" where the gang shrank or grew.
std::string ToText(const Interval& interval);

// A line of text per gang, with a bar that is `width` wide.
void Print(const Timeline& timeline, Time end, uint32_t width,
           std::ostream& out);

}  // namespace muster::inprocess
