// Logs that are followed over a socket while they are written, by several at
// once. For ThreadSanitizer, too.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "adapters/local/api/log_reader.h"
#include "adapters/serve/http_server.h"
#include "gtest/gtest.h"
#include "test/adapters/serve/http_client.h"

namespace muster::local {
namespace {

class LogStreamThreadsTest : public ::testing::Test {
 protected:
  LogStreamThreadsTest() {
    char name[] = "/tmp/muster-logs-XXXXXX";
    folder_ = mkdtemp(name);
    auto server = serve::HttpServer::Start(
        {}, {{.path = folder_ + "/socket"}}, {},
        [this](const serve::HttpRequest&, const serve::Reply& reply) {
          reply({.more = reader_->Open({.folder = folder_,
                                        .path = "output",
                                        .uid = getuid(),
                                        .gid = getgid()},
                                       0, /*follow=*/true, over_)});
        });
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  ~LogStreamThreadsTest() override {
    server_.reset();
    reader_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& text) {
    std::ofstream(folder_ + "/output", std::ios::app) << text;
  }
  std::unique_ptr<serve::HttpClient> Follow() const {
    auto client = std::make_unique<serve::HttpClient>(folder_ + "/socket");
    client->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    return client;
  }

  std::string folder_;
  std::shared_ptr<std::atomic<bool>> over_ =
      std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<LogReader> reader_ = std::make_unique<LogReader>();
  std::unique_ptr<serve::HttpServer> server_;
};

TEST_F(LogStreamThreadsTest, AllWhoFollowAFileGetAllOfIt) {
  constexpr int kFollowers = 4, kLines = 200;
  std::atomic<int> whole = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kFollowers; ++i) {
    threads.emplace_back([this, &whole] {
      const auto client = Follow();
      // The last chunk of all.
      const std::string all = client->ReceiveUntil("\r\n0\r\n\r\n");
      int lines = 0;
      for (size_t at = 0; (at = all.find("line", at)) != std::string::npos;
           ++at) {
        ++lines;
      }
      whole += lines == kLines;
    });
  }
  for (int i = 0; i < kLines; ++i) {
    Write("line\n");
    if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  *over_ = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole, kFollowers);
}

TEST_F(LogStreamThreadsTest, WhoGoesEarlyHoldsUpNobody) {
  Write("first\n");
  for (int i = 0; i < 20; ++i) {
    const auto client = Follow();
    if (i % 2 == 0) {
      EXPECT_NE(client->ReceiveUntil("first\n"), "");
    }
  }
  *over_ = true;
  EXPECT_NE(Follow()->ReceiveUntil("first\n"), "");
}

TEST_F(LogStreamThreadsTest, AServerThatEndsLeavesNobodyWaiting) {
  std::vector<std::thread> threads;
  std::atomic<int> began = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, &began] {
      const auto client = Follow();
      EXPECT_NE(client->ReceiveUntil("\r\n\r\n"), "");
      ++began;
      EXPECT_EQ(client->ReceiveUntil("never comes"), "");
    });
  }
  while (began < 4) std::this_thread::yield();
  server_.reset();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace muster::local
