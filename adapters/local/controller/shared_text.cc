#include "adapters/local/controller/shared_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::local {

SharedText SharedTexts::Keep(std::string text) {
  if (const auto it = texts_.find(text); it != texts_.end()) {
    return it->second.lock();  // It is there: the last to have it removes it.
  }
  SharedText kept(new std::string(std::move(text)),
                  [this](const std::string* gone) {
                    texts_.erase(*gone);
                    delete gone;
                  });
  texts_.emplace(*kept, kept);
  return kept;
}

absl::StatusOr<ManifestCache::Jobs> ManifestCache::Read(
    const SharedText& text) {
  const auto it = std::ranges::find_if(read_, [&](const auto& entry) {
    return entry.first == text || *entry.first == *text;
  });
  if (it != read_.end()) {
    read_.splice(read_.begin(), read_, it);
    return read_.front().second;
  }
  absl::StatusOr<std::vector<workload::ParsedJob>> jobs =
      workload::Parse(*text);
  if (!jobs.ok()) return jobs.status();
  read_.emplace_front(text,
                      std::make_shared<const std::vector<workload::ParsedJob>>(
                          *std::move(jobs)));
  if (read_.size() > kMost) read_.pop_back();
  return read_.front().second;
}

absl::StatusOr<std::shared_ptr<const workload::Job>> ManifestCache::ReadJob(
    const SharedText& text, uint32_t document) {
  const absl::StatusOr<Jobs> jobs = Read(text);
  if (!jobs.ok()) return jobs.status();
  if (document >= (*jobs)->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest: has no job ", document));
  }
  return std::shared_ptr<const workload::Job>(*jobs, &(**jobs)[document].job);
}

}  // namespace muster::local
