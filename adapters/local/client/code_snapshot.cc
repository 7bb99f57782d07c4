#include "adapters/local/client/code_snapshot.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "adapters/local/client/state_folder.h"
#include "adapters/local/model/socket_path.h"
#include "adapters/local/shim/open_file.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr char kPart[] = ".part";
constexpr char kJobs[] = ".jobs";
constexpr Duration kDay = int64_t{24} * 3600 * kSecond;

OpenFile Open(const std::string& path, int flags, mode_t mode = 0) {
  return OpenFile(open(path.c_str(), flags | O_CLOEXEC, mode));
}

absl::Status Errno(const std::string& path) {
  return absl::ErrnoToStatus(errno, path);
}

// The whole content; true if the blocks are shared.
absl::StatusOr<bool> Fill(int to, int from, const std::string& path) {
  if (ioctl(to, FICLONE, from) == 0) return true;
  std::vector<char> buffer(size_t{1} << 20);
  for (;;) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got == 0) return false;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Errno(path);
    for (ssize_t done = 0; done < got;) {
      const ssize_t put =
          write(to, buffer.data() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno != EINTR) return Errno(path);
      done += std::max<ssize_t>(0, put);
    }
  }
}

bool IsSame(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// Whether the blocks are shared; nothing is copied of what is gone or no
// regular file by now.
absl::StatusOr<bool> CopyFile(const std::string& from, const std::string& to) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const OpenFile in = Open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!in.ok() && errno == ENOENT) return false;
    struct stat before{};
    struct stat after{};
    if (!in.ok() || fstat(in.fd(), &before) != 0) return Errno(from);
    if (!S_ISREG(before.st_mode)) return false;
    const OpenFile out =
        Open(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (!out.ok()) return Errno(to);
    const auto shared = Fill(out.fd(), in.fd(), from);
    if (!shared.ok()) return shared;
    if (fstat(in.fd(), &after) != 0) return Errno(from);
    if (!IsSame(before, after)) continue;
    const timespec times[] = {before.st_atim, before.st_mtim};
    if (fchmod(out.fd(), before.st_mode & 0777) != 0 ||
        futimens(out.fd(), times) != 0) {
      return Errno(to);
    }
    return shared;
  }
  return absl::FailedPreconditionError(
      absl::StrCat(from, ": changes while it is copied"));
}

absl::Status CopyLink(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_symlink(from, to, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(from.string(), ": ", error.message()));
}

absl::Status CopyAll(const CodeFiles& code, const fs::path& to,
                     CodeSnapshot* snapshot) {
  for (const std::string& path : code.paths) {
    const fs::path from = fs::path(code.root) / path;
    std::error_code error;
    const fs::file_type type = fs::symlink_status(from, error).type();
    const bool folder = type == fs::file_type::directory;
    fs::create_directories(folder ? to / path : (to / path).parent_path(),
                           error);
    if (error) {
      return absl::FailedPreconditionError(
          absl::StrCat((to / path).string(), ": ", error.message()));
    }
    if (folder) continue;
    if (type == fs::file_type::symlink) {
      if (absl::Status s = CopyLink(from, to / path); !s.ok()) return s;
      continue;
    }
    const auto shared = CopyFile(from.string(), (to / path).string());
    if (!shared.ok()) return shared.status();
    snapshot->shared += *shared;
  }
  return absl::OkStatus();
}

struct Noted {
  std::string daemon{};
  std::vector<uint64_t> jobs{};
};

// Whose jobs; nothing if that was never noted.
Noted ReadNote(const fs::path& file) {
  std::ifstream in(file);
  const auto json = nlohmann::json::parse(in, nullptr, /*exceptions=*/false);
  Noted noted;
  if (!json.is_object() || !json.contains("jobs")) return noted;
  noted.daemon = json.value("daemon", "");
  for (const auto& job : json["jobs"]) {
    if (job.is_number_unsigned()) noted.jobs.push_back(job.get<uint64_t>());
  }
  return noted;
}

Duration AgeOf(const fs::path& path, Time now) {
  struct stat at{};
  if (lstat(path.c_str(), &at) != 0) return 0;
  return now - int64_t{at.st_mtim.tv_sec} * kSecond;
}

void Remove(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  fs::remove(path.string() + kJobs, error);
}

}  // namespace

std::string SnapshotStore() {
  const std::string own = EnvironmentText("MUSTER_CODE");
  return own.empty() ? StateFolder("code") : own;
}

absl::StatusOr<CodeSnapshot> TakeSnapshot(const CodeFiles& code,
                                          const std::string& store) {
  std::error_code error;
  fs::create_directories(store, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat(store, ": ", error.message()));
  }
  std::string part = absl::StrCat(
      store, "/",
      absl::FormatTime("%Y%m%dT%H%M%S", absl::Now(), absl::UTCTimeZone()),
      "-XXXXXX");
  if (mkdtemp(part.data()) == nullptr) return Errno(part);
  // It has its name when it is whole.
  CodeSnapshot snapshot{.path = part};
  part += kPart;
  fs::rename(snapshot.path, part, error);
  const absl::Status copied = CopyAll(code, part, &snapshot);
  if (copied.ok()) fs::rename(part, snapshot.path, error);
  if (!copied.ok() || error) Remove(part);
  if (!copied.ok()) return copied;
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat(snapshot.path, ": ", error.message()));
  }
  return snapshot;
}

absl::Status NoteJobs(const CodeSnapshot& snapshot, const std::string& daemon,
                      const std::vector<uint64_t>& jobs) {
  std::ofstream file(snapshot.path + kJobs);
  file << nlohmann::json{{"daemon", daemon}, {"jobs", jobs}} << "\n";
  file.flush();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(snapshot.path, kJobs, ": cannot be written"));
}

void DropSnapshot(const CodeSnapshot& snapshot) { Remove(snapshot.path); }

void DropOldSnapshots(const std::string& store, const std::string& daemon,
                      Time now, size_t most,
                      const std::function<bool(uint64_t job)>& is_over,
                      Duration keep) {
  std::error_code error;
  std::vector<fs::path> all;
  for (fs::directory_iterator it(store, error), end; !error && it != end;
       it.increment(error)) {
    if (it->symlink_status(error).type() == fs::file_type::directory)
      all.push_back(it->path());
  }
  std::ranges::sort(all);  // By the time in their names.
  for (size_t i = 0; i < all.size() && i < most; ++i) {
    const Noted noted = ReadNote(all[i].string() + kJobs);
    const Duration age = AgeOf(all[i], now);
    const bool failed = noted.jobs.empty() && age > kDay;
    const bool over = !noted.jobs.empty() && noted.daemon == daemon &&
                      age >= keep && std::ranges::all_of(noted.jobs, is_over);
    if (failed || over) Remove(all[i]);
  }
}

}  // namespace muster::local
