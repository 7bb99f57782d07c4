// SharedTexts: equal texts that many have, kept once; and manifests that were
// read lately.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/workload/parse.h"

namespace muster::local {

using SharedText = std::shared_ptr<const std::string>;

// Outlives the texts that it gave. Not synchronised.
class SharedTexts {
 public:
  // The one that is equal. O(size).
  SharedText Keep(std::string text);

 private:
  // By their own content.
  std::unordered_map<std::string_view, std::weak_ptr<const std::string>> texts_;
};

// Not synchronised.
class ManifestCache {
 public:
  using Jobs = std::shared_ptr<const std::vector<workload::ParsedJob>>;

  // workload::Parse, whose errors are not kept.
  absl::StatusOr<Jobs> Read(const SharedText& text);
  // Of its jobs this one, with which the others live on. And INVALID_ARGUMENT:
  // there is none such.
  absl::StatusOr<std::shared_ptr<const workload::Job>> ReadJob(
      const SharedText& text, uint32_t document);

 private:
  static constexpr size_t kMost = 16;
  std::list<std::pair<SharedText, Jobs>> read_;  // The latest first.
};

}  // namespace muster::local
