#include "adapters/kubernetes/controller/nomination_book.h"

#include <utility>
#include <vector>

namespace muster::kubernetes {

void NominationBook::Set(const std::string& gang, const Places& places) {
  const Places before = std::exchange(gangs_[gang], places);
  for (const auto& [uid, nomination] : before) {
    if (!places.contains(uid)) outbox_.Ask(NominateRequest{nomination.pod, ""});
  }
  for (const auto& [uid, nomination] : places) {
    found_.erase(uid);
    const auto it = before.find(uid);
    if (it != before.end() && it->second == nomination) continue;
    outbox_.Ask(nomination);
  }
  if (places.empty()) gangs_.erase(gang);
}

void NominationBook::Check(absl::FunctionRef<bool(const std::string&)> stands) {
  if (!std::exchange(doubted_, false)) return;
  std::vector<std::string> fallen;
  for (const auto& [gang, places] : gangs_) {
    if (!stands(gang)) fallen.push_back(gang);
  }
  for (const std::string& gang : fallen) Set(gang, {});
}

void NominationBook::Start(const std::string& gang,
                           const std::set<std::string>& pods) {
  const auto it = gangs_.find(gang);
  if (it == gangs_.end()) return;
  for (const std::string& uid : pods) {
    auto place = it->second.extract(uid);
    if (!place.empty()) starting_.insert(std::move(place));
  }
  Set(gang, {});
}

void NominationBook::NotBound(const std::string& uid) {
  const auto place = starting_.extract(uid);
  if (!place.empty()) outbox_.Ask(NominateRequest{place.mapped().pod, ""});
}

void NominationBook::Leave(const std::string& gang, const std::string& uid) {
  NotBound(uid);
  const auto it = gangs_.find(gang);
  if (it == gangs_.end()) return;
  const auto place = it->second.find(uid);
  if (place == it->second.end()) return;
  outbox_.Ask(NominateRequest{place->second.pod, ""});
  PodGone(gang, uid);
}

void NominationBook::PodGone(const std::string& gang, const std::string& uid) {
  starting_.erase(uid);
  const auto it = gangs_.find(gang);
  if (it == gangs_.end()) return;
  it->second.erase(uid);
  if (it->second.empty()) gangs_.erase(it);
}

void NominationBook::Found(NominateRequest nomination) {
  if (decided_) return;
  std::string uid = nomination.pod.uid;
  found_[std::move(uid)] = std::move(nomination);
}

void NominationBook::DropFound() {
  decided_ = true;
  for (const auto& [uid, nomination] : std::exchange(found_, {})) {
    outbox_.Ask(NominateRequest{nomination.pod, ""});
  }
}

}  // namespace muster::kubernetes
