#include "adapters/local/page/web_gate.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "adapters/local/page/static_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using serve::HttpRequest;
using serve::HttpResponse;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHost[] = "127.0.0.1:8750";
constexpr char kOrigin[] = "http://127.0.0.1:8750";

class WebGateTest : public ::testing::Test {
 protected:
  WebGateTest() {
    char name[] = "/tmp/muster-gate-XXXXXX";
    folder_ = mkdtemp(name);
    auto users = WebUsers::Open(folder_, kOwner, kOwner);
    EXPECT_TRUE(users.ok()) << users.status();
    users_ = *std::move(users);
    token_ = *users_->TokenOf(kOwner, kOwner);
    session_ = users_->WithToken(token_)->secrets.session;
    gate_.emplace(serve::Address{.host = "127.0.0.1", .port = 8750},
                  users_.get());
  }
  ~WebGateTest() override { std::filesystem::remove_all(folder_); }

  std::optional<HttpResponse> Check(const HttpRequest& request) const {
    serve::Credentials who;
    return gate_->Check(request, &who);
  }
  // 0: it is the API's.
  int StatusOf(const HttpRequest& request) const {
    const auto answer = Check(request);
    return answer ? answer->status : 0;
  }
  // Whose request it is; nullopt: nobody's.
  std::optional<uint32_t> UserOf(const HttpRequest& request) const {
    serve::Credentials who;
    if (gate_->Check(request, &who)) return std::nullopt;
    return who.uid;
  }
  HttpRequest WithToken(const std::string& path = "/v1/jobs") const {
    return {.method = "GET", .path = path, .token = token_, .host = kHost};
  }
  HttpRequest WithCookie(const std::string& method = "GET",
                         const std::string& path = "/v1/jobs") const {
    return {.method = method,
            .path = path,
            .host = kHost,
            .cookie = "theme=x; muster-8750=" + session_ + "; z"};
  }

  static constexpr uint32_t kOwner = 500;

  std::string folder_{};
  std::unique_ptr<WebUsers> users_{};
  std::string token_{};
  std::string session_{};
  std::optional<WebGate> gate_{};
};

TEST_F(WebGateTest, WithoutASecretNothingIsToBeHad) {
  for (const char* path : {"/v1/jobs", "/v1/metrics", "/v1/users", "/x"}) {
    HttpRequest request{.method = "GET", .path = path, .host = kHost};
    EXPECT_EQ(StatusOf(request), 401) << path;
    request.token = session_;  // It is the cookie's alone.
    EXPECT_EQ(StatusOf(request), 401) << path;
    request.token = "";
    request.cookie = "muster-8750=" + token_;
    EXPECT_EQ(StatusOf(request), 401) << path;
    request.cookie = "muster-1=" + session_;
    EXPECT_EQ(StatusOf(request), 401) << path;
  }
  HttpRequest both = WithCookie();
  both.token = "wrong";
  EXPECT_EQ(StatusOf(both), 401);
}

TEST_F(WebGateTest, TheTokenLetsProgramsIn) {
  EXPECT_EQ(StatusOf(WithToken()), 0);
  HttpRequest change = WithToken();
  change.method = "POST";
  EXPECT_EQ(StatusOf(change), 0);
  EXPECT_EQ(StatusOf(WithToken("/")), 200);
}

TEST_F(WebGateTest, OtherNamesInHostAreRefused) {
  for (const char* host :
       {"", "evil.example", "evil.example:8750", "127.0.0.1", "127.0.0.1:80",
        "127.0.0.1:8750.evil.example", "localhost"}) {
    HttpRequest request = WithToken();
    request.host = host;
    EXPECT_EQ(StatusOf(request), 421) << host;
    request.path = "/login";
    request.query = "token=" + token_;
    EXPECT_EQ(StatusOf(request), 421) << host;
  }
  HttpRequest local = WithToken();
  local.host = "LocalHost:8750";
  EXPECT_EQ(StatusOf(local), 0);
  const WebGate six({.host = "::1", .port = 80}, users_.get());
  EXPECT_EQ(six.address(), "http://[::1]:80");
  for (const char* host : {"[::1]:80", "[::1]", "localhost"}) {
    local.host = host;
    serve::Credentials who;
    EXPECT_FALSE(six.Check(local, &who).has_value()) << host;
  }
}

