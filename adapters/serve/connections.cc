#include "adapters/serve/connections.h"

#include <sys/socket.h>

namespace muster::serve {
namespace {

namespace ip = boost::asio::ip;

bool IsLoopback(const ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return ip::make_address_v4(ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

}  // namespace

bool Connections::Enter(const Peer& peer) {
  if (all_ >= limits_.connections) return false;
  size_t& own = of_peer_[peer.who];
  if (own >= limits_.connections_of_peer) return false;
  ++own;
  ++all_;
  return true;
}

void Connections::Leave(const Peer& peer) {
  const auto it = of_peer_.find(peer.who);
  if (--it->second == 0) of_peer_.erase(it);
  --all_;
}

Peer PeerAt(const ip::address& there, const ip::address& here) {
  return {.who = there, .loopback = IsLoopback(there) && IsLoopback(here)};
}

std::optional<Peer> PeerOfUnixSocket(int fd) {
  ucred of = {};
  socklen_t size = sizeof of;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &of, &size) != 0 ||
      size != sizeof of) {
    return std::nullopt;
  }
  return Peer{
      .who = uint32_t{of.uid},
      .loopback = true,
      .credentials = Credentials{.uid = of.uid, .gid = of.gid, .pid = of.pid}};
}

}  // namespace muster::serve
