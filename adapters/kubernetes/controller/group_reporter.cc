#include "adapters/kubernetes/controller/group_reporter.h"

#include <utility>

namespace muster::kubernetes {

void GroupReporter::Step() {
  const Time now = s_.link.now();
  for (const GroupRef& ref : s_.group_news.TakeTouched()) {
    s_.group_news.Schedule(ref, now);
  }
  for (const GroupRef& ref : s_.group_news.TakeDue(now)) {
    const GangRecord* gang = s_.gangs.Find(ref);
    if (gang != nullptr && gang->has_object && gang->spec) {
      Report(*gang);
    } else {
      told_.erase(ref);
      s_.group_news.Forget(ref);
    }
  }
}

void GroupReporter::Report(const GangRecord& gang) {
  const GangCounts& counts = gang.counted;
  const bool runs = counts.running_pods > 0;
  GroupStatusRequest status{.namespace_name = gang.ref.namespace_name,
                            .name = gang.ref.name,
                            .uid = gang.spec->key,
                            .running = runs,
                            .pending_pods = counts.pending_pods,
                            .running_pods = counts.running_pods};
  const std::string essence = runs ? "" : gang.reported;
  Told& told = told_[gang.ref];
  const bool unsent = s_.group_news.TakeUnsent(gang.ref);
  status.message = told.status.message;
  if (status == told.status && essence == told.essence && !unsent) return;
  status.message = runs ? "" : gang.why;
  told = {status, essence};
  s_.group_news.Told(gang.ref, s_.link.now());
  s_.outbox.Ask(AwaitedRequest{.body = std::move(status)});
}

}  // namespace muster::kubernetes
