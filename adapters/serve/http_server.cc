#include "adapters/serve/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <list>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/serve/http_session.h"

namespace muster::serve {

namespace asio = boost::asio;
using Error = boost::system::error_code;

class HttpServer::Impl {
 public:
  Impl(const HttpLimits& limits, Handler handler)
      : shared_(std::make_shared<const HttpSession::Shared>(HttpSession::Shared{
            limits, std::move(handler), std::make_shared<Gate>(&io_),
            std::make_shared<Connections>(limits)})) {}
  ~Impl() {
    shared_->gate->Close();
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // The port on which it listens.
  absl::StatusOr<uint16_t> Listen(const Address& address) {
    Error error;
    const auto host = asio::ip::make_address(address.host, error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("listen: ", address.host, " is no IP address"));
    }
    const asio::ip::tcp::endpoint endpoint(host, address.port);
    Listener& listener = listeners_.emplace_back(io_);
    asio::ip::tcp::acceptor& acceptor = listener.acceptor;
    const bool failed =
        acceptor.open(endpoint.protocol(), error).failed() ||
        acceptor.set_option(asio::socket_base::reuse_address(true), error)
            .failed() ||
        acceptor.bind(endpoint, error).failed() ||
        acceptor.listen(asio::socket_base::max_listen_connections, error)
            .failed();
    if (failed) {
      return absl::UnavailableError(absl::StrCat(
          "listen: ", address.host, ":", address.port, ": ", error.message()));
    }
    Accept(&listener);
    return acceptor.local_endpoint(error).port();
  }

  // Signals are for the other threads.
  void Run() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { io_.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  struct Listener {
    explicit Listener(asio::io_context& io) : acceptor(io), pause(io) {}

    asio::ip::tcp::acceptor acceptor;
    asio::steady_timer pause;
  };

  void Accept(Listener* listener) {
    listener->acceptor.async_accept(
        [this, listener](const Error& error, asio::ip::tcp::socket socket) {
          if (error) return AcceptLater(listener);
          Begin(std::move(socket));
          Accept(listener);
        });
  }

  // There are no file descriptors, for example.
  void AcceptLater(Listener* listener) {
    listener->pause.expires_after(std::chrono::milliseconds(100));
    listener->pause.async_wait([this, listener](const Error& error) {
      if (!error) Accept(listener);
    });
  }

  void Begin(asio::ip::tcp::socket socket) {
    Error error;
    const auto peer = socket.remote_endpoint(error).address();
    if (error || !shared_->connections->Enter(peer)) return;  // Closes it.
    std::make_shared<HttpSession>(std::move(socket), peer, shared_)->Read();
  }

  asio::io_context io_{1};
  const std::shared_ptr<const HttpSession::Shared> shared_;
  std::list<Listener> listeners_;
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl, std::vector<uint16_t> ports)
    : impl_(std::move(impl)), ports_(std::move(ports)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::vector<Address>& addresses, const HttpLimits& limits,
    Handler handler) {
  auto impl = std::make_unique<Impl>(limits, std::move(handler));
  std::vector<uint16_t> ports;
  for (const Address& address : addresses) {
    const auto port = impl->Listen(address);
    if (!port.ok()) return port.status();
    ports.push_back(*port);
  }
  impl->Run();
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(impl), std::move(ports)));
}

}  // namespace muster::serve
