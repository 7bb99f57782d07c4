#include "adapters/serve/http_session.h"

#include <poll.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"

namespace muster::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

std::string TokenOf(std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string text(authorization);
  if (!absl::StartsWithIgnoreCase(text, "Bearer ")) return "";
  return text.substr(kBearer.size());
}

template <class Message>
void SetFields(const HttpResponse& response, Message* message) {
  message->set(http::field::content_type, response.content_type);
  message->set("X-Content-Type-Options", "nosniff");
  message->set(http::field::cache_control, "no-store");
  if (response.retry_after > 0) {
    message->set(http::field::retry_after,
                 std::to_string(response.retry_after));
  }
  for (const auto& [name, value] : response.headers) message->set(name, value);
}

}  // namespace

void Gate::Post(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  if (io_ != nullptr) asio::post(*io_, std::move(call));
}

void Gate::Close() {
  const std::lock_guard lock(mutex_);
  io_ = nullptr;
}

HttpSession::HttpSession(Socket socket, Peer peer,
                         std::shared_ptr<const Shared> shared)
    : shared_(std::move(shared)),
      stream_(std::move(socket)),
      peer_(std::move(peer)),
      timer_(stream_.get_executor()) {
  // A buffer without room is filled by 512 bytes a time.
  constexpr size_t kReadSize = 8 << 10;
  buffer_.reserve(kReadSize);
}

HttpSession::~HttpSession() { shared_->connections->Leave(peer_); }

void HttpSession::Read() {
  parser_.emplace();
  parser_->header_limit(shared_->limits.header);
  parser_->body_limit(shared_->limits.body);
  stream_.expires_after(shared_->limits.transfer);
  http::async_read(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](const Error& error, size_t /*bytes*/) {
        self->OnRead(error);
      });
}

void HttpSession::OnRead(const Error& error) {
  if (!error) {
    Ask();
  } else {
    Refuse(error);
  }
}

void HttpSession::Refuse(const Error& error) {
  // The others: it has gone, was too slow, or never asked.
  if (error == http::error::body_limit) {
    Write({.status = 413, .body = "the request's body is too long\n"}, false);
  } else if (error == http::error::header_limit) {
    Write({.status = 431, .body = "the request's header is too long\n"}, false);
  } else if (error.category() ==
                 http::make_error_code(http::error::bad_method).category() &&
             error != http::error::end_of_stream &&
             error != http::error::partial_message) {
    Write({.status = 400, .body = "no HTTP request\n"}, false);
  }
}

void HttpSession::Ask() {
  auto& message = parser_->get();
  const std::string_view target = View(message.target());
  const size_t mark = target.find('?');
  HttpRequest request{
      .method = std::string(View(message.method_string())),
      .path = std::string(target.substr(0, mark)),
      .query = mark == std::string_view::npos
                   ? ""
                   : std::string(target.substr(mark + 1)),
      .token = TokenOf(View(message[http::field::authorization])),
      .body = std::move(message.body()),
      .host = std::string(View(message[http::field::host])),
      .cookie = std::string(View(message[http::field::cookie])),
      .origin = std::string(View(message[http::field::origin])),
      .fetch_site = std::string(View(message["Sec-Fetch-Site"])),
      .loopback = peer_.loopback,
      .peer = peer_.credentials};
  open_ = ++requests_;
  timer_.expires_after(shared_->limits.answer);
  timer_.async_wait(
      [self = shared_from_this(), number = open_](const Error& error) {
        if (error) return;  // It was answered.
        self->Answer(
            number,
            {.status = 503, .body = "no answer in time\n", .retry_after = 1});
      });
  const Reply reply = [gate = shared_->gate,
                       session = std::weak_ptr(shared_from_this()),
                       number = open_](HttpResponse response) {
    gate->Post([session, number, response = std::move(response)]() mutable {
      const auto self = session.lock();
      if (self != nullptr) self->Answer(number, std::move(response));
    });
  };
  Watch();
  shared_->handler(std::move(request), reply);
}

void HttpSession::Watch() {
  stream_.socket().async_wait(asio::socket_base::wait_read,
                              [self = shared_from_this()](const Error& error) {
                                if (!error && self->HasGone()) self->End();
                              });
}

