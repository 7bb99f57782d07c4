// HTTP over a Unix socket, as musterd speaks it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::local {

struct HttpAnswer {
  int status = 0;
  std::string body{};
};

// A connection for each call. Blocks; one thread at a time.
class Connection {
 public:
  explicit Connection(std::string socket) : socket_(std::move(socket)) {}

  // UNAVAILABLE: nobody answers there, and why. A connection that is refused
  // because there are too many is tried again for some seconds: nothing has
  // happened then.
  absl::StatusOr<HttpAnswer> Call(std::string_view method,
                                  const std::string& target,
                                  const std::string& body = "");

  // The same, but the body of a 200 is told as it comes. `part` returns false
  // to end. The body that is returned is that of another status.
  using Part = std::function<bool(std::string_view)>;
  absl::StatusOr<HttpAnswer> Stream(const std::string& target,
                                    const Part& part);

  const std::string& socket() const { return socket_; }

 private:
  absl::StatusOr<HttpAnswer> CallOnce(std::string_view method,
                                      const std::string& target,
                                      const std::string& body,
                                      const Part& part);

  const std::string socket_;
};

}  // namespace muster::local
