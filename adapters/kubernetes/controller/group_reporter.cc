#include "adapters/kubernetes/controller/group_reporter.h"

#include <algorithm>
#include <utility>

namespace muster::kubernetes {

void GroupReporter::Step() {
  const Time now = s_.link.now();
  for (const GroupRef& ref : std::exchange(s_.group_news.changed, {})) {
    const auto told = told_.find(ref);
    due_.emplace(
        ref, told == told_.end()
                 ? now
                 : std::max(now, told->second.at + s_.options.status_interval));
  }
  for (auto it = due_.begin(); it != due_.end();) {
    if (it->second > now) {
      ++it;
      continue;
    }
    const GangRecord* gang = s_.gangs.Find(it->first);
    if (gang != nullptr && gang->has_object && gang->spec) {
      Report(*gang);
    } else {
      told_.erase(it->first);
      s_.group_news.unsent.erase(it->first);
    }
    it = due_.erase(it);
  }
}

Time GroupReporter::next_step() const {
  if (!s_.group_news.changed.empty()) return s_.link.now();
  Time next = kForever;
  for (const auto& [ref, at] : due_) next = std::min(next, at);
  return next;
}

void GroupReporter::Report(const GangRecord& gang) {
  const GangCounts counts = s_.tally.Of(gang.ref);
  const bool runs = counts.running_pods > 0;
  GroupStatusRequest status{.namespace_name = gang.ref.namespace_name,
                            .name = gang.ref.name,
                            .uid = gang.spec->key,
                            .running = runs,
                            .pending_pods = counts.pending_pods,
                            .running_pods = counts.running_pods};
  const std::string essence = runs ? "" : gang.reported;
  Told& told = told_[gang.ref];
  const bool unsent = s_.group_news.unsent.erase(gang.ref) > 0;
  status.message = told.status.message;
  if (status == told.status && essence == told.essence && !unsent) return;
  status.message = runs ? "" : gang.why;
  told = {s_.link.now(), status, essence};
  s_.outbox.Ask(AwaitedRequest{.body = std::move(status)});
}

}  // namespace muster::kubernetes
