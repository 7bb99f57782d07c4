// muster-sim explain: why is my gang where it is?
#include <algorithm>
#include <utility>

#include "adapters/cli/commands.h"
#include "adapters/text/quantity.h"

namespace muster::inprocess {
namespace {

std::string Where(const Explanation& e) {
  std::string text(Name(e.phase));
  if (e.reason.code != ReasonCode::kNone) text += ": " + ToText(e.reason);
  if (e.phase == GangPhase::kWaiting && e.ahead > 0) {
    text += "; " + std::to_string(e.ahead) + " gangs of its queue come first";
  }
  if (!e.tasks.empty()) {
    std::vector<std::string> nodes;
    for (const TaskState& t : e.tasks) nodes.push_back(t.node);
    std::ranges::sort(nodes);
    nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
    text += " on";
    for (size_t i = 0; i < nodes.size() && i < 8; ++i) text += " " + nodes[i];
    if (nodes.size() > 8) {
      text += " and " + std::to_string(nodes.size() - 8) + " more";
    }
  }
  return text;
}

// Prints the gang's state after each pass that changed it.
class History final : public Observer {
 public:
  History(std::string gang, std::ostream& out)
      : gang_(std::move(gang)), out_(out) {}

  void Submitted(Time at, const Gang& gang) override {
    if (gang.key == gang_) Line(at, "submitted");
  }
  void Stopped(const RunStop& stop) override {
    if (stop.gang.key != gang_) return;
    Line(stop.at, std::string(Name(stop.cause)) +
                      (stop.on_behalf_of.empty()
                           ? ""
                           : " by " + std::string(stop.on_behalf_of)));
  }
  void Gone(Time at, const Gang& gang, std::string_view why) override {
    if (gang.key == gang_) Line(at, std::string(why));
  }
  void Planned(const Plan& plan, const Scheduler& scheduler) override {
    const absl::StatusOr<Explanation> e = scheduler.Explain(gang_);
    if (!e.ok()) return;
    std::string text = Where(*e);
    if (text == last_) return;
    Line(plan.now, text);
    last_ = std::move(text);
  }

 private:
  void Line(Time at, const std::string& text) {
    out_ << FormatSeconds(at) << " s  " << text << "\n";
    last_.clear();
  }

  std::string gang_;
  std::ostream& out_;
  std::string last_;
};

}  // namespace

int RunExplain(const std::string& file, const std::string& gang,
               std::optional<Time> at, const Console& console) {
  const absl::StatusOr<Scenario> s = LoadScenario(file);
  if (!s.ok()) return Fail(console, s.status());
  if (!s->gang_marks.contains(gang)) {
    return Fail(console, absl::InvalidArgumentError(
                             file + ": there is no gang '" + gang + "'"));
  }
  VectorSource jobs(s->jobs);
  History history(gang, console.out);
  absl::StatusOr<Simulator> simulator = Simulator::Create(
      s->setup, &jobs, s->events,
      {.host = s->host, .observer = at.has_value() ? nullptr : &history});
  if (!simulator.ok()) return Fail(console, simulator.status());
  const absl::Status status = simulator->Run(at.value_or(kForever));
  if (!status.ok()) return Fail(console, status);
  if (!at.has_value()) return kOk;
  const absl::StatusOr<Explanation> e = simulator->scheduler().Explain(gang);
  const Time submitted =
      std::ranges::find(s->jobs, gang, [](const Job& j) -> const std::string& {
        return j.gang.key;
      })->gang.submitted;
  console.out << FormatSeconds(*at) << " s  "
              << (e.ok()            ? Where(*e)
                  : *at < submitted ? std::string("not submitted yet")
                                    : std::string("gone"))
              << "\n";
  return kOk;
}

}  // namespace muster::inprocess
