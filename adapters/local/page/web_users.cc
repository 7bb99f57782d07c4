#include "adapters/local/page/web_users.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "adapters/local/page/private_file.h"

namespace muster::local {
namespace {

constexpr size_t kLongestLine = 160;

// "UID GID TOKEN SESSION"
std::optional<WebUser> ParseUser(const std::string& line) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  WebUser user;
  if (words.size() != 4 || !absl::SimpleAtoi(words[0], &user.uid) ||
      !absl::SimpleAtoi(words[1], &user.gid) || !HasFormOfSecret(words[2]) ||
      !HasFormOfSecret(words[3])) {
    return std::nullopt;
  }
  user.secrets = {words[2], words[3]};
  return user;
}

absl::StatusOr<WebSecrets> MakeSecrets() {
  auto token = MakeSecret();
  if (!token.ok()) return token.status();
  auto session = MakeSecret();
  if (!session.ok()) return session.status();
  return WebSecrets{*std::move(token), *std::move(session)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<WebUsers>> WebUsers::Open(
    const std::string& folder, uint32_t uid, uint32_t gid) {
  auto secrets = ReadOrMakeSecrets(folder);
  if (!secrets.ok()) return secrets.status();
  std::unique_ptr<WebUsers> users(new WebUsers(folder));
  users->users_.push_back({uid, gid, *std::move(secrets)});
  const absl::Status read = users->Read();
  if (!read.ok()) return read;
  return users;
}

absl::Status WebUsers::Read() {
  const std::string path = absl::StrCat(folder_, "/", kUsersFile);
  const auto text = ReadPrivateFile(path, kMostUsers * kLongestLine);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!text.ok()) return text.status();
  const std::vector<std::string> lines =
      absl::StrSplit(*text, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    auto user = ParseUser(line);
    if (!user) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": has a line that is no user's: remove the file"));
    }
    if (user->uid != users_[0].uid) users_.push_back(*std::move(user));
  }
  return absl::OkStatus();
}

absl::Status WebUsers::Write(const std::vector<WebUser>& users) const {
  std::string text;
  for (size_t i = 1; i < users.size(); ++i) {
    const WebUser& user = users[i];
    absl::StrAppend(&text, user.uid, " ", user.gid, " ", user.secrets.token,
                    " ", user.secrets.session, "\n");
  }
  return WritePrivateFile(absl::StrCat(folder_, "/", kUsersFile), text);
}

absl::StatusOr<std::string> WebUsers::TokenOf(uint32_t uid, uint32_t gid) {
  const std::lock_guard lock(mutex_);
  std::vector<WebUser> users = users_;
  const auto known = std::ranges::find(users, uid, &WebUser::uid);
  if (known == users.begin()) return known->secrets.token;
  if (known != users.end()) {
    const std::string token = known->secrets.token;
    if (known->gid == gid) return token;
    known->gid = gid;
  } else {
    if (users.size() >= kMostUsers) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "there are tokens of ", kMostUsers, " users, which is the most"));
    }
    auto secrets = MakeSecrets();
    if (!secrets.ok()) return secrets.status();
    users.push_back({uid, gid, *std::move(secrets)});
  }
  const absl::Status written = Write(users);
  if (!written.ok()) return written;
  users_ = std::move(users);
  return std::ranges::find(users_, uid, &WebUser::uid)->secrets.token;
}

absl::Status WebUsers::Forget(uint32_t uid) {
  const std::lock_guard lock(mutex_);
  if (uid == users_[0].uid) {
    for (const char* name : {kTokenFile, kSessionFile}) {
      unlink(absl::StrCat(folder_, "/", name).c_str());
    }
    auto secrets = ReadOrMakeSecrets(folder_);
    if (!secrets.ok()) return secrets.status();
    users_[0].secrets = *std::move(secrets);
    return absl::OkStatus();
  }
  std::vector<WebUser> users = users_;
  if (std::erase_if(users, [&](const WebUser& u) { return u.uid == uid; }) ==
      0) {
    return absl::OkStatus();
  }
  absl::Status written = Write(users);
  if (written.ok()) users_ = std::move(users);
  return written;
}

std::optional<WebUser> WebUsers::Find(std::string WebSecrets::* which,
                                      std::string_view secret) const {
  const std::lock_guard lock(mutex_);
  for (const WebUser& user : users_) {
    if (IsSecret(secret, user.secrets.*which)) return user;
  }
  return std::nullopt;
}

std::optional<WebUser> WebUsers::WithToken(std::string_view token) const {
  return Find(&WebSecrets::token, token);
}

std::optional<WebUser> WebUsers::WithSession(std::string_view session) const {
  return Find(&WebSecrets::session, session);
}

}  // namespace muster::local
