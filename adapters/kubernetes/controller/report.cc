// Why pods wait, as their conditions and events tell it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/writers.h"
#include "adapters/kubernetes/controller/controller.h"

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

}  // namespace

std::string Controller::ToMessage(NamedReason reason) const {
  if (reason.object_kind == ReasonObject::kRole) {
    reason.object_kind = ReasonObject::kNone;  // Its pods are told, no others.
    reason.object.clear();
  }
  if (reason.resource.empty()) return ToText(reason);
  const bool thousandths =
      reason.resource == kCpu || reason.resource == options_.device_resource;
  const int64_t unit = thousandths ? 1 : 1000;
  const std::string where =
      reason.object.empty() ? "" : absl::StrCat(" (", reason.object, ")");
  return absl::StrCat(std::string(Name(reason.code)), where, ": ",
                      api::FormatQuantity(reason.needed * unit), " ",
                      reason.resource, " needed, ",
                      api::FormatQuantity(reason.available * unit), " there");
}

void Controller::Report(GangRecord* gang, const std::string& reason,
                        const std::string& message) {
  if (gang->reported == message) return;
  gang->reported = message;
  bool first = true;
  for (const auto& [uid, task] : gang->members()) {
    const auto it = pods_.find(uid);
    if (it == pods_.end()) continue;
    const PodRecord& pod = it->second;
    if (!pod.node.empty() || pod.deleting) continue;
    Ask(UnscheduledRequest{pod.ref, reason, message});
    // One event tells of the whole gang.
    if (std::exchange(first, false)) {
      Ask(EventRequest{.pod = pod.ref,
                       .warning = true,
                       .reason = "FailedScheduling",
                       .action = "Scheduling",
                       .note = message});
    }
  }
}

void Controller::ReportWaiting() {
  report_due_ = false;
  next_report_ = now_ + options_.report_interval;
  for (auto& [ref, gang] : gangs_) {
    if (gang.told.key.empty() || gang.placed()) {
      if (gang.placed()) gang.reported.clear();
      continue;
    }
    const auto why = scheduler_.Explain(gang.told.key);
    if (!why.ok() || why->phase != GangPhase::kWaiting) continue;
    if (gang.told.held) {
      Report(&gang, "Pending", gang.told.held_why);
    } else if (why->reason.code != ReasonCode::kNone) {
      Report(&gang, LacksRoom(why->reason.code) ? "Unschedulable" : "Pending",
             ToMessage(why->reason));
    }
  }
}

}  // namespace muster::kubernetes
