#include "adapters/kubernetes/controller/reporter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/object_refs.h"
#include "adapters/kubernetes/controller/reason_message.h"

namespace muster::kubernetes {
namespace {

// Whether more nodes would help: what autoscalers look for. A gang that waits
// for its quota, its turn or its own pods is not short of nodes.
bool LacksRoom(ReasonCode code) {
  switch (code) {
    case ReasonCode::kInsufficient:
    case ReasonCode::kNoNodeAdmits:
    case ReasonCode::kNoDomain:
    case ReasonCode::kNoMatchingDevice:
    case ReasonCode::kNeverFits:
    case ReasonCode::kConstraint:
    case ReasonCode::kNotFound:
      return true;
    default:
      return false;
  }
}

EventRequest FailedScheduling(const PodRef& pod, const std::string& note) {
  return {.object = PodObject(pod),
          .warning = true,
          .reason = "FailedScheduling",
          .action = "Scheduling",
          .note = note};
}

}  // namespace

void Reporter::Report(GangRecord* gang, const std::string& reason,
                      const std::string& message, std::string essence) {
  if (essence.empty()) essence = message;
  gang->why = message;
  if (gang->reported != essence) {
    gang->reported = std::move(essence);
    s_.NoteStatus(*gang);
    gang->reported_to.clear();
  }
  bool news = gang->reported_to.empty();  // Its pods may come later.
  for (const auto& [uid, member] : gang->members()) {
    const PodRecord* pod = member.pod;
    if (!pod->node.empty() || pod->deleting) continue;
    if (!pod->lacks.empty()) continue;  // ReportLacks tells.
    if (!gang->reported_to.insert(uid).second) continue;
    s_.outbox.Ask(UnscheduledRequest{pod->ref, reason, message});
    // One event tells of the whole gang.
    if (std::exchange(news, false)) {
      s_.outbox.Ask(FailedScheduling(pod->ref, message));
    }
  }
}

void Reporter::NotePlaced(GangRecord* gang) {
  // Of thousands that come at once, most have nothing to be told.
  if (gang->has_claims || !gang->reported_to.empty()) return;
  if (gang->reported.empty()) s_.gangs.ForgetUnreported(gang);
}

void Reporter::Step() {
  if (!due() || s_.link.now() < next_) return;
  next_ = s_.link.now() + s_.options.report_interval;
  if (std::exchange(all_, false)) {
    s_.gangs.ForgetUnreported();
    for (GangRecord* gang : s_.gangs.all()) ReportWaiting(gang);
    return;
  }
  for (GangRecord* gang : s_.gangs.TakeUnreported()) ReportWaiting(gang);
}

void Reporter::ReportLacks(const GangRecord& gang) {
  for (const auto& [uid, member] : gang.members()) {
    PodRecord* pod = member.pod;
    if (pod->lacks == pod->lacks_told) continue;
    pod->lacks_told = pod->lacks;
    if (pod->lacks.empty() || !pod->node.empty() || pod->deleting) continue;
    s_.outbox.Ask(UnscheduledRequest{pod->ref, "Pending", pod->lacks});
    s_.outbox.Ask(FailedScheduling(pod->ref, pod->lacks));
  }
}

void Reporter::ReportWaiting(GangRecord* gang) {
  if (gang->has_claims) ReportLacks(*gang);
  if (!gang->spec) {
    Report(gang, "Pending", absl::StrCat(Describe(gang->ref), " is not there"));
    return;
  }
  if (gang->placed()) {
    gang->reported.clear();
    gang->reported_to.clear();
  }
  if (gang->told.key.empty() || gang->placed()) return;
  if (gang->told.held) {
    const std::string& why = gang->told.held_why;
    Report(gang, "Pending", why, why.ends_with(kPodsLack) ? kPodsLack : why);
    return;
  }
  const auto why = s_.link.scheduler().Explain(gang->told.key);
  if (!why.ok() || why->phase != GangPhase::kWaiting ||
      why->reason.code == ReasonCode::kNone) {
    return;
  }
  NamedReason essence = why->reason;
  essence.available = 0;
  if (essence.code == ReasonCode::kBackoff) essence.needed = 0;
  std::string refusal = gang->Refusal();
  if (!refusal.empty()) {
    refusal = absl::StrCat("; its binding was refused: ", refusal);
  }
  Report(gang, LacksRoom(why->reason.code) ? "Unschedulable" : "Pending",
         ToMessage(why->reason, s_.kinds) + refusal, ToText(essence) + refusal);
}

}  // namespace muster::kubernetes