// One that has ended its own half only may still wait for an answer; of a
// stream, which has no end, it is taken to have gone.
bool HttpSession::HasGone() {
  if (open_ == 0 && open_part_ == 0) return false;
  pollfd ready = {.fd = stream_.socket().native_handle(),
                  .events = POLLIN | POLLRDHUP,
                  .revents = 0};
  if (poll(&ready, 1, 0) <= 0) return false;
  const int gone = POLLHUP | POLLERR | (open_part_ != 0 ? POLLRDHUP : 0);
  return (ready.revents & gone) != 0;
}

void HttpSession::End() {
  open_ = 0;
  open_part_ = 0;
  source_ = nullptr;
  timer_.cancel();
  stream_.close();
}

void HttpSession::Answer(uint64_t request, HttpResponse response) {
  if (request != open_) return;
  open_ = 0;
  timer_.cancel();
  stream_.socket().cancel();  // What Watch waits for.
  const bool keep_alive = parser_->get().keep_alive();
  if (response.more) {
    WriteHead(std::move(response), keep_alive);
  } else {
    Write(std::move(response), keep_alive);
  }
}

void HttpSession::Write(HttpResponse response, bool keep_alive) {
  response_.emplace(static_cast<http::status>(response.status), 11);
  SetFields(response, &*response_);
  response_->body() = std::move(response.body);
  response_->keep_alive(keep_alive);
  response_->prepare_payload();
  stream_.expires_after(shared_->limits.transfer);
  http::async_write(
      stream_, *response_,
      [self = shared_from_this()](const Error& error, size_t /*bytes*/) {
        self->OnWritten(error);
      });
}

void HttpSession::OnWritten(const Error& error) {
  if (error) return End();
  const bool keep = head_ ? head_->keep_alive() : response_->keep_alive();
  head_serializer_.reset();
  head_.reset();
  if (keep) return Read();
  Error ignored;
  ignored =
      stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
}

void HttpSession::WriteHead(HttpResponse response, bool keep_alive) {
  head_.emplace(static_cast<http::status>(response.status), 11);
  SetFields(response, &*head_);
  head_->chunked(true);
  head_->keep_alive(keep_alive);
  head_serializer_.emplace(*head_);
  source_ = std::make_unique<BodySource>(std::move(response.more));
  over_ = false;
  timer_.expires_after(shared_->limits.stream);
  timer_.async_wait([self = shared_from_this()](const Error& error) {
    if (error || self->source_ == nullptr) return;
    self->over_ = true;
    if (self->open_part_ != 0) {
      self->TakePart(self->open_part_, {.last = true});
    }
  });
  stream_.expires_after(shared_->limits.transfer);
  http::async_write_header(
      stream_, *head_serializer_,
      [self = shared_from_this(), first = std::move(response.body)](
          const Error& error, size_t /*bytes*/) mutable {
        if (error) return self->End();
        self->WritePart({.bytes = std::move(first)});
      });
}

void HttpSession::AskForPart() {
  open_part_ = ++parts_;
  const PartReply reply = [gate = shared_->gate,
                           session = std::weak_ptr(shared_from_this()),
                           number = open_part_](BodyPart part) {
    gate->Post([session, number, part = std::move(part)]() mutable {
      const auto self = session.lock();
      if (self != nullptr) self->TakePart(number, std::move(part));
    });
  };
  Watch();
  (*source_)(reply);
}

void HttpSession::TakePart(uint64_t number, BodyPart part) {
  if (number != open_part_) return;
  open_part_ = 0;
  stream_.socket().cancel();
  WritePart(std::move(part));
}

void HttpSession::WritePart(BodyPart part) {
  part_ = std::move(part);
  part_.last = part_.last || over_;
  // An empty chunk would be the end.
  if (part_.bytes.empty()) return part_.last ? WriteLast() : AskForPart();
  stream_.expires_after(shared_->limits.transfer);
  asio::async_write(
      stream_, http::make_chunk(asio::buffer(part_.bytes)),
      [self = shared_from_this()](const Error& error, size_t /*bytes*/) {
        if (error) return self->End();
        if (self->part_.last || self->over_) return self->WriteLast();
        self->AskForPart();
      });
}

void HttpSession::WriteLast() {
  source_ = nullptr;
  timer_.cancel();
  stream_.expires_after(shared_->limits.transfer);
  asio::async_write(
      stream_, http::make_chunk_last(),
      [self = shared_from_this()](const Error& error, size_t /*bytes*/) {
        self->OnWritten(error);
      });
}

}  // namespace muster::serve
