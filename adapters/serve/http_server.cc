#include "adapters/serve/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/serve/connections.h"
#include "adapters/serve/http_session.h"

namespace muster::serve {

namespace asio = boost::asio;
using Error = boost::system::error_code;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;

namespace {

constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n"
    "Retry-After: 1\r\nContent-Length: 21\r\nConnection: close\r\n\r\n"
    "too many connections\n";

}  // namespace

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
    const Tcp::endpoint endpoint(host, address.port);
    Listener<Tcp>& listener = listeners_.emplace_back(io_);
    Tcp::acceptor& acceptor = listener.acceptor;
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

  absl::Status Listen(const UnixAddress& address) {
    auto socket = UnixSocket::Listen(address);
    if (!socket.ok()) return socket.status();
    // The acceptor closes its own descriptor.
    const int fd = fcntl(socket->fd(), F_DUPFD_CLOEXEC, 0);
    Listener<Local>& listener = local_listeners_.emplace_back(io_);
    Error error;
    if (fd < 0 || listener.acceptor.assign(Local(), fd, error).failed()) {
      return absl::UnavailableError(absl::StrCat(
          "listen: ", address.path, ": ",
          fd < 0 ? std::string(strerror(errno)) : error.message()));
    }
    sockets_.push_back(*std::move(socket));
    Accept(&listener);
    return absl::OkStatus();
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
  template <class Protocol>
  struct Listener {
    explicit Listener(asio::io_context& io) : acceptor(io), pause(io) {}

    typename Protocol::acceptor acceptor;
    asio::steady_timer pause;
  };

  template <class Protocol>
  void Accept(Listener<Protocol>* listener) {
    listener->acceptor.async_accept(
        [this, listener](const Error& error, typename Protocol::socket socket) {
          if (error) return AcceptLater(listener);
          Begin(std::move(socket));
          Accept(listener);
        });
  }

  // There are no file descriptors, for example.
  template <class Protocol>
  void AcceptLater(Listener<Protocol>* listener) {
    listener->pause.expires_after(std::chrono::milliseconds(100));
    listener->pause.async_wait([this, listener](const Error& error) {
      if (!error) Accept(listener);
    });
  }

  void Begin(Tcp::socket socket) {
    Error error;
    const auto there = socket.remote_endpoint(error).address();
    if (error) return;  // Closes it.
    const auto here = socket.local_endpoint(error).address();
    if (error) return;
    Peer peer = PeerAt(there, here);
    if (!shared_->connections->Enter(peer)) return;
    Begin(std::move(socket), std::move(peer));
  }

  void Begin(Local::socket socket) {
    auto peer = PeerOfUnixSocket(socket.native_handle());
    if (!peer) return;
    if (!shared_->connections->Enter(*peer)) {
      // It fits into the socket's buffer, which is empty.
      send(socket.native_handle(), kTooMany.data(), kTooMany.size(),
           MSG_DONTWAIT | MSG_NOSIGNAL);
      return;
    }
    Begin(std::move(socket), *std::move(peer));
  }

  void Begin(HttpSession::Socket socket, Peer peer) {
    std::make_shared<HttpSession>(std::move(socket), std::move(peer), shared_)
        ->Read();
  }

  asio::io_context io_{1};
  const std::shared_ptr<const HttpSession::Shared> shared_;
  std::list<Listener<Tcp>> listeners_{};
  std::list<Listener<Local>> local_listeners_{};
  std::vector<UnixSocket> sockets_{};
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl, std::vector<uint16_t> ports)
    : impl_(std::move(impl)), ports_(std::move(ports)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::vector<Address>& addresses, const HttpLimits& limits,
    Handler handler) {
  return Start(addresses, {}, limits, std::move(handler));
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::vector<Address>& addresses,
    const std::vector<UnixAddress>& sockets, const HttpLimits& limits,
    Handler handler) {
  auto impl = std::make_unique<Impl>(limits, std::move(handler));
  std::vector<uint16_t> ports;
  for (const Address& address : addresses) {
    const auto port = impl->Listen(address);
    if (!port.ok()) return port.status();
    ports.push_back(*port);
  }
  for (const UnixAddress& address : sockets) {
    const absl::Status status = impl->Listen(address);
    if (!status.ok()) return status;
  }
  impl->Run();
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(impl), std::move(ports)));
}

}  // namespace muster::serve
