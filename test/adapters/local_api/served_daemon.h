// A daemon of all parts but processes, with a socket: for tests of clients.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "adapters/serve/http_server.h"
#include "test/adapters/local_api/daemon.h"

namespace muster::local {

// Turns every millisecond, on a thread of its own.
class ServedDaemon {
 public:
  ServedDaemon();
  ~ServedDaemon();
  ServedDaemon(const ServedDaemon&) = delete;
  ServedDaemon& operator=(const ServedDaemon&) = delete;

  std::string socket() const { return daemon_.state + "/socket"; }
  // The job's only task ends.
  void Exit(uint64_t job, int32_t code);
  // Guards the daemon.
  std::mutex& mutex() { return mutex_; }
  Daemon& daemon() { return daemon_; }

 private:
  Daemon daemon_{};
  std::mutex mutex_{};
  std::atomic<bool> stop_ = false;
  std::unique_ptr<serve::HttpServer> server_{};
  std::thread loop_{};
};

}  // namespace muster::local
