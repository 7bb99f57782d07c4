// Who may ask musterd over TCP, and what a browser is given.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/page/web_users.h"
#include "adapters/serve/address.h"
#include "adapters/serve/http_server.h"

namespace muster::local {

// "127.0.0.1:8750", "[::1]:8750": an address of the loopback interface.
// INVALID_ARGUMENT for every other. Pure; O(bytes).
absl::StatusOr<serve::Address> ParseLoopback(std::string_view text);

// "127.0.0.1:8750", "[::1]:8750". Pure.
std::string HostOf(const serve::Address& address);

// Thread-safe: nothing of it changes.
class WebGate {
 public:
  // `address`: with the port that is listened on. `users` is not owned, and
  // lives longer.
  WebGate(const serve::Address& address, const WebUsers* users);

  // What is answered at once: the page's files, the ways in and out, and
  // refusals. nullopt: the request is one for the API, and may be; *who is then
  // whose it is.
  //
  // The files are everybody's. Else one is in by "Authorization: Bearer TOKEN",
  // or by the cookie that /login?token=TOKEN sets and /logout removes. Other
  // names than the daemon's own in Host are refused, so that no foreign name
  // leads here; with the cookie, so is what comes from another page, by
  // Sec-Fetch-Site or Origin: a change needs one of them. Tokens are not told.
  std::optional<serve::HttpResponse> Check(const serve::HttpRequest& request,
                                           serve::Credentials* who) const;

  // "http://127.0.0.1:8750"
  const std::string& address() const { return address_; }

 private:
  std::optional<WebUser> OfCookie(std::string_view cookies) const;
  std::string SetCookie(const std::string& value) const;
  bool IsOurs(const serve::HttpRequest& request) const;
  serve::HttpResponse Login(const serve::HttpRequest& request) const;
  serve::HttpResponse Logout(const serve::HttpRequest& request) const;

  const WebUsers& users_;
  const std::string address_;
  const std::string cookie_;  // Its name.
  std::vector<std::string> hosts_{};
};

}  // namespace muster::local
