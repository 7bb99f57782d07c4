#include "test/adapters/serve/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace muster::serve {

namespace {

int NewSocket(int family) {
  const int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = 20, .tv_usec = 0};
  setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return made;
}

// Status and body.
std::string Short(const std::string& response) {
  constexpr size_t kVersion = sizeof "HTTP/1.1 " - 1;
  if (response.size() < kVersion + 3) return "";
  const size_t head = response.find("\r\n\r\n");
  return response.substr(kVersion, 3) + " " + response.substr(head + 4);
}

}  // namespace

HttpClient::HttpClient(uint16_t port) : socket_(NewSocket(AF_INET)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // A failure is seen by Send.
  [[maybe_unused]] const int connected =
      connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

HttpClient::HttpClient(const std::string& path) : socket_(NewSocket(AF_UNIX)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  [[maybe_unused]] const int connected =
      connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

HttpClient::~HttpClient() { close(socket_); }

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
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
    if (!ReceiveMore()) return "";
  }
}

std::string HttpClient::ReceiveUntil(std::string_view end) {
  for (;;) {
    const size_t at = rest_.find(end);
    if (at != std::string::npos) {
      const std::string before = rest_.substr(0, at);
      rest_.erase(0, at + end.size());
      return before;
    }
    if (!ReceiveMore()) return "";
  }
}

bool HttpClient::ReceiveMore() {
  char buffer[4096];
  ssize_t count;
  do {  // A child of this process that ends may interrupt it.
    count = recv(socket_, buffer, sizeof buffer, 0);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  rest_.append(buffer, static_cast<size_t>(count));
  return true;
}

std::string Ask(uint16_t port, const std::string& request) {
  HttpClient client(port);
  client.Send(request);
  return Short(client.Receive());
}

std::string Get(const std::string& path, const std::string& target) {
  HttpClient client(path);
  client.Send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
  return Short(client.Receive());
}

std::string Get(uint16_t port, const std::string& target,
                const std::string& headers) {
  return Ask(port, "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers +
                       "Connection: close\r\n\r\n");
}

}  // namespace muster::serve
