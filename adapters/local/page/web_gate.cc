#include "adapters/local/page/web_gate.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "adapters/local/page/static_files.h"
#include "adapters/serve/query.h"

namespace muster::local {
namespace {

using serve::HttpRequest;
using serve::HttpResponse;

// Nothing that is not the page's own runs in it or is loaded by it, and no
// other page shows it.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

constexpr char kTokenRoute[] = "/v1/web/token";

HttpResponse WithPolicy(HttpResponse response) {
  response.headers.insert(response.headers.end(),
                          {{"Content-Security-Policy", kContentPolicy},
                           {"Referrer-Policy", "no-referrer"},
                           {"Cross-Origin-Resource-Policy", "same-origin"},
                           {"Cross-Origin-Opener-Policy", "same-origin"}});
  return response;
}

HttpResponse Refusal(int status, std::string text) {
  return WithPolicy({.status = status, .body = std::move(text) + "\n"});
}

HttpResponse WayIn() {
  HttpResponse response =
      Refusal(401,
              "Who asks is not known. `muster web` tells the address that lets "
              "you in; programs send \"Authorization: Bearer TOKEN\".");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool IsChange(const HttpRequest& request) {
  return request.method != "GET" && request.method != "HEAD";
}

}  // namespace

absl::StatusOr<serve::Address> ParseLoopback(std::string_view text) {
  auto address = serve::ParseAddress(text);
  if (!address.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected an address of the loopback interface with a "
                     "port, such as 127.0.0.1:8750 or [::1]:8750, not '",
                     std::string(text), "'"));
  }
  boost::system::error_code error;
  const auto ip = boost::asio::ip::make_address(address->host, error);
  if (error || !ip.is_loopback()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(text),
                     " is not on the loopback interface: expected "
                     "127.0.0.1:PORT or [::1]:PORT. From other machines "
                     "the page is reached through ssh -L"));
  }
  return address;
}

std::string HostOf(const serve::Address& address) {
  const bool six = address.host.find(':') != std::string::npos;
  return absl::StrCat(six ? "[" : "", address.host, six ? "]" : "", ":",
                      address.port);
}

// Browsers send cookies to all ports of a host: the name tells them apart.
WebGate::WebGate(const serve::Address& address, const WebUsers* users)
    : users_(*users),
      address_(absl::StrCat("http://", HostOf(address))),
      cookie_(absl::StrCat("muster-", address.port)),
      hosts_{HostOf(address), absl::StrCat("localhost:", address.port)} {
  if (address.port != 80) return;  // Which browsers leave out.
  for (size_t i = 0; i < 2; ++i) {
    hosts_.push_back(hosts_[i].substr(0, hosts_[i].rfind(':')));
  }
}

std::optional<WebUser> WebGate::OfCookie(std::string_view cookies) const {
  const std::vector<std::string> list =
      absl::StrSplit(std::string(cookies), ';');
  for (const std::string& cookie : list) {
    std::pair<std::string, std::string> pair =
        absl::StrSplit(cookie, absl::MaxSplits('=', 1));
    absl::StripAsciiWhitespace(&pair.first);
    absl::StripAsciiWhitespace(&pair.second);
    if (pair.first != cookie_) continue;
    auto user = users_.WithSession(pair.second);
    if (user) return user;
  }
  return std::nullopt;
}

std::string WebGate::SetCookie(const std::string& value) const {
  return absl::StrCat(cookie_, "=", value,
                      "; Path=/; HttpOnly; SameSite=Strict",
                      value.empty() ? "; Max-Age=0" : "");
}

bool WebGate::IsOurs(const HttpRequest& request) const {
  const bool change = IsChange(request);
  const bool typed = request.fetch_site == "none" && !change;
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" &&
      !typed) {
    return false;
  }
  if (!request.origin.empty()) {
    return request.origin == "http://" + request.host;
  }
  return !change || !request.fetch_site.empty();
}

HttpResponse WebGate::Login(const HttpRequest& request) const {
  if (request.method != "GET") return Refusal(405, "not by this method");
  const auto parameters = serve::ParseQuery(request.query);
  if (!parameters.ok()) return WayIn();
  const auto token = parameters->find("token");
  const auto user = token == parameters->end()
                        ? std::nullopt
                        : users_.WithToken(token->second);
  if (!user) return WayIn();
  return WithPolicy(
      {.status = 303,
       .headers = {{"Location", "/"},
                   {"Set-Cookie", SetCookie(user->secrets.session)}}});
}

// Another page signs nobody out.
HttpResponse WebGate::Logout(const HttpRequest& request) const {
  if (request.method != "POST") return Refusal(405, "not by this method");
  if (!IsOurs(request)) {
    return Refusal(403, "this comes from another page than musterd's own");
  }
  return WithPolicy(
      {.status = 204, .headers = {{"Set-Cookie", SetCookie("")}}});
}

std::optional<HttpResponse> WebGate::Check(const HttpRequest& request,
                                           serve::Credentials* who) const {
  if (std::ranges::find(hosts_, absl::AsciiStrToLower(request.host)) ==
      hosts_.end()) {
    return Refusal(421, absl::StrCat("Host: expected ", hosts_[0]));
  }
  if (request.path == "/login") return Login(request);
  if (request.path == "/logout") return Logout(request);
  const StaticFile* file = FindStaticFile(request.path);
  if (file != nullptr) {
    if (request.method != "GET") return Refusal(405, "not by this method");
    return WithPolicy({.content_type = std::string(file->content_type),
                       .body = std::string(file->body)});
  }
  // What has a wrong token is not let in by a cookie.
  const bool bearer = !request.token.empty();
  const auto user =
      bearer ? users_.WithToken(request.token) : OfCookie(request.cookie);
  if (!user) return WayIn();
  if (!bearer && !IsOurs(request)) {
    return Refusal(403, "this comes from another page than musterd's own");
  }
  if (request.path == kTokenRoute) {
    return Refusal(403, "tokens are told over the Unix socket alone");
  }
  *who = {.uid = user->uid, .gid = user->gid};
  return std::nullopt;
}

}  // namespace muster::local
