// Calls to the endpoint of muster-kube.
#include "adapters/kubernetes/plugin/local_call.h"

#include "absl/strings/str_cat.h"
#include "adapters/serve/http_server.h"
#include "gtest/gtest.h"

namespace muster::kubernetes::plugin {
namespace {

std::unique_ptr<serve::HttpServer> Serve(serve::Handler handler) {
  auto server =
      serve::HttpServer::Start({{.host = "127.0.0.1"}}, {}, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

TEST(LocalCallTest, ShowsTheTokenAndBringsStatusAndBody) {
  const auto server =
      Serve([](const serve::HttpRequest& request, const serve::Reply& reply) {
        reply({.status = 404,
               .body = absl::StrCat(request.method, " ", request.path, " ",
                                    request.query, " ", request.token, " ",
                                    request.body)});
      });
  const std::string address =
      absl::StrCat("http://127.0.0.1:", server->ports()[0]);
  const auto get =
      Call({.server = address, .path = "/a?b=c", .token = "s3cret"});
  ASSERT_TRUE(get.ok()) << get.status();
  EXPECT_EQ(get->status, 404);
  EXPECT_EQ(get->body, "GET /a b=c s3cret ");
  const auto post =
      Call({.server = address, .path = "/a", .token = "s3cret", .body = "{}"});
  ASSERT_TRUE(post.ok()) << post.status();
  EXPECT_EQ(post->body, "POST /a  s3cret {}");
}

TEST(LocalCallTest, ATokenGoesNowhereElse) {
  for (const char* server :
       {"", "http://example.com:80", "https://127.0.0.1:1",
        "http://127.0.0.1:1@example.com:80", "http://127.0.0.1:1/x",
        "http://127.0.0.1", "http://127.0.0.1:0", "http://127.0.0.1:65536",
        "http://user@127.0.0.1:1", "http://localhost:1",
        "http://127.0.0.1.example.com:1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        Call({.server = server, .path = "/", .token = "s3cret"}).status()))
        << server;
  }
}

TEST(LocalCallTest, NobodyThereIsUnavailableAndNamesNoToken) {
  uint16_t port = 0;
  {
    port = Serve([](const serve::HttpRequest&, const serve::Reply&) {
           })->ports()[0];
  }
  const auto answer = Call({.server = absl::StrCat("http://127.0.0.1:", port),
                            .path = "/",
                            .token = "s3cret"});
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
  EXPECT_EQ(answer.status().ToString().find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace muster::kubernetes::plugin
