#include "test/adapters/serve/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace muster::serve {

HttpClient::HttpClient(uint16_t port) {
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = 20, .tv_usec = 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // A failure is seen by Send.
  [[maybe_unused]] const int connected =
      connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

HttpClient::~HttpClient() { close(socket_); }

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string HttpClient::Receive() {
  for (;;) {
    const size_t head = rest_.find("\r\n\r\n");
    if (head != std::string::npos) {
      constexpr std::string_view kLength = "Content-Length: ";
      const size_t at = rest_.find(kLength);
      const size_t length =
          at < head ? static_cast<size_t>(
                          std::atoll(rest_.c_str() + at + kLength.size()))
                    : 0;
      const size_t end = head + 4 + length;
      if (rest_.size() >= end) {
        const std::string response = rest_.substr(0, end);
        rest_.erase(0, end);
        return response;
      }
    }
    char buffer[4096];
    const ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
    if (count <= 0) return "";
    rest_.append(buffer, static_cast<size_t>(count));
  }
}

std::string Ask(uint16_t port, const std::string& request) {
  HttpClient client(port);
  client.Send(request);
  const std::string response = client.Receive();
  constexpr size_t kVersion = sizeof "HTTP/1.1 " - 1;
  if (response.size() < kVersion + 3) return "";
  const size_t head = response.find("\r\n\r\n");
  return response.substr(kVersion, 3) + " " + response.substr(head + 4);
}

std::string Get(uint16_t port, const std::string& target,
                const std::string& headers) {
  return Ask(port, "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers +
                       "Connection: close\r\n\r\n");
}

}  // namespace muster::serve