TEST_F(WebGateTest, LoggingInSetsACookieThatIsOfNoUseToScripts) {
  const auto answer = Check({.method = "GET",
                             .path = "/login",
                             .query = "token=" + token_,
                             .host = kHost});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 303);
  std::map<std::string, std::string> headers(answer->headers.begin(),
                                             answer->headers.end());
  EXPECT_EQ(headers["Location"], "/");
  EXPECT_EQ(headers["Set-Cookie"],
            "muster-8750=" + session_ + "; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(headers["Referrer-Policy"], "no-referrer");
  for (const std::string& query :
       {std::string(), std::string("token="), "token=" + session_,
        "token=" + token_ + "x", "token=" + token_ + "&token=" + token_,
        std::string("token=%")}) {
    const auto refused = Check(
        {.method = "GET", .path = "/login", .query = query, .host = kHost});
    ASSERT_TRUE(refused.has_value());
    EXPECT_EQ(refused->status, 401) << query;
    for (const auto& [name, value] : refused->headers) {
      EXPECT_NE(name, "Set-Cookie");
    }
  }
}

TEST_F(WebGateTest, OneIsTheUserWhoseSecretOneHas) {
  EXPECT_EQ(UserOf(WithToken()), kOwner);
  EXPECT_EQ(UserOf(WithCookie()), kOwner);
  const std::string alice = *users_->TokenOf(1001, 100);
  HttpRequest request = WithToken();
  request.token = alice;
  serve::Credentials who;
  ASSERT_FALSE(gate_->Check(request, &who).has_value());
  EXPECT_EQ(who.uid, 1001u);
  EXPECT_EQ(who.gid, 100u);
  const auto answer = Check({.method = "GET",
                             .path = "/login",
                             .query = "token=" + alice,
                             .host = kHost});
  ASSERT_TRUE(answer.has_value());
  std::map<std::string, std::string> headers(answer->headers.begin(),
                                             answer->headers.end());
  HttpRequest browser = WithCookie();
  browser.cookie = headers["Set-Cookie"];
  EXPECT_EQ(UserOf(browser), 1001u);
  // It goes on to be hers alone, until she has another.
  ASSERT_TRUE(users_->Forget(kOwner).ok());
  EXPECT_EQ(UserOf(WithToken()), std::nullopt);
  EXPECT_EQ(UserOf(browser), 1001u);
  ASSERT_TRUE(users_->Forget(1001).ok());
  EXPECT_EQ(StatusOf(browser), 401);
  EXPECT_EQ(StatusOf(request), 401);
}

TEST_F(WebGateTest, TokensAreNotToldOverTcp) {
  for (const char* method : {"GET", "POST", "DELETE"}) {
    HttpRequest request = WithToken("/v1/web/token");
    request.method = method;
    EXPECT_EQ(StatusOf(request), 403) << method;
    request.token = "";
    EXPECT_EQ(StatusOf(request), 401) << method;
  }
}

TEST_F(WebGateTest, LoggingOutTakesTheCookieAwayAndIsThePagesAlone) {
  HttpRequest request = WithCookie("POST", "/logout");
  EXPECT_EQ(StatusOf(request), 403);
  request.fetch_site = "cross-site";
  EXPECT_EQ(StatusOf(request), 403);
  request.fetch_site = "same-origin";
  const auto answer = Check(request);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 204);
  std::map<std::string, std::string> headers(answer->headers.begin(),
                                             answer->headers.end());
  EXPECT_EQ(headers["Set-Cookie"],
            "muster-8750=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
  request.method = "GET";
  EXPECT_EQ(StatusOf(request), 405);
}

