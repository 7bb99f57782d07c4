// Rows and folders for tests of the store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "adapters/local/model/turn_save.h"
#include "adapters/local/store/store.h"

namespace muster::local {

// A folder of the test's own, gone with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name = "muster.db") const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

// The store of the path. A test that it cannot be opened for fails; null.
std::unique_ptr<Store> OpenStore(const std::string& path);

// A job of which every field has a value of its own, made from the id.
JobRow SampleJob(uint64_t id);
// And as it is when it has ended.
JobRow EndedJob(uint64_t id);
// A calendar, likewise.
CronRow SampleCron(uint64_t id);
// Likewise an event of its life, and an attempt of its first task.
LifeRow SampleLife(uint64_t job, uint64_t seq);
TaskRow SampleTask(uint64_t job, uint32_t attempt, const std::string& state);

// Forgets what is overdue; how many jobs these are.
size_t Prune(Store& store, const Retention& retention, Time now);
// All that have ended, but for the last so many.
size_t Prune(Store& store, uint64_t keep);

// What a file holds; "" if there is none.
std::string FileBytes(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace muster::local
