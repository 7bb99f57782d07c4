// JobFiles: config maps and secrets of a manifest, as files that are their
// user's alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/client/session.h"

namespace muster::local {

// A ConfigMap or Secret of core/v1.
struct ConfigDocument {
  bool secret = false;
  std::string name{};
  std::map<std::string, std::string> files{};  // Bytes by key.
};

struct SplitManifest {
  // What is left: comments stand for the lines of what was taken out, so that
  // all others have their numbers.
  std::string rest{};
  bool has_rest = false;  // There is another document.
  std::vector<ConfigDocument> documents{};
};

// Takes config maps and secrets out of a manifest. INVALID_ARGUMENT names what
// is wrong with one. Pure; O(bytes).
absl::StatusOr<SplitManifest> TakeConfigDocuments(std::string_view manifest);

// The folder of one submission's: config-maps/NAME/KEY and secrets/NAME/KEY.
// One thread.
class JobFiles {
 public:
  // Writes them, so that they are there after loss of power.
  static absl::StatusOr<std::unique_ptr<JobFiles>> Write(
      const std::vector<ConfigDocument>& documents);
  // Removes them unless they are kept: there are no jobs.
  ~JobFiles();
  JobFiles(const JobFiles&) = delete;
  JobFiles& operator=(const JobFiles&) = delete;

  const std::string& path() const { return path_; }
  // They are there for these jobs.
  void Keep(Session* session, const std::vector<uint64_t>& jobs);
  // There may be such jobs: the daemon was gone before it told. They are
  // removed after a day.
  void KeepForNow() { kept_ = true; }
  // A calendar has them, whose jobs come again and again: they stay.
  void KeepForGood(Session* session);
  // The jobs are over.
  void Drop() { kept_ = false; }

 private:
  explicit JobFiles(std::string path) : path_(std::move(path)) {}
  void Note(Session* session, const std::string& daemon,
            const std::vector<uint64_t>& jobs);

  const std::string path_;
  bool kept_ = false;
};

// Removes files whose jobs are all over; of some, the oldest first.
void DropOldJobFiles(Session* session);

// Keeps them for all later jobs of the user, in ~/.config/muster: each replaces
// what has its name. FAILED_PRECONDITION: there is no home.
absl::Status KeepForUser(const std::vector<ConfigDocument>& documents);

}  // namespace muster::local
