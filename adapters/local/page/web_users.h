// WebUsers: whose secrets let one in over TCP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/page/web_token.h"

namespace muster::local {

// Its name in the state folder: a line for each user but the daemon's own.
inline constexpr char kUsersFile[] = "web-users";

struct WebUser {
  uint32_t uid = 0;
  uint32_t gid = 0;
  WebSecrets secrets{};
};

// Who asks over the Unix socket, where the kernel says who it is, gets a token
// of that user. Thread-safe.
class WebUsers {
 public:
  static constexpr size_t kMostUsers = 10'000;

  // The daemon's own user, with the secrets of ReadOrMakeSecrets, and those who
  // have asked before. As ReadOrMakeSecrets; FAILED_PRECONDITION too if
  // `folder`/web-users has something else.
  static absl::StatusOr<std::unique_ptr<WebUsers>> Open(
      const std::string& folder, uint32_t uid, uint32_t gid);

  // The user's token, made and kept at the first time. The group is that of the
  // last time. RESOURCE_EXHAUSTED: there are kMostUsers; errors of the file
  // system, and then nothing has changed. O(users).
  absl::StatusOr<std::string> TokenOf(uint32_t uid, uint32_t gid);
  // The user's token and session are nobody's any more. Errors of the file
  // system. O(users).
  absl::Status Forget(uint32_t uid);

  // Whose it is; nullopt: nobody's. O(users).
  std::optional<WebUser> WithToken(std::string_view token) const;
  std::optional<WebUser> WithSession(std::string_view session) const;

 private:
  explicit WebUsers(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Read();
  absl::Status Write(const std::vector<WebUser>& users) const;
  std::optional<WebUser> Find(std::string WebSecrets::* which,
                              std::string_view secret) const;

  const std::string folder_;
  mutable std::mutex mutex_{};
  std::vector<WebUser> users_{};  // The first one is the daemon's own.
};

}  // namespace muster::local
