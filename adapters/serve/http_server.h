// A small HTTP/1.1 server, on addresses of the network and on Unix sockets.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/serve/address.h"
#include "adapters/serve/unix_socket.h"

namespace muster::serve {

// A process at the other end of a Unix socket, as it was when it connected.
struct Credentials {
  uint32_t uid = 0;
  uint32_t gid = 0;
  int32_t pid = 0;
};

struct HttpRequest {
  std::string method{};  // "GET".
  std::string path{};    // Not decoded.
  std::string query{};   // Behind the question mark.
  std::string token{};   // Of "Authorization: Bearer"; secret.
  std::string body{};
  // Header fields, as they came; empty: none. A page's server decides by them.
  std::string host{};
  std::string cookie{};  // Secret.
  std::string origin{};
  std::string fetch_site{};  // Sec-Fetch-Site.
  // The connection did not leave the machine, nor the pod.
  bool loopback = false;
  std::optional<Credentials> peer{};  // Over a Unix socket, and there always.
};

// Of a body that is sent as it comes to be.
struct BodyPart {
  std::string bytes{};
  bool last = false;
};
// From any thread, at any time; the first call counts.
using PartReply = std::function<void(BodyPart)>;
// Asked for one part after another, each when the client has taken the one
// before, so that one part is held at a time. Called on the server's thread: it
// answers at once, or hands the reply on; it may not block. It is destroyed
// when the client has gone, or the stream's time is over.
using BodySource = std::function<void(const PartReply&)>;

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  int retry_after = 0;  // Seconds; 0: nothing is said.
  // Further header fields, names and values as they are sent: the program's
  // own, without ends of lines.
  std::vector<std::pair<std::string, std::string>> headers{};
  // What follows the body; null: nothing. The answer is then sent in chunks.
  BodySource more{};
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
  size_t connections_of_peer = 16;  // Of one address, or of one user.
  uint32_t header = 16 << 10;       // Bytes. A token has some thousands.
  uint64_t body = 64 << 10;         // Bytes.
  // From the connection, or the answer before, to the whole request; and for
  // the client to take the answer.
  std::chrono::milliseconds transfer{10'000};
  // From the request to the answer: then it is 503.
  std::chrono::milliseconds answer{8'000};
  // From the first part of a stream to the end, which then comes early: the
  // client may ask for the rest. For each part `transfer` holds.
  std::chrono::milliseconds stream{3'600'000};
};

// One thread of its own.
class HttpServer {
 public:
  // INVALID_ARGUMENT, UNAVAILABLE: an address is none of this machine, or is in
  // use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::vector<Address>& addresses, const HttpLimits& limits,
      Handler handler);
  // The same, and on Unix sockets, with the errors of UnixSocket::Listen. Who
  // has too many connections there is told so: 503.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::vector<Address>& addresses,
      const std::vector<UnixAddress>& sockets, const HttpLimits& limits,
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
