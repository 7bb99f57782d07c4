// One run of the command line: whom it asks, and how it tells.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/local/client/connection.h"

namespace muster::local {

// What the program ends with; --wait ends with the job's own code.
inline constexpr int kDone = 0;
inline constexpr int kRefused = 1;
inline constexpr int kUsage = 2;
inline constexpr int kNoDaemon = 3;

// Not synchronised.
class Session {
 public:
  using Json = nlohmann::ordered_json;

  // The streams are not owned.
  Session(std::string socket, bool json, std::istream* in, std::ostream* out,
          std::ostream* err);

  // The answer's JSON. INVALID_ARGUMENT, NOT_FOUND and so on: it was refused;
  // UNAVAILABLE: there is no daemon. The message is the daemon's.
  absl::StatusOr<Json> Ask(std::string_view method, const std::string& target,
                           const Json& body = {});

  // The same, not read.
  absl::StatusOr<std::string> AskText(std::string_view method,
                                      const std::string& target,
                                      const Json& body = {});

  // Tells why, and the code to end with.
  int Fail(const absl::Status& status);
  // Tells a value as JSON; for --json.
  void PrintJson(const Json& json);

  Connection& connection() { return connection_; }
  bool json() const { return json_; }
  std::istream& in() { return in_; }
  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }
  uint32_t uid() const { return uid_; }
  // Seconds since 1970.
  double Now() const;

 private:
  Connection connection_;
  const bool json_;
  std::istream& in_;
  std::ostream& out_;
  std::ostream& err_;
  const uint32_t uid_;
};

// An answer's status as one of absl's.
absl::Status StatusOf(const HttpAnswer& answer);

}  // namespace muster::local
