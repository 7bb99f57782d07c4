#include "adapters/local/client/connection.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Local = asio::local::stream_protocol;
using Error = boost::system::error_code;

constexpr size_t kMostSocketPath = 107;
constexpr size_t kReadSize = 64 << 10;
// What the server says to a connection that it does not take.
constexpr std::string_view kTooMany = "too many connections\n";

absl::Status NoDaemon(const std::string& socket, const Error& error) {
  return absl::UnavailableError(
      absl::StrCat("no answer from musterd at ", socket, ": ",
                   error ? error.message() : std::string("it went away")));
}

// The body, part by part.
class BodyReader {
 public:
  BodyReader(Local::socket* socket, boost::beast::flat_buffer* buffer)
      : socket_(*socket), buffer_(*buffer) {
    parser_.body_limit(std::numeric_limits<uint64_t>::max());
    parser_.header_limit(64 << 10);
  }

  Error ReadHead() {
    Error error;
    http::read_header(socket_, buffer_, parser_, error);
    return error;
  }
  int status() { return static_cast<int>(parser_.get().result_int()); }

  Error ReadBody(const Connection::Part& part) {
    char bytes[kReadSize];
    while (!parser_.is_done()) {
      auto& body = parser_.get().body();
      body.data = bytes;
      body.size = sizeof bytes;
      Error error;
      http::read_some(socket_, buffer_, parser_, error);
      if (error == http::error::need_buffer) error = {};
      if (error) return error;
      const size_t count = sizeof bytes - body.size;
      if (count > 0 && !part({bytes, count})) return {};
    }
    return {};
  }

 private:
  Local::socket& socket_;
  boost::beast::flat_buffer& buffer_;
  http::response_parser<http::buffer_body> parser_{};
};

}  // namespace

absl::StatusOr<HttpAnswer> Connection::CallOnce(std::string_view method,
                                                const std::string& target,
                                                const std::string& body,
                                                const Part& part) {
  if (socket_.size() > kMostSocketPath) {
    return absl::InvalidArgumentError(absl::StrCat(
        "socket: expected a path of at most ", kMostSocketPath, " bytes"));
  }
  asio::io_context io;
  Local::socket socket(io);
  Error error;
  if (socket.connect(Local::endpoint(socket_), error).failed()) {
    return NoDaemon(socket_, error);
  }
  http::request<http::string_body> request(
      http::string_to_verb(std::string(method)), target, 11);
  request.set(http::field::host, "localhost");
  request.keep_alive(false);
  if (!body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = body;
  }
  request.prepare_payload();
  // One that is not taken says so, and may be closed before all is written.
  Error written;
  http::write(socket, request, written);
  boost::beast::flat_buffer buffer;
  buffer.reserve(kReadSize);  // One without room is filled by 512 bytes a time.
  BodyReader reader(&socket, &buffer);
  error = reader.ReadHead();
  if (error) return NoDaemon(socket_, written ? written : error);
  HttpAnswer answer{.status = reader.status()};
  const bool stream = part && answer.status == 200;
  const auto keep = [&](std::string_view bytes) {
    answer.body += bytes;
    return true;
  };
  error = reader.ReadBody(stream ? part : Part(keep));
  if (error) return NoDaemon(socket_, error);
  return answer;
}

absl::StatusOr<HttpAnswer> Connection::Call(std::string_view method,
                                            const std::string& target,
                                            const std::string& body) {
  std::chrono::milliseconds pause(5);
  for (;;) {
    auto answer = CallOnce(method, target, body, nullptr);
    const bool refused =
        answer.ok() && answer->status == 503 && answer->body == kTooMany;
    if (!refused || pause > std::chrono::seconds(2)) return answer;
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

absl::StatusOr<HttpAnswer> Connection::Stream(const std::string& target,
                                              const Part& part) {
  return CallOnce("GET", target, "", part);
}

}  // namespace muster::local
