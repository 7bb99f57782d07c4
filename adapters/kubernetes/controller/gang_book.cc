#include "adapters/kubernetes/controller/gang_book.h"

#include <algorithm>
#include <utility>

namespace muster::kubernetes {

GangRecord& GangBook::Of(const GroupRef& ref) {
  const auto it = gangs_.lazy_emplace(ref, [&](const auto& emplace) {
    auto gang = std::make_unique<GangRecord>();
    gang->ref = ref;
    if (counts_arrivals_) gang->arrival = next_arrival_++ % kSecond;
    order_.Add(gang.get());
    emplace(std::move(gang));
  });
  return **it;
}

GangRecord* GangBook::Find(const GroupRef& ref) {
  const auto it = gangs_.find(ref);
  return it == gangs_.end() ? nullptr : it->get();
}

GangRecord* GangBook::FindTold(const std::string& key) {
  const auto it = told_.find(key);
  return it == told_.end() ? nullptr : it->second;
}

void GangBook::Erase(GangRecord* gang) {
  touched_.Remove(gang);
  unreported_.Remove(gang);
  outside_.erase(gang->ref);
  order_.Remove(gang);
  gangs_.erase(gangs_.find(gang->ref));
}

PodRecord* GangBook::FindPod(const std::string& uid) {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

GangRecord& GangBook::SetPod(PodRecord&& pod) {
  GangRecord& gang = Of(pod.group);
  const auto [it, is_new] = pods_.try_emplace(pod.ref.uid, std::move(pod));
  if (is_new) {
    gang.Add(&it->second);
  } else {
    it->second = std::move(pod);
  }
  Touch(&gang);
  return gang;
}

void GangBook::ErasePod(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  GangRecord& gang = GangOf(it->second);
  gang.Remove(uid);
  pods_.erase(it);
  Touch(&gang);
}

void GangBook::Touch(const GroupRef& ref) {
  if (GangRecord* const gang = Find(ref)) Touch(gang);
}

void GangBook::TouchAllOf(const std::string& queue,
                          const std::string& namespace_name) {
  for (GangRecord* gang : all()) {
    const bool of_queue = !queue.empty() && gang->told.queue == queue;
    if (of_queue || gang->ref.namespace_name == namespace_name) Touch(gang);
  }
  TouchOutside();
}

void GangBook::TouchOutside() {
  for (const GroupRef& ref : std::exchange(outside_, {})) Touch(ref);
}

std::vector<GangRecord*> GangBook::TakeTouched(Time now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Touch(timers_.begin()->second);
    timers_.erase(timers_.begin());
  }
  return touched_.Take();
}

Time GangBook::next_touched(Time now) const {
  if (!touched_.empty()) return now;
  return timers_.empty() ? kForever : timers_.begin()->first;
}

void GangBook::LoseNode(const std::string& name) {
  for (GangRecord* gang : all()) {
    if (gang->LoseNode(name)) Touch(gang);
  }
}

}  // namespace muster::kubernetes
