#include "adapters/local/client/job_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/code_snapshot.h"
#include "adapters/local/client/state_folder.h"
#include "adapters/local/model/socket_path.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

// Old folders that one submission looks at.
constexpr size_t kMostOld = 8;

// Of this user's submissions; empty: there is no home.
std::string Store() { return StateFolder("files"); }

absl::Status Errno(const std::string& path) {
  return absl::ErrnoToStatus(errno, path);
}

// That of folders above it is as the umask has it.
absl::Status MakePrivate(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return Errno(path);
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, const std::string& bytes) {
  const int fd = open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Errno(path);
  absl::Status status;
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t count = write(fd, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      status = Errno(path);
      break;
    }
    at += static_cast<size_t>(count);
  }
  close(fd);
  return status;
}

std::string FolderOf(const std::string& base, const ConfigDocument& document) {
  return absl::StrCat(base, document.secret ? "/secrets/" : "/config-maps/",
                      document.name);
}

absl::Status WriteDocument(const std::string& folder,
                           const ConfigDocument& document) {
  absl::Status status = MakePrivate(folder);
  for (const auto& [key, bytes] : document.files) {
    if (!status.ok()) return status;
    status = WriteFile(absl::StrCat(folder, "/", key), bytes);
  }
  return status;
}

absl::Status Sync(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && syncfs(fd) == 0;
  const absl::Status status = synced ? absl::OkStatus() : Errno(folder);
  if (fd >= 0) close(fd);
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobFiles>> JobFiles::Write(
    const std::vector<ConfigDocument>& documents) {
  const std::string store = Store();
  if (store.empty()) {
    return absl::FailedPreconditionError(
        "config maps and secrets are kept at home, and there is none (HOME)");
  }
  if (absl::Status made = MakePrivate(store); !made.ok()) return made;
  std::string path = store + "/XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return Errno(path);
  std::unique_ptr<JobFiles> files(new JobFiles(path));
  for (const char* kind : {"/secrets", "/config-maps"}) {
    if (absl::Status made = MakePrivate(path + kind); !made.ok()) return made;
  }
  for (const ConfigDocument& document : documents) {
    const absl::Status written =
        WriteDocument(FolderOf(path, document), document);
    if (!written.ok()) return written;
  }
  if (absl::Status synced = Sync(path); !synced.ok()) return synced;
  return files;
}

JobFiles::~JobFiles() {
  if (!kept_) DropSnapshot({.path = path_});
}

void JobFiles::Keep(Session* session, const std::vector<uint64_t>& jobs) {
  Note(session, session->connection().socket(), jobs);
}

// A job of no daemon is never over.
void JobFiles::KeepForGood(Session* session) { Note(session, "", {0}); }

void JobFiles::Note(Session* session, const std::string& daemon,
                    const std::vector<uint64_t>& jobs) {
  kept_ = true;
  const absl::Status noted = NoteJobs({.path = path_}, daemon, jobs);
  if (!noted.ok()) session->err() << "muster: " << noted.message() << "\n";
}

void DropOldJobFiles(Session* session) {
  DropOldSnapshots(
      Store(), session->connection().socket(),
      static_cast<Time>(session->Now()) * kSecond, kMostOld,
      [session](uint64_t job) {
        const auto answer = session->Ask("GET", absl::StrCat("/v1/jobs/", job));
        return answer.ok() ? answer->contains("finished")
                           : absl::IsNotFound(answer.status());
      },
      /*keep=*/0);
}

absl::Status KeepForUser(const std::vector<ConfigDocument>& documents) {
  const std::string home = EnvironmentText("HOME");
  if (!home.starts_with('/')) {
    return absl::FailedPreconditionError(
        "config maps and secrets are kept at home, and there is none (HOME)");
  }
  const std::string base = home + "/.config/muster";
  for (const char* kind : {"", "/secrets", "/config-maps"}) {
    if (absl::Status made = MakePrivate(base + kind); !made.ok()) return made;
  }
  for (const ConfigDocument& document : documents) {
    const std::string folder = FolderOf(base, document);
    const std::string part = folder + ".new";
    std::error_code error;
    fs::remove_all(part, error);
    const absl::Status written = WriteDocument(part, document);
    if (!written.ok()) return written;
    fs::remove_all(folder, error);
    fs::rename(part, folder, error);
    if (error) return absl::ErrnoToStatus(error.value(), folder);
  }
  return Sync(base);
}

}  // namespace muster::local
