#include "test/adapters/local_api/served_daemon.h"

#include <chrono>
#include <utility>

#include "gtest/gtest.h"

namespace muster::local {

ServedDaemon::ServedDaemon() {
  auto server = serve::HttpServer::Start(
      {}, {{.path = socket()}},
      {.connections = 200,
       .connections_of_peer = 100,
       .body = 4 << 20,
       .answer = std::chrono::seconds(60)},
      [this](serve::HttpRequest request, const serve::Reply& reply) {
        daemon_.api->Handle(std::move(request), reply);
      });
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  loop_ = std::thread([this] {
    while (!stop_) {
      {
        const std::lock_guard lock(mutex_);
        daemon_.now += kMillisecond;
        daemon_.Turn();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

ServedDaemon::~ServedDaemon() {
  stop_ = true;
  loop_.join();
  server_.reset();
}

void ServedDaemon::Exit(uint64_t job, int32_t code) {
  const std::lock_guard lock(mutex_);
  daemon_.Exit(job, code);
}

}  // namespace muster::local
