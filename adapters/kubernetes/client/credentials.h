// What a request shows to the API server so that it knows who asks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/clock.h"

namespace muster::kubernetes::client {

// Secret: never to be printed, and never part of an error.
struct Credential {
  std::string token{};            // Bearer; "" for none.
  std::string certificate_pem{};  // Of the client; "" for none.
  std::string key_pem{};
  // Another one for each other content.
  uint64_t generation = 0;
};

// On one thread, that of its transport. `now` is SteadyNow.
class Credentials {
 public:
  virtual ~Credentials() = default;
  // What is valid now. Reads a file or, from a kubeconfig with a plug-in, runs
  // that, which blocks for its time-out at most; both only when it is due.
  // UNAUTHENTICATED says why there is none, without a secret.
  virtual absl::StatusOr<Credential> Get(Millis now) = 0;
  // The server refused (401) the credential of this generation: the next Get
  // looks for another one, if there may be one.
  virtual void Refused(uint64_t generation) = 0;
};

// The same for ever.
std::unique_ptr<Credentials> FixedCredentials(Credential credential);

// A token in a file that somebody rotates: read again after each minute and
// after a refusal. A file that cannot be read is an error only if no token has
// been read yet. `certificate_pem` and `key_pem` of `base` are shown as well.
std::unique_ptr<Credentials> TokenFileCredentials(std::string file,
                                                  Credential base);

}  // namespace muster::kubernetes::client
