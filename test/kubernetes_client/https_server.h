// The server of https_server.py or http2_server.mjs, with certificates made for
// it.
#pragma once

#include <string>

namespace muster::kubernetes::client {

// Ends with its object. Needs openssl and python3, or Node.js for HTTP/2.
class HttpsServer {
 public:
  explicit HttpsServer(bool http2 = false);
  ~HttpsServer();
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  // Why it does not run; "" if it does.
  const std::string& missing() const { return missing_; }
  int port() const { return port_; }
  std::string url(const std::string& host = "127.0.0.1") const {
    return "https://" + host + ":" + std::to_string(port_);
  }
  // A file of its folder: server.pem (its certificate and authority, for
  // 127.0.0.1 and api.test), other.pem (of nobody), client.pem, client.key.
  std::string Text(const std::string& file) const;
  std::string PathOf(const std::string& file) const;
  void SetToken(const std::string& token) const;

 private:
  std::string folder_{};
  std::string missing_{};
  int port_ = 0;
  int pid_ = -1;
  int input_ = -1;
};

}  // namespace muster::kubernetes::client
