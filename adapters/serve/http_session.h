// One connection of the HTTP server. Included by the server alone.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "adapters/serve/connections.h"
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

// Lives as long as something of it is awaited. On the server's thread.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  // What it shares with the server.
  struct Shared {
    HttpLimits limits{};
    Handler handler{};
    std::shared_ptr<Gate> gate{};
    std::shared_ptr<Connections> connections{};
  };

  // The peer has entered `connections`.
  HttpSession(Socket socket, Peer peer, std::shared_ptr<const Shared> shared);
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
  // Ends when the client goes; while its answer, or a part, is awaited.
  void Watch();
  bool HasGone();
  void End();

  // A stream: its head, then part after part.
  void WriteHead(HttpResponse response, bool keep_alive);
  void AskForPart();
  void TakePart(uint64_t number, BodyPart part);
  void WritePart(BodyPart part);
  void WriteLast();

  const std::shared_ptr<const Shared> shared_;
  boost::beast::basic_stream<boost::asio::generic::stream_protocol> stream_;
  const Peer peer_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<Body>> parser_;
  std::optional<boost::beast::http::response<Body>> response_;
  // Of a stream.
  std::optional<boost::beast::http::response<boost::beast::http::empty_body>>
      head_;
  std::optional<
      boost::beast::http::response_serializer<boost::beast::http::empty_body>>
      head_serializer_;
  std::unique_ptr<BodySource> source_{};
  BodyPart part_{};  // That is being written.
  uint64_t parts_ = 0;
  uint64_t open_part_ = 0;  // Which of them is awaited; 0: none.
  bool over_ = false;       // Its time is.
  uint64_t requests_ = 0;
  uint64_t open_ = 0;  // Which of them waits for its answer; 0: none.
};

}  // namespace muster::serve
