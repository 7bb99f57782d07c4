// Who is connected, and how many may be. Included by the server alone.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>

#include "adapters/serve/http_server.h"

namespace muster::serve {

struct Peer {
  // What limits count by: an address, or a user.
  std::variant<boost::asio::ip::address, uint32_t> who{};
  bool loopback = false;
  std::optional<Credentials> credentials{};
};

// Connections that are open. On the server's thread.
class Connections {
 public:
  explicit Connections(const HttpLimits& limits) : limits_(limits) {}
  // False: there are too many.
  bool Enter(const Peer& peer);
  void Leave(const Peer& peer);

 private:
  const HttpLimits limits_;
  size_t all_ = 0;
  std::map<std::variant<boost::asio::ip::address, uint32_t>, size_t> of_peer_{};
};

// Who is at the other end of a socket that is connected, and what it is
// connected to is `here`. Pure.
Peer PeerAt(const boost::asio::ip::address& there,
            const boost::asio::ip::address& here);
// The same of a Unix socket, as the kernel knows it since the connection was
// made. None: the kernel does not say.
std::optional<Peer> PeerOfUnixSocket(int fd);

}  // namespace muster::serve
