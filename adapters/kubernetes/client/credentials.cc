#include "adapters/kubernetes/client/credentials.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "adapters/kubernetes/client/file.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

constexpr Millis kReadAgainAfter = 60'000;

class Fixed final : public Credentials {
 public:
  explicit Fixed(Credential credential) : credential_(std::move(credential)) {}
  absl::StatusOr<Credential> Get(Millis) override { return credential_; }
  void Refused(uint64_t) override {}

 private:
  Credential credential_;
};

class TokenFile final : public Credentials {
 public:
  TokenFile(std::string file, Credential base)
      : file_(std::move(file)), credential_(std::move(base)) {
    credential_.generation = 0;
  }

  absl::StatusOr<Credential> Get(Millis now) override {
    if (refused_ || credential_.generation == 0 || now >= read_again_) {
      refused_ = false;
      const absl::Status read = Read();
      // With a token in hand, a file that is being replaced is no reason to
      // stop.
      if (!read.ok() && credential_.generation == 0) return read;
      read_again_ = Later(now, kReadAgainAfter);
    }
    return credential_;
  }

  void Refused(uint64_t generation) override {
    refused_ = refused_ || generation == credential_.generation;
  }

 private:
  absl::Status Read() {
    auto text = ReadFile(file_);
    if (!text.ok()) return absl::UnauthenticatedError(text.status().message());
    absl::StripAsciiWhitespace(&*text);
    if (text->empty() || text->find_first_of("\r\n") != std::string::npos) {
      return absl::UnauthenticatedError(
          Concat(file_, ": expected a token on one line"));
    }
    if (*text != credential_.token) {
      credential_.token = *std::move(text);
      ++credential_.generation;
    }
    return absl::OkStatus();
  }

  std::string file_;
  Credential credential_;
  bool refused_ = false;
  Millis read_again_ = 0;
};

}  // namespace

std::unique_ptr<Credentials> FixedCredentials(Credential credential) {
  return std::make_unique<Fixed>(std::move(credential));
}

std::unique_ptr<Credentials> TokenFileCredentials(std::string file,
                                                  Credential base) {
  return std::make_unique<TokenFile>(std::move(file), std::move(base));
}

}  // namespace muster::kubernetes::client
