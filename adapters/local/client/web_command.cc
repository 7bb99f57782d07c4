// muster web: the way to the page.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"

namespace muster::local {
namespace {

constexpr size_t kMostToken = 256;

// The first line. PERMISSION_DENIED: the token is not this user's to know.
absl::StatusOr<std::string> ReadToken(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) {
    return absl::PermissionDeniedError(
        absl::StrCat(file,
                     ": only the user that musterd runs as may read it; "
                     "the page is that user's"));
  }
  if (fd < 0) return absl::ErrnoToStatus(errno, file);
  std::array<char, kMostToken> text{};
  const ssize_t size = read(fd, text.data(), text.size());
  const int why = errno;
  close(fd);
  if (size < 0) return absl::ErrnoToStatus(why, file);
  const std::string line(text.data(), static_cast<size_t>(size));
  return line.substr(0, line.find('\n'));
}

}  // namespace

int ShowWeb(Session* session) {
  const auto answer = session->Ask("GET", "/v1/web");
  if (!answer.ok()) return session->Fail(answer.status());
  const auto token = ReadToken(answer->value("token_file", ""));
  if (!token.ok()) return session->Fail(token.status());
  const std::string address =
      absl::StrCat(answer->value("address", ""), "/login?token=", *token);
  if (session->json()) {
    session->PrintJson({{"address", address}});
  } else {
    session->out() << address << "\n";
  }
  return kDone;
}

}  // namespace muster::local
