#include "adapters/local/page/web_token.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/page/private_file.h"

namespace muster::local {
namespace {

constexpr size_t kBytes = 32;
constexpr size_t kDigits = 2 * kBytes;

bool IsDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

absl::StatusOr<std::string> ReadOrMake(const std::string& path) {
  auto secret = ReadPrivateFile(path, 2 * kDigits);
  if (absl::IsNotFound(secret.status())) {
    secret = MakeSecret();
    if (!secret.ok()) return secret;
    const absl::Status written = WritePrivateFile(path, *secret + "\n");
    if (!written.ok()) return written;
    return secret;
  }
  if (!secret.ok()) return secret;
  if (secret->ends_with('\n')) secret->pop_back();
  if (!HasFormOfSecret(*secret)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": is not ", kDigits, " hexadecimal digits: remove it"));
  }
  return secret;
}

}  // namespace

absl::StatusOr<std::string> MakeSecret() {
  std::string bytes(kBytes, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    return absl::ErrnoToStatus(errno, "getrandom");
  }
  return absl::BytesToHexString(bytes);
}

bool HasFormOfSecret(std::string_view text) {
  return text.size() == kDigits && std::ranges::all_of(text, IsDigit);
}

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
