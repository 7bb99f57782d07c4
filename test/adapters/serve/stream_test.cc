// Answers that are sent as they come to be.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "adapters/serve/http_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/serve/http_client.h"

namespace muster::serve {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAsk[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() {
    char name[] = "/tmp/muster-stream-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~StreamTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<HttpServer> Serve(Handler handler, HttpLimits limits = {}) {
    auto server = HttpServer::Start({{.host = "127.0.0.1"}},
                                    {{.path = folder_ + "/socket"}}, limits,
                                    std::move(handler));
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }
  HttpClient Client() { return HttpClient(folder_ + "/socket"); }

  std::string folder_;
};

// A source that gives these.
Handler Parts(std::vector<std::string> parts) {
  return [parts = std::move(parts)](const HttpRequest&, const Reply& reply) {
    reply({.body = "first",
           .more = [parts, next = size_t{0}](const PartReply& part) mutable {
             const size_t i = next++;
             part({.bytes = parts[i], .last = i + 1 == parts.size()});
           }});
  };
}

TEST_F(StreamTest, PartsAreSentInTheirOrderAsChunks) {
  const auto server = Serve(Parts({"bc", std::string(20, 'd'), "e"}));
  HttpClient client = Client();
  client.Send(kAsk);
  EXPECT_THAT(
      client.ReceiveUntil("\r\n\r\n"),
      AllOf(HasSubstr("HTTP/1.1 200 "), HasSubstr("Transfer-Encoding: chunked"),
            Not(HasSubstr("Content-Length"))));
  EXPECT_EQ(client.ReceiveUntil("0\r\n\r\n"),
            absl::StrCat("5\r\nfirst\r\n2\r\nbc\r\n14\r\n",
                         std::string(20, 'd'), "\r\n1\r\ne\r\n"));
}

TEST_F(StreamTest, AfterAStreamTheConnectionIsKept) {
  const auto server = Serve(Parts({"a", ""}));
  HttpClient client = Client();
  for (int i = 0; i < 3; ++i) {
    client.Send(kAsk);
    EXPECT_THAT(client.ReceiveUntil("\r\n0\r\n\r\n"),
                HasSubstr("5\r\nfirst\r\n1\r\na"));
  }
}

TEST_F(StreamTest, APartMayComeLateAndFromAnotherThread) {
  std::promise<PartReply> asked;
  const auto server = Serve(
      [&](const HttpRequest&, const Reply& reply) {
        reply({.more = [&](const PartReply& part) { asked.set_value(part); }});
      },
      {.answer = std::chrono::milliseconds(50)});
  HttpClient client = Client();
  client.Send(kAsk);
  EXPECT_THAT(client.ReceiveUntil("\r\n\r\n"), HasSubstr("200"));
  const PartReply part = asked.get_future().get();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  part({.bytes = "late", .last = true});
  part({.bytes = "twice", .last = true});
  EXPECT_EQ(client.ReceiveUntil("0\r\n\r\n"), "4\r\nlate\r\n");
}

// What lies between is the sockets' buffers: 16 MiB would be 256 parts.
TEST_F(StreamTest, OneWhoDoesNotReadIsAskedForNoMoreAndLetGo) {
  std::atomic<int> parts = 0;
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> source = alive;
  const auto server = Serve(
      [&parts, &alive](const HttpRequest&, const Reply& reply) {
        reply(
            {.more = [&parts, held = std::move(alive)](const PartReply& part) {
              ++parts;
              part({.bytes = std::string(64 << 10, 'x'), .last = parts >= 256});
            }});
      },
      {.transfer = std::chrono::milliseconds(300)});
  HttpClient slow = Client();
  slow.Send(kAsk);
  for (int i = 0; i < 500 && !source.expired(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(source.expired());
  EXPECT_LT(parts, 100);
  EXPECT_GT(parts, 0);
}

TEST_F(StreamTest, ItsSourceGoesWithTheClient) {
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> source = alive;
  std::promise<void> asked;
  const auto server = Serve([&](const HttpRequest&, const Reply& reply) {
    reply({.more = [&asked, held = std::move(alive)](const PartReply&) {
      asked.set_value();
    }});
  });
  {
    HttpClient client = Client();
    client.Send(kAsk);
    asked.get_future().get();
    EXPECT_FALSE(source.expired());
  }
  for (int i = 0; i < 1'000 && !source.expired(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(source.expired());
}

TEST_F(StreamTest, AClientThatGoesBeforeItsAnswerLeavesItsPlace) {
  std::vector<Reply> kept;
  std::promise<void> asked;
  const auto server = Serve(
      [&](const HttpRequest& request, const Reply& reply) {
        if (request.path == "/quick") return reply({.body = "quick"});
        kept.push_back(reply);
        asked.set_value();
      },
      {.connections_of_peer = 1, .answer = std::chrono::milliseconds(60'000)});
  {
    HttpClient client = Client();
    client.Send(kAsk);
    asked.get_future().get();
  }
  std::string answer;
  for (int i = 0; i < 1'000 && !answer.starts_with("200"); ++i) {
    answer = Get(folder_ + "/socket", "/quick");
  }
  EXPECT_EQ(answer, "200 quick");
}

TEST_F(StreamTest, ItEndsInGoodOrderWhenItsTimeIsOver) {
  const auto server = Serve(
      [](const HttpRequest&, const Reply& reply) {
        reply({.body = "only", .more = [](const PartReply&) {}});
      },
      {.stream = std::chrono::milliseconds(100)});
  HttpClient client = Client();
  client.Send(kAsk);
  EXPECT_THAT(client.ReceiveUntil("0\r\n\r\n"), HasSubstr("4\r\nonly\r\n"));
}

TEST_F(StreamTest, SoDoesOneThatNeverWaits) {
  const auto server = Serve(
      [](const HttpRequest&, const Reply& reply) {
        reply({.more = [](const PartReply& part) { part({.bytes = "x"}); }});
      },
      {.stream = std::chrono::milliseconds(100)});
  HttpClient client = Client();
  client.Send(kAsk);
  EXPECT_THAT(client.ReceiveUntil("0\r\n\r\n"), HasSubstr("1\r\nx\r\n"));
}

TEST_F(StreamTest, TheServerEndsWithStreamsOpen) {
  std::promise<PartReply> asked;
  auto server = Serve([&](const HttpRequest&, const Reply& reply) {
    reply({.more = [&](const PartReply& part) { asked.set_value(part); }});
  });
  HttpClient client = Client();
  client.Send(kAsk);
  const PartReply part = asked.get_future().get();
  server.reset();
  part({.bytes = "nobody is there", .last = true});
  EXPECT_EQ(client.ReceiveUntil("nobody"), "");
}

}  // namespace
}  // namespace muster::serve