TEST_F(WebGateTest, TheCookieIsGoodForThePageItselfAlone) {
  for (const char* site : {"", "none", "same-origin"}) {
    HttpRequest request = WithCookie();
    request.fetch_site = site;
    EXPECT_EQ(StatusOf(request), 0) << site;
  }
  for (const char* site : {"cross-site", "same-site", "SAME-ORIGIN", "x"}) {
    HttpRequest request = WithCookie();
    request.fetch_site = site;
    EXPECT_EQ(StatusOf(request), 403) << site;
  }
  HttpRequest foreign = WithCookie();
  foreign.origin = "http://127.0.0.1:9999";
  EXPECT_EQ(StatusOf(foreign), 403);
}

TEST_F(WebGateTest, AChangeWithTheCookieShowsThatItIsThePages) {
  for (const char* method : {"POST", "DELETE", "PUT", "OPTIONS"}) {
    HttpRequest request = WithCookie(method);
    EXPECT_EQ(StatusOf(request), 403) << method;
    request.fetch_site = "none";
    EXPECT_EQ(StatusOf(request), 403) << method;
    request.fetch_site = "same-origin";
    EXPECT_EQ(StatusOf(request), 0) << method;
    request.origin = kOrigin;
    EXPECT_EQ(StatusOf(request), 0) << method;
    request.fetch_site = "";
    EXPECT_EQ(StatusOf(request), 0) << method;
    for (const char* origin : {"null", "http://127.0.0.1:1",
                               "https://127.0.0.1:8750", "http://evil"}) {
      request.origin = origin;
      EXPECT_EQ(StatusOf(request), 403) << method << origin;
    }
  }
}

TEST_F(WebGateTest, AllAnswersCarryThePolicy) {
  const HttpRequest requests[] = {
      WithToken("/"), {.method = "GET", .path = "/", .host = kHost}, {}};
  for (const HttpRequest& request : requests) {
    const auto answer = Check(request);
    ASSERT_TRUE(answer.has_value());
    std::map<std::string, std::string> headers(answer->headers.begin(),
                                               answer->headers.end());
    const std::string& policy = headers["Content-Security-Policy"];
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_FALSE(headers.contains("Access-Control-Allow-Origin"));
  }
}

TEST_F(WebGateTest, FilesAreReadByAllAndNothingElse) {
  for (const StaticFile& file : StaticFiles()) {
    HttpRequest nobodys{
        .method = "GET", .path = std::string(file.path), .host = kHost};
    EXPECT_EQ(StatusOf(nobodys), 200);
    const auto answer = Check(WithToken(std::string(file.path)));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->body, file.body);
    HttpRequest post = WithToken(std::string(file.path));
    post.method = "POST";
    EXPECT_EQ(StatusOf(post), 405);
  }
  EXPECT_EQ(StatusOf(WithToken("/../state/web-token")), 0);  // The API's 404.
}

TEST(ParseLoopbackTest, OnlyAddressesOfThisMachineAreTaken) {
  for (const char* text :
       {"127.0.0.1:8750", "127.1.2.3:1", "[::1]:8750", "127.0.0.1:0"}) {
    const auto address = ParseLoopback(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(HostOf(*address), text);
  }
  for (const char* text :
       {"", ":8750", "0.0.0.0:8750", "[::]:8750", "192.168.1.2:8750",
        "localhost:8750", "127.0.0.1", "8750", "127.0.0.1:99999",
        "[::ffff:10.0.0.1]:80", "10.127.0.1:80"}) {
    const auto address = ParseLoopback(text);
    EXPECT_FALSE(address.ok()) << text;
    EXPECT_THAT(std::string(address.status().message()),
                HasSubstr("127.0.0.1"));
  }
}

}  // namespace
}  // namespace muster::local
