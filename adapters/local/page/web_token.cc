#include "adapters/local/page/web_token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

constexpr size_t kBytes = 32;
constexpr size_t kDigits = 2 * kBytes;

bool IsDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

absl::StatusOr<std::string> MakeSecret() {
  std::string bytes(kBytes, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    return absl::ErrnoToStatus(errno, "getrandom");
  }
  return absl::BytesToHexString(bytes);
}

// Through another name, so that whoever finds the file finds it whole.
absl::Status WriteSecret(const std::string& path, const std::string& secret) {
  const std::string made = absl::StrCat(path, ".", getpid());
  unlink(made.c_str());
  const int fd =
      open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
           S_IRUSR | S_IWUSR);
  if (fd < 0) return absl::ErrnoToStatus(errno, made);
  const std::string line = secret + "\n";
  const bool written = write(fd, line.data(), line.size()) ==
                           static_cast<ssize_t>(line.size()) &&
                       fsync(fd) == 0;
  const int why = errno;
  close(fd);
  if (written && rename(made.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  const int error = written ? errno : why;
  unlink(made.c_str());
  return absl::ErrnoToStatus(error, path);
}

absl::StatusOr<std::string> ReadSecret(const std::string& path, int fd) {
  struct stat is{};
  if (fstat(fd, &is) != 0) return absl::ErrnoToStatus(errno, path);
  if (!S_ISREG(is.st_mode) || is.st_uid != geteuid() ||
      (is.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": is not a file that its owner, the daemon's user, alone may "
        "read: remove it, or chmod 600"));
  }
  std::array<char, kDigits + 2> text{};
  const ssize_t size = read(fd, text.data(), text.size());
  if (size < 0) return absl::ErrnoToStatus(errno, path);
  std::string secret(text.data(), static_cast<size_t>(size));
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.size() != kDigits || !std::ranges::all_of(secret, IsDigit)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": is not ", kDigits, " hexadecimal digits: remove it"));
  }
  return secret;
}

absl::StatusOr<std::string> ReadOrMake(const std::string& path) {
  const int fd =
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0) {
    const absl::Cleanup closed = [fd] { close(fd); };
    return ReadSecret(path, fd);
  }
  if (errno != ENOENT) return absl::ErrnoToStatus(errno, path);
  auto secret = MakeSecret();
  if (!secret.ok()) return secret;
  const absl::Status written = WriteSecret(path, *secret);
  if (!written.ok()) return written;
  return secret;
}

}  // namespace

absl::StatusOr<WebSecrets> ReadOrMakeSecrets(const std::string& folder) {
  auto token = ReadOrMake(absl::StrCat(folder, "/", kTokenFile));
  if (!token.ok()) return token.status();
  auto session = ReadOrMake(absl::StrCat(folder, "/", kSessionFile));
  if (!session.ok()) return session.status();
  return WebSecrets{*std::move(token), *std::move(session)};
}

bool IsSecret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size() || secret.empty()) return false;
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < secret.size(); ++i) {
    difference = difference | static_cast<uint8_t>(given[i] ^ secret[i]);
  }
  return difference == 0;
}

}  // namespace muster::local
