#include "adapters/kubernetes/controller/gang_book.h"

#include <algorithm>

namespace muster::kubernetes {

GangRecord& GangBook::Of(const GroupRef& ref) {
  if (GangRecord* const known = Find(ref)) return *known;
  GangRecord& gang = gangs_[ref];
  gang.ref = ref;
  if (counts_arrivals_) gang.arrival = next_arrival_++ % kSecond;
  by_ref_.insert(&gang);
  return gang;
}

GangRecord* GangBook::Find(const GroupRef& ref) {
  const auto it = by_ref_.find(ref);
  return it == by_ref_.end() ? nullptr : *it;
}

GangRecord* GangBook::FindTold(const std::string& key) {
  const auto it = told_.find(key);
  return it == told_.end() ? nullptr : it->second;
}

void GangBook::Erase(const GroupRef& ref) {
  outside_.erase(ref);
  by_ref_.erase(ref);
  gangs_.erase(ref);
}

PodRecord* GangBook::FindPod(const std::string& uid) {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

const PodRecord* GangBook::FindPod(const std::string& uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

GangRecord& GangBook::SetPod(PodRecord pod) {
  GangRecord& gang = Of(pod.group);
  gang.Add(pod.ref.uid);
  Touch(pod.group);
  std::string uid = pod.ref.uid;
  pods_[std::move(uid)] = std::move(pod);
  return gang;
}

void GangBook::ErasePod(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const GroupRef group = it->second.group;
  pods_.erase(it);
  Find(group)->Remove(uid);
  Touch(group);
}

void GangBook::TouchAllOf(const std::string& queue,
                          const std::string& namespace_name) {
  for (const auto& [ref, gang] : gangs_) {
    const bool of_queue = !queue.empty() && gang.told.queue == queue;
    if (of_queue || ref.namespace_name == namespace_name) Touch(ref);
  }
  TouchOutside();
}

void GangBook::TouchOutside() {
  touched_.merge(outside_);
  outside_.clear();
}

std::set<GroupRef> GangBook::TakeTouched(Time now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    touched_.insert(timers_.begin()->second);
    timers_.erase(timers_.begin());
  }
  return std::exchange(touched_, {});
}

Time GangBook::next_touched(Time now) const {
  if (!touched_.empty()) return now;
  return timers_.empty() ? kForever : timers_.begin()->first;
}

void GangBook::LoseNode(const std::string& name) {
  for (auto& [ref, gang] : gangs_) {
    if (gang.LoseNode(name)) Touch(ref);
  }
}

}  // namespace muster::kubernetes
