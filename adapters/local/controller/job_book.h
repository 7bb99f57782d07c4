// JobBook: the jobs that have not finished, and what of them is to be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/options.h"
#include "adapters/local/controller/shared_text.h"
#include "adapters/local/model/turn_save.h"
#include "muster/ids.h"
#include "muster/workload/life_event.h"

namespace muster::local {

// The life of a job that waits, and holds nothing, is not kept in memory when
// there are many: it is made again of its row and events. Not synchronised.
class JobBook {
 public:
  // The configuration outlives the book.
  explicit JobBook(const ControllerConfig* config) : config_(*config) {}

  // Takes the job, by its id, which is above all others.
  JobRecord* Add(std::unique_ptr<JobRecord> record);
  // Null: there is none. O(log jobs).
  JobRecord* Find(uint64_t job);
  const JobRecord* Find(uint64_t job) const;
  // How many are the user's. O(log users).
  size_t CountOf(uint32_t uid) const;
  // By id.
  const std::map<uint64_t, std::unique_ptr<JobRecord>>& all() const {
    return jobs_;
  }

  // Sees to it that the life is there. An error says why the row or its events
  // cannot be understood. O(1) if it is there.
  absl::Status Load(JobRecord* record);
  // Its life and gang's form, of a job that has no event yet.
  absl::Status MakeLife(JobRecord* record);
  // The form anew, for other sizes.
  absl::Status MakeForm(JobRecord* record);
  // Its life is not needed for the time being.
  void Trim(JobRecord* record);
  // The event has happened: it is to be kept.
  void AddEvent(JobRecord* record, const workload::LifeEvent& event, Time at);
  // The row, with what is beside it.
  JobRow RowOf(const JobRecord& record) const;

  // The row is to be kept.
  void Change(const JobRecord& record) { changed_.insert(record.row.id); }
  void SetWake(JobRecord* record, Time at);
  // The job that is due first, no later than `now`; null: none.
  JobRecord* NextDue(Time now);
  Time next_wake() const {
    return wakes_.empty() ? kForever : wakes_.begin()->first;
  }

  // Moves rows and events to be kept; forgets the jobs that have ended.
  void Save(TurnSave* save);

  SharedTexts& texts() { return texts_; }
  ManifestCache& manifests() { return manifests_; }

 private:
  static constexpr size_t kMostEvents = 4;    // To be made again of.
  static constexpr size_t kMostLoaded = 256;  // Lives of jobs that wait.

  const ControllerConfig& config_;
  SharedTexts texts_;
  ManifestCache manifests_;
  std::map<uint64_t, std::unique_ptr<JobRecord>> jobs_;
  std::map<uint32_t, size_t> of_user_;  // Users that have any.
  std::set<std::pair<Time, uint64_t>> wakes_;
  std::set<uint64_t> changed_;
  std::vector<LifeRow> events_;  // To be kept.
  size_t loaded_ = 0;
};

// "A\0B\0" and back. O(size).
std::string JoinZeros(const std::vector<std::string>& texts);
std::vector<std::string> SplitZeros(std::string_view text);

}  // namespace muster::local
