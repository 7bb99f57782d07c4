// A small HTTP/1.1 server for few clients that ask little.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/serve/address.h"

namespace muster::serve {

struct HttpRequest {
  std::string method{};  // "GET".
  std::string path{};    // Not decoded.
  std::string query{};   // Behind the question mark.
  std::string token{};   // Of "Authorization: Bearer"; secret.
  std::string body{};
  // The connection did not leave the machine, nor the pod.
  bool loopback = false;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  int retry_after = 0;  // Seconds; 0: nothing is said.
};

// From any thread, at any time; the first call counts, unless the client or the
// server has gone.
using Reply = std::function<void(HttpResponse)>;
// On the server's thread: it answers at once, or hands the reply on. It may not
// block.
using Handler = std::function<void(HttpRequest, const Reply&)>;

// What is longer, slower or more than this is refused.
struct HttpLimits {
  size_t connections = 64;
  size_t connections_of_peer = 16;  // Of one address.
  uint32_t header = 16 << 10;       // Bytes. A token has some thousands.
  uint64_t body = 64 << 10;         // Bytes.
  // From the connection, or the answer before, to the whole request; and for
  // the client to take the answer.
  std::chrono::milliseconds transfer{10'000};
  // From the request to the answer: then it is 503.
  std::chrono::milliseconds answer{8'000};
};

// One thread of its own.
class HttpServer {
 public:
  // INVALID_ARGUMENT, UNAVAILABLE: an address is none of this machine, or is in
  // use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::vector<Address>& addresses, const HttpLimits& limits,
      Handler handler);
  // Ends all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Of the addresses, in their order.
  const std::vector<uint16_t>& ports() const { return ports_; }

 private:
  class Impl;
  HttpServer(std::unique_ptr<Impl> impl, std::vector<uint16_t> ports);

  std::unique_ptr<Impl> impl_;
  const std::vector<uint16_t> ports_;
};

}  // namespace muster::serve
