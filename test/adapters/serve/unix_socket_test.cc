// The HTTP server on a Unix socket: who may, who is who, and how many.
#include "adapters/serve/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/serve/http_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/serve/http_client.h"

namespace muster::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class UnixSocketTest : public ::testing::Test {
 protected:
  UnixSocketTest() {
    char name[] = "/tmp/muster-serve-XXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ + "/socket";
  }
  ~UnixSocketTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::unique_ptr<HttpServer>> Serve(HttpLimits limits = {},
                                                    uint32_t mode = 0600) {
    return HttpServer::Start(
        {}, {{.path = path_, .mode = mode}}, limits,
        [](const HttpRequest& request, const Reply& reply) {
          reply({.body = absl::StrCat(request.method, " ", request.path, " ",
                                      request.peer
                                          ? absl::StrCat(request.peer->uid, ":",
                                                         request.peer->gid, ":",
                                                         request.peer->pid)
                                          : "nobody",
                                      " ", request.loopback)});
        });
  }

  // As a program leaves it that was killed.
  void LeaveStaleSocket() {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address),
              0);
    ASSERT_EQ(listen(fd, 1), 0);
    close(fd);
    ASSERT_TRUE(std::filesystem::exists(path_));
  }

  std::string folder_;
  std::string path_;
};

TEST_F(UnixSocketTest, ARequestTellsWhoAsks) {
  const auto server = Serve();
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(Get(path_, "/a"), absl::StrCat("200 GET /a ", getuid(), ":",
                                           getgid(), ":", getpid(), " 1"));
}

TEST_F(UnixSocketTest, OverTheNetworkNobodyIsKnown) {
  const auto server = HttpServer::Start(
      {{.host = "127.0.0.1"}}, {{.path = path_}}, {},
      [](const HttpRequest& request, const Reply& reply) {
        reply({.body = request.peer.has_value() ? "known" : "unknown"});
      });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(Get((*server)->ports()[0], "/"), "200 unknown");
  EXPECT_EQ(Get(path_, "/"), "200 known");
}

TEST_F(UnixSocketTest, ItHasTheModeThatWasAskedForWhateverTheUmask) {
  const mode_t before = umask(0077);
  const auto server = Serve({}, 0666);
  umask(before);
  ASSERT_TRUE(server.ok()) << server.status();
  struct stat there = {};
  ASSERT_EQ(stat(path_.c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 07777, 0666u);
}

TEST_F(UnixSocketTest, ItGoesWithTheServer) {
  auto server = Serve();
  ASSERT_TRUE(server.ok());
  server->reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, OneThatAnotherHasPutThereStays) {
  auto server = Serve();
  ASSERT_TRUE(server.ok());
  std::filesystem::remove(path_);
  LeaveStaleSocket();
  server->reset();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, ASocketOfAProgramThatIsGoneIsReplaced) {
  LeaveStaleSocket();
  const auto server = Serve();
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(Get(path_, "/"), StartsWith("200 "));
}

TEST_F(UnixSocketTest, OneOnWhichSomebodyAnswersIsNot) {
  const auto server = Serve();
  ASSERT_TRUE(server.ok());
  const auto second = Serve();
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(), HasSubstr("answers there"));
  EXPECT_THAT(Get(path_, "/"), StartsWith("200 "));
}

TEST_F(UnixSocketTest, OfManyThatReplaceAStaleOneAtOnceOneIsLeft) {
  LeaveStaleSocket();
  std::array<absl::StatusOr<std::unique_ptr<HttpServer>>, 8> servers;
  std::vector<std::thread> threads;
  for (auto& server : servers) {
    threads.emplace_back([this, &server] { server = Serve(); });
  }
  for (std::thread& thread : threads) thread.join();
  int started = 0;
  for (const auto& server : servers) started += server.ok() ? 1 : 0;
  EXPECT_EQ(started, 1);
  EXPECT_THAT(Get(path_, "/"), StartsWith("200 "));
}

TEST_F(UnixSocketTest, AFileThatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(Serve().status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(UnixSocketTest, APathThatIsTooLongIsRefusedByName) {
  path_ = folder_ + "/" + std::string(kMaxSocketPath, 'x');
  const auto server = Serve();
  EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(server.status().message(), HasSubstr("at most 107 bytes"));
  path_ = folder_ + "/";
  path_ += std::string(kMaxSocketPath - path_.size(), 'x');
  EXPECT_TRUE(Serve().ok());
}

TEST_F(UnixSocketTest, AFolderThatIsNotThereIsAnError) {
  path_ = folder_ + "/none/socket";
  EXPECT_EQ(Serve().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(UnixSocketTest, AThousandClientsGetAnAnswerOrAreToldThatTheyAreTooMany) {
  constexpr size_t kMost = 100;
  const auto server = Serve({.connections = 200, .connections_of_peer = kMost});
  ASSERT_TRUE(server.ok());
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 1'000; ++i) {
    clients.push_back(std::make_unique<HttpClient>(path_));
  }
  size_t served = 0;
  size_t refused = 0;
  for (const auto& client : clients) {
    client->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string answer = client->Receive();
    served += answer.starts_with("HTTP/1.1 200 ") ? 1 : 0;
    refused += answer.starts_with("HTTP/1.1 503 ") &&
                       answer.ends_with("\r\n\r\ntoo many connections\n")
                   ? 1
                   : 0;
  }
  EXPECT_EQ(served, kMost);
  EXPECT_EQ(refused, 1'000 - kMost);
  clients.clear();
  std::string answer;  // That they went is soon known.
  for (int i = 0; i < 1'000 && !answer.starts_with("200"); ++i) {
    answer = Get(path_, "/");
  }
  EXPECT_THAT(answer, StartsWith("200 "));
}

TEST_F(UnixSocketTest, WhatIsNoRequestIsRefusedAndTheNextOneIsServed) {
  const auto server = Serve({.header = 1'000,
                             .body = 10,
                             .transfer = std::chrono::milliseconds(500)});
  ASSERT_TRUE(server.ok());
  const std::pair<std::string, std::string> cases[] = {
      {"\r\n\r\nx\r\n\r\n", "HTTP/1.1 400 "},
      {std::string("GET / HTTP/1.1\r\nA\0: b\r\n\r\n", 25), "HTTP/1.1 400 "},
      {"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 400 "},
      {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400 "},
      {"GET / HTTP/1.1\r\nContent-Length: 11\r\n\r\n", "HTTP/1.1 413 "},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       "HTTP/1.1 400 "},
      {"GET /" + std::string(2'000, 'x') + " HTTP/1.1\r\n\r\n",
       "HTTP/1.1 431 "},
      {"GET / HTTP/1.1\r\n", ""},  // Its end does not come.
  };
  for (const auto& [bytes, expected] : cases) {
    HttpClient client(path_);
    client.Send(bytes);
    const std::string answer = client.Receive();
    EXPECT_EQ(answer.substr(0, expected.size()), expected) << bytes;
    if (expected.empty()) {
      EXPECT_EQ(answer, "") << bytes;
    }
    EXPECT_THAT(Get(path_, "/"), StartsWith("200 "));
  }
}

}  // namespace
}  // namespace muster::serve
