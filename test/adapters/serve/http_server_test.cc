// Clients of the HTTP server, good ones and bad ones.
#include "adapters/serve/http_server.h"

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "adapters/serve/mailbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/serve/http_client.h"

namespace muster::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<HttpServer> Serve(Handler handler, HttpLimits limits = {}) {
  auto server =
      HttpServer::Start({{.host = "127.0.0.1"}}, limits, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

// Tells what was asked.
void Echo(const HttpRequest& request, const Reply& reply) {
  reply({.status = 201,
         .body = absl::StrCat(request.method, "|", request.path, "|",
                              request.query, "|", request.token, "|",
                              request.body, "|", request.loopback)});
}

TEST(HttpServerTest, ARequestReachesTheHandlerAndItsAnswerTheClient) {
  const auto server = Serve(Echo);
  const uint16_t port = server->ports()[0];
  EXPECT_EQ(Get(port, "/a/b?c=d", "Authorization: bearer s3cret\r\n"),
            "201 GET|/a/b|c=d|s3cret||1");
  EXPECT_EQ(
      Ask(port, "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"),
      "201 POST|/p|||abc|1");
}

TEST(HttpServerTest, HeaderFieldsReachTheHandlerAndTheClient) {
  const auto server = Serve([](const HttpRequest& r, const Reply& reply) {
    reply({.body = absl::StrCat(r.host, "|", r.cookie, "|", r.origin, "|",
                                r.fetch_site, "|"),
           .headers = {{"Location", "/there"}, {"X-One", "1"}}});
  });
  HttpClient client(server->ports()[0]);
  client.Send(
      "GET / HTTP/1.1\r\nhost: h:1\r\nCookie: a=b; c=d\r\n"
      "Origin: http://h:1\r\nSec-Fetch-Site: same-origin\r\n\r\n");
  const std::string answer = client.Receive();
  EXPECT_THAT(answer, HasSubstr("h:1|a=b; c=d|http://h:1|same-origin|"));
  EXPECT_THAT(answer, HasSubstr("Location: /there\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-One: 1\r\n"));
  client.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.Receive(), HasSubstr("||||"));
}

TEST(HttpServerTest, AConnectionIsKept) {
  const auto server = Serve(Echo);
  HttpClient client(server->ports()[0]);
  for (const char* path : {"/1", "/2", "/3"}) {
    client.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_THAT(client.Receive(), HasSubstr(absl::StrCat("GET|", path)));
  }
}

TEST(HttpServerTest, WhatIsTooLongIsRefused) {
  const auto server = Serve(Echo, {.header = 1'000, .body = 100});
  const uint16_t port = server->ports()[0];
  EXPECT_THAT(Get(port, "/", "X: " + std::string(2'000, 'x') + "\r\n"),
              StartsWith("431 "));
  EXPECT_THAT(
      Ask(port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n"),
      StartsWith("413 "));
  EXPECT_THAT(Ask(port, "no http\r\n\r\n"), StartsWith("400 "));
}

TEST(HttpServerTest, AnAnswerThatDoesNotComeIs503AndALateOneIsNone) {
  std::promise<Reply> kept;
  const auto server = Serve(
      [&](const HttpRequest& request, const Reply& reply) {
        if (request.path == "/slow") {
          kept.set_value(reply);
        } else {
          reply({.body = "quick"});
        }
      },
      {.answer = std::chrono::milliseconds(50)});
  HttpClient client(server->ports()[0]);
  client.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.Receive(), StartsWith("HTTP/1.1 503 "));
  kept.get_future().get()({.body = "late"});
  client.Send("GET /quick HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.Receive(), HasSubstr("quick"));
}

TEST(HttpServerTest, OneWhoDoesNotReadHoldsUpNobodyAndIsLetGo) {
  const auto server = Serve(
      [](const HttpRequest&, const Reply& reply) {
        reply({.body = std::string(16 << 20, 'x')});
      },
      {.transfer = std::chrono::milliseconds(4'000)});
  HttpClient slow(server->ports()[0]);
  slow.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(Get(server->ports()[0], "/").size(), (16u << 20) + 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(4'500));
  // What lies in between is all that it gets.
  EXPECT_EQ(slow.Receive(), "");
}

TEST(HttpServerTest, OneWhoSendsByteByByteIsLetGo) {
  const auto server = Serve(Echo, {.transfer = std::chrono::milliseconds(200)});
  HttpClient slow(server->ports()[0]);
  bool open = true;
  for (int i = 0; i < 100 && open; ++i) {
    open = slow.Send("G");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(open);
}

TEST(HttpServerTest, OnePeerHasSoManyConnectionsAndNoMore) {
  const auto server = Serve(Echo, {.connections_of_peer = 2});
  const uint16_t port = server->ports()[0];
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  {
    HttpClient first(port);
    HttpClient second(port);
    first.Send(request);
    second.Send(request);
    EXPECT_THAT(first.Receive(), HasSubstr("GET"));
    EXPECT_THAT(second.Receive(), HasSubstr("GET"));
    EXPECT_EQ(Get(port, "/"), "");
  }
  std::string answer;  // That they went is soon known.
  for (int i = 0; i < 100 && answer.empty(); ++i) answer = Get(port, "/");
  EXPECT_THAT(answer, HasSubstr("GET"));
}

TEST(HttpServerTest, ItEndsWithOpenConnectionsAndUnansweredRequests) {
  std::promise<Reply> kept;
  auto server = Serve(
      [&](const HttpRequest&, const Reply& reply) { kept.set_value(reply); });
  HttpClient idle(server->ports()[0]);
  HttpClient asks(server->ports()[0]);
  asks.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const Reply reply = kept.get_future().get();
  server.reset();
  reply({.body = "nobody is there"});
  EXPECT_EQ(asks.Receive(), "");
}

TEST(HttpServerTest, AnAddressInUseIsAnError) {
  const auto server = Serve(Echo);
  const auto second = HttpServer::Start(
      {{.host = "127.0.0.1", .port = server->ports()[0]}}, {}, Echo);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
}

TEST(MailboxTest, TakesSoManyQuestionsAndNoMore) {
  int woken = 0;
  Mailbox mailbox(2, [&] { ++woken; });
  int asked = 0;
  EXPECT_TRUE(mailbox.Put([&] { asked += 1; }));
  EXPECT_TRUE(mailbox.Put([&] { asked += 10; }));
  EXPECT_FALSE(mailbox.Put([&] { asked += 100; }));
  EXPECT_EQ(woken, 2);
  for (const Mailbox::Question& question : mailbox.Take()) question();
  EXPECT_EQ(asked, 11);
  EXPECT_TRUE(mailbox.Put([] {}));
  mailbox.Close();
  EXPECT_FALSE(mailbox.Put([] {}));
  EXPECT_TRUE(mailbox.Take().empty());
}

// From many threads through the mailbox to one and back.
TEST(MailboxTest, EachQuestionOfManyClientsHasItsOwnAnswer) {
  std::atomic<bool> stop = false;
  Mailbox mailbox(100, [] {});
  const auto server =
      Serve([&](const HttpRequest& request, const Reply& reply) {
        const bool put = mailbox.Put(
            [path = request.path, reply] { reply({.body = path}); });
        if (!put) reply({.status = 503});
      });
  std::thread knows([&] {
    while (!stop) {
      for (const Mailbox::Question& question : mailbox.Take()) question();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i) {
        const std::string path = absl::StrCat("/", c, "/", i);
        EXPECT_EQ(Get(server->ports()[0], path), "200 " + path);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  stop = true;
  knows.join();
}

}  // namespace
}  // namespace muster::serve
