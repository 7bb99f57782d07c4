// An HTTP client that can be as bad as one likes. For tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::serve {

// A connection to a port of 127.0.0.1, or to a Unix socket.
class HttpClient {
 public:
  explicit HttpClient(uint16_t port);
  explicit HttpClient(const std::string& path);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // False: the server has closed the connection.
  bool Send(std::string_view bytes);
  // One response, its head with it; "" if the server closes without one or
  // 20 s are over.
  std::string Receive();
  // All that comes until `end` has come, which is kept out; "" as above.
  std::string ReceiveUntil(std::string_view end);

 private:
  bool ReceiveMore();

  int socket_ = -1;
  std::string rest_{};
};

// GET over a connection of its own: "200 body".
std::string Get(uint16_t port, const std::string& target,
                const std::string& headers = "");
std::string Get(const std::string& path, const std::string& target);
// The same of a whole request, as it is sent.
std::string Ask(uint16_t port, const std::string& request);

}  // namespace muster::serve
