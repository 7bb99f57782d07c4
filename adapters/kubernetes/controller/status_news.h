// Of which objects the status is to be written, and when.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "muster/ids.h"

namespace muster::kubernetes {

// Each at most once in an interval. Key: orders objects. Not synchronised.
template <typename Key>
class StatusNews {
 public:
  explicit StatusNews(Duration interval) : interval_(interval) {}

  // Its status may be another one. O(log touched).
  void Touch(const Key& key) { touched_.insert(key); }
  // What was written has not arrived: it is touched, and TakeUnsent says so
  // once. O(log touched).
  void SetUnsent(const Key& key) {
    unsent_.insert(key);
    touched_.insert(key);
  }
  bool TakeUnsent(const Key& key) { return unsent_.erase(key) > 0; }
  // Those touched since the last call, in order.
  std::set<Key> TakeTouched() { return std::exchange(touched_, {}); }

  // It is to be looked at, as soon as it may be. O(log due).
  void Schedule(const Key& key, Time now) {
    const auto told = told_.find(key);
    const Time at = told == told_.end() ? now : told->second + interval_;
    due_.emplace(key, std::max(now, at));
  }
  // Those that may be told of now, in order. O(scheduled).
  std::vector<Key> TakeDue(Time now) {
    std::vector<Key> due;
    std::erase_if(due_, [&](const auto& entry) {
      if (entry.second > now) return false;
      due.push_back(entry.first);
      return true;
    });
    return due;
  }
  // It is being written. O(log told).
  void Told(const Key& key, Time now) { told_[key] = now; }
  // It is gone. O(log told).
  void Forget(const Key& key) {
    unsent_.erase(key);
    due_.erase(key);
    told_.erase(key);
  }

  // When there is something to look at; kForever: never. O(scheduled).
  Time next(Time now) const {
    if (!touched_.empty()) return now;
    Time next = kForever;
    for (const auto& [key, at] : due_) next = std::min(next, at);
    return next;
  }

 private:
  const Duration interval_;
  std::set<Key> touched_;
  std::set<Key> unsent_;
  std::map<Key, Time> due_;
  std::map<Key, Time> told_;  // When last.
};

}  // namespace muster::kubernetes
