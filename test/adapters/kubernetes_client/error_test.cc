#include "adapters/kubernetes/client/error.h"

#include <gtest/gtest.h>

namespace muster::kubernetes::client {
namespace {

TEST(ErrorTest, AStatusIsRead) {
  const ApiError error = ParseApiError(
      R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
      R"("message":"pod \"a\" is already assigned","reason":"Conflict",)"
      R"("details":{"retryAfterSeconds":3},"code":409})");
  EXPECT_EQ(error.code, 409);
  EXPECT_EQ(error.reason, "Conflict");
  EXPECT_EQ(error.message, "pod \"a\" is already assigned");
  EXPECT_EQ(error.retry_after, 3000);
  EXPECT_EQ(
      ToStatus(409, error),
      absl::AbortedError("HTTP 409 Conflict: pod \"a\" is already assigned"));
}

TEST(ErrorTest, WhatIsNoStatusIsItsOwnMessage) {
  for (const char* body : {"<html>\n502</html>", R"({"kind":"Pod"})", "[1]"}) {
    const ApiError error = ParseApiError(body);
    EXPECT_EQ(error.code, 0);
    EXPECT_EQ(error.reason, "");
    EXPECT_EQ(error.message, PlainText(body));
  }
}

TEST(ErrorTest, FieldsOfAnotherTypeAreAsIfMissing) {
  const ApiError error = ParseApiError(
      R"({"kind":"Status","message":7,"reason":[],"code":"x","details":1})");
  EXPECT_EQ(error.code, 0);
  EXPECT_EQ(error.reason, "");
  EXPECT_EQ(error.message, "");
  EXPECT_EQ(error.retry_after, std::nullopt);
}

TEST(ErrorTest, AServersTextIsBoundedAndPlain) {
  EXPECT_EQ(PlainText("a\n\x1b[31mb\xc3\xa9"), "a  [31mb??");
  const std::string text = PlainText(std::string(1000, 'x'), 10);
  EXPECT_EQ(text, "xxxxxxx...");
  EXPECT_EQ(ParseApiError(std::string(1 << 16, 'y')).message.size(), 512u);
}

TEST(ErrorTest, EachHttpStatusHasItsCode) {
  const auto code = [](int http, std::string reason = "") {
    return ToStatus(http, {.reason = std::move(reason)}).code();
  };
  EXPECT_EQ(code(400), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(401), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(code(403), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(404), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(409), absl::StatusCode::kAborted);
  EXPECT_EQ(code(409, "AlreadyExists"), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(code(410), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(422), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(429), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(503), absl::StatusCode::kUnavailable);
  EXPECT_EQ(code(418), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace muster::kubernetes::client
