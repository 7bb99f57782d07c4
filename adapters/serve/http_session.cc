#include "adapters/serve/http_session.h"

#include <boost/asio/post.hpp>
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

bool IsLoopback(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6())
        .is_loopback();
  }
  return address.is_loopback();
}

std::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

std::string TokenOf(std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string text(authorization);
  if (!absl::StartsWithIgnoreCase(text, "Bearer ")) return "";
  return text.substr(kBearer.size());
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

bool Connections::Enter(const asio::ip::address& peer) {
  if (all_ >= limits_.connections) return false;
  size_t& own = of_peer_[peer];
  if (own >= limits_.connections_of_peer) return false;
  ++own;
  ++all_;
  return true;
}

void Connections::Leave(const asio::ip::address& peer) {
  const auto it = of_peer_.find(peer);
  if (--it->second == 0) of_peer_.erase(it);
  --all_;
}

HttpSession::HttpSession(asio::ip::tcp::socket socket, asio::ip::address peer,
                         std::shared_ptr<const Shared> shared)
    : shared_(std::move(shared)),
      stream_(std::move(socket)),
      peer_(std::move(peer)),
      timer_(stream_.get_executor()) {
  Error error;
  const asio::ip::address here =
      stream_.socket().local_endpoint(error).address();
  loopback_ = !error && IsLoopback(peer_) && IsLoopback(here);
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
      .loopback = loopback_};
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
  shared_->handler(std::move(request), reply);
}

void HttpSession::Answer(uint64_t request, HttpResponse response) {
  if (request != open_) return;
  open_ = 0;
  timer_.cancel();
  Write(std::move(response), parser_->get().keep_alive());
}

void HttpSession::Write(HttpResponse response, bool keep_alive) {
  response_.emplace(static_cast<http::status>(response.status), 11);
  response_->set(http::field::content_type, response.content_type);
  response_->set("X-Content-Type-Options", "nosniff");
  response_->set(http::field::cache_control, "no-store");
  if (response.retry_after > 0) {
    response_->set(http::field::retry_after,
                   std::to_string(response.retry_after));
  }
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
  if (error) return;
  if (response_->keep_alive()) return Read();
  Error ignored;
  ignored =
      stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace muster::serve
