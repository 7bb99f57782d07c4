#include "adapters/serve/address.h"

#include <boost/asio/ip/address.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace muster::serve {

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        std::string(text),
        ": expected ADDRESS:PORT, such as 127.0.0.1:8080, [::1]:8080 or "
        ":8080"));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string host(text.substr(0, colon));
  const std::string digits(text.substr(colon + 1));
  int port = 0;
  if (digits.empty() || digits[0] == '+' || !absl::SimpleAtoi(digits, &port) ||
      port < 0 || port > 65535) {
    return wrong();
  }
  const bool six = host.starts_with('[') && host.ends_with(']');
  if (six) host = host.substr(1, host.size() - 2);
  if (host.empty() && !six) host = "0.0.0.0";
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error || address.is_v6() != six) return wrong();
  return Address{.host = std::move(host), .port = static_cast<uint16_t>(port)};
}

}  // namespace muster::serve
