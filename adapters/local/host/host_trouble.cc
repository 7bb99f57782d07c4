// The Host where the disk is full, or its store cannot be written for another
// reason.
//
// While there is little room left, what ends is kept: in what the store has
// reserved, which no task can fill. When nothing can be kept any more, what was
// kept is told, by a controller that is made of it again; each second it is
// tried to keep something.
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/host/host.h"

namespace muster::local {
namespace {

constexpr Duration kRetryEvery = kSecond;
// Making the controller again takes at most a fifth of the time.
constexpr Duration kRestTimes = 4;
// What a disk is full with, and what it is not full with any more.
constexpr uint64_t kFullBytes = uint64_t{1} << 20;
constexpr uint64_t kRoomBytes = uint64_t{4} << 20;
constexpr uint64_t kFullFiles = 100;

// Whether the file system of the folder has less than so much for this user.
bool HasLess(const std::string& folder, uint64_t bytes) {
  struct statvfs is{};
  if (statvfs(folder.c_str(), &is) != 0 || is.f_blocks == 0) return false;
  const bool root = geteuid() == 0;
  const uint64_t blocks = root ? is.f_bfree : is.f_bavail;
  const uint64_t files = root ? is.f_ffree : is.f_favail;
  return blocks * is.f_frsize < bytes || (is.f_files > 0 && files < kFullFiles);
}

}  // namespace

void Host::LookAtDisk(Time now) {
  const bool was = !full_.ok();
  const bool is = HasLess(options_.state, was ? kRoomBytes : kFullBytes) ||
                  (was && !store_->Reserve().ok());
  if (is) retry_at_ = now + kRetryEvery;
  if (is == was) return;
  if (is) {
    full_ = absl::ResourceExhaustedError(
        absl::StrCat("the disk of ", options_.state,
                     " is full: until there is room, jobs can be cancelled and "
                     "nothing else is accepted"));
    return Say(std::string(full_.message()));
  }
  full_ = absl::OkStatus();
  Say(absl::StrCat("the disk of ", options_.state, " has room again"));
  // Its first turn tells of all starts again.
  if (std::exchange(held_back_, false)) BeginAgain(now);
}

// Nothing of the turn is told or done. Who has asked something is answered from
// what was kept.
void Host::GiveUp(const absl::Status& why, Time now) {
  if (trouble_.ok()) {
    Say(absl::StrCat(why.message(), "; nothing is accepted until it is over"));
  }
  trouble_ = why;
  api_->Refuse(why);
  BeginAgain(now);
  const Duration took = clock_->Now() - now;
  retry_at_ = now + std::max(kRetryEvery, kRestTimes * took);
}

void Host::BeginAgain(Time now) {
  if (absl::Status opened = OpenController(now); !opened.ok()) {
    controller_.reset();
    trouble_ = opened;
    retry_at_ = now + kRetryEvery;
    return api_->RefuseAll(opened);
  }
  api_->Kept(controller_.get(), &store_->history(), now);
}

void Host::Rest(Time now) {
  if (controller_ == nullptr) return;
  api_->Rest(controller_.get(), &store_->history(), now, full_);
  api_->Kept(controller_.get(), &store_->history(), now);
}

void Host::TryAgain(Time now) {
  if (controller_ == nullptr) BeginAgain(now);
  if (controller_ == nullptr || !OneTurn(now)) return;
  trouble_ = absl::OkStatus();
}

}  // namespace muster::local
