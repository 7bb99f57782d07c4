#include "adapters/serve/address.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::serve {
namespace {

TEST(AddressTest, IpAddressesWithPorts) {
  const Address any{.host = "0.0.0.0", .port = 8080};
  EXPECT_EQ(*ParseAddress(":8080"), any);
  EXPECT_EQ(*ParseAddress("127.0.0.1:0"), (Address{"127.0.0.1", 0}));
  EXPECT_EQ(*ParseAddress("[::1]:65535"), (Address{"::1", 65535}));
}

TEST(AddressTest, WhatIsNoneIsRefusedAndQuoted) {
  for (const char* text :
       {"", "8080", "127.0.0.1", "localhost:80", "127.0.0.1:65536",
        "127.0.0.1:-1", "127.0.0.1:", "::1:80", "[127.0.0.1]:80", "[]:80",
        "127.0.0.1:+80", "127.0.0.1:80x"}) {
    const auto address = ParseAddress(text);
    EXPECT_EQ(address.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_THAT(std::string(address.status().message()),
                testing::StartsWith(text));
  }
}

}  // namespace
}  // namespace muster::serve
