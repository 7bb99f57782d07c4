// One connection of the HTTP server. Included by the server alone.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "adapters/serve/http_server.h"

namespace muster::serve {

// The way to the server's thread, for as long as there is a server.
// Thread-safe.
class Gate {
 public:
  explicit Gate(boost::asio::io_context* io) : io_(io) {}
  void Post(std::function<void()> call);
  void Close();

 private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

// Connections that are open. On the server's thread.
class Connections {
 public:
  explicit Connections(const HttpLimits& limits) : limits_(limits) {}
  // False: there are too many.
  bool Enter(const boost::asio::ip::address& peer);
  void Leave(const boost::asio::ip::address& peer);

 private:
  const HttpLimits limits_;
  size_t all_ = 0;
  std::map<boost::asio::ip::address, size_t> of_peer_;
};

// Lives as long as something of it is awaited. On the server's thread.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  // What it shares with the server.
  struct Shared {
    HttpLimits limits{};
    Handler handler{};
    std::shared_ptr<Gate> gate{};
    std::shared_ptr<Connections> connections{};
  };

  // The peer has entered `connections`.
  HttpSession(boost::asio::ip::tcp::socket socket,
              boost::asio::ip::address peer,
              std::shared_ptr<const Shared> shared);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  // Reads the next request.
  void Read();

 private:
  using Error = boost::system::error_code;
  using Body = boost::beast::http::string_body;

  void OnRead(const Error& error);
  // A request that is none.
  void Refuse(const Error& error);
  void Ask();
  void Answer(uint64_t request, HttpResponse response);
  void Write(HttpResponse response, bool keep_alive);
  void OnWritten(const Error& error);

  const std::shared_ptr<const Shared> shared_;
  boost::beast::tcp_stream stream_;
  const boost::asio::ip::address peer_;
  bool loopback_ = false;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<Body>> parser_;
  std::optional<boost::beast::http::response<Body>> response_;
  uint64_t requests_ = 0;
  uint64_t open_ = 0;  // Which of them waits for its answer; 0: none.
};

}  // namespace muster::serve
