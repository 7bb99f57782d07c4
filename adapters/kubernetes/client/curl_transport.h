// A transport by libcurl, over TLS that is always verified.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/kubeconfig.h"
#include "adapters/kubernetes/client/transport.h"

namespace muster::kubernetes::client {

struct CurlOptions {
  std::string user_agent = "muster-kube";
  bool http2 = true;  // Where the server speaks it.
  // Requests at a time that do not stream, and so connections for them where
  // there is no HTTP/2; others wait, in their order.
  int most_requests = 32;
  size_t longest_response = size_t{1} << 30;  // Bytes, without streams.
  Millis connect_timeout = 10'000;            // With TLS's handshake.
  // A response, but for streams, that brings no byte for so long is given up.
  Millis longest_silence = 30'000;
  // A connection whose peer does not confirm what it got, or answers no
  // keep-alive, for about so long is dead: all that ends a silent watch.
  Millis dead_after = 30'000;
};

struct CurlCounts {
  uint64_t requests = 0;     // That ended, without those cancelled.
  uint64_t connections = 0;  // Opened for them.
  uint64_t refused = 0;      // 401, answered by other credentials.
};

// Of libcurl's multi interface: connections are kept, HTTP/2 streams share one.
// A 401 is answered by asking once more with other credentials, if there are
// some; a request that is not idempotent is never written twice. Redirects are
// not followed. Thread rule: that of Transport.
class CurlTransport final : public Transport {
 public:
  // INVALID_ARGUMENT if `access` has no https server or no credentials.
  static absl::StatusOr<std::unique_ptr<CurlTransport>> Create(
      ClusterAccess access, const CurlOptions& options = {});
  ~CurlTransport() override;

  RequestId Start(HttpRequest request, Receiver* receiver) override;
  void Cancel(RequestId id) override;
  void Poll(Millis max_wait) override;
  void Wake() override;

  const CurlCounts& counts() const;

 private:
  class Impl;
  explicit CurlTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::kubernetes::client
