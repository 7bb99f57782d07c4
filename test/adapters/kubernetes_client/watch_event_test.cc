#include "adapters/kubernetes/client/watch_event.h"

#include <gtest/gtest.h>

#include "adapters/kubernetes/client/line_splitter.h"

namespace muster::kubernetes::client {
namespace {

// With the bytes behind it that the readers ask for.
std::string Padded(std::string text) {
  text.reserve(text.size() + kPadding);
  return text;
}

TEST(WatchEventTest, AnEventIsReadWhateverTheOrderOfItsFields) {
  WatchReader reader;
  for (
      const char* text :
      {R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"7"},"x":[1]}})",
       R"({"object":{"x":[1],"metadata":{"a":{},"resourceVersion":"7"}},"type":"ADDED"})"}) {
    const std::string line = Padded(text);
    const auto event = reader.ReadEvent(line);
    ASSERT_TRUE(event.ok()) << event.status();
    EXPECT_EQ(event->type, EventType::kAdded);
    EXPECT_EQ(event->resource_version, "7");
    EXPECT_TRUE(event->object.starts_with("{") && event->object.ends_with("}"));
    EXPECT_NE(event->object.find("\"x\":[1]"), std::string::npos);
    EXPECT_EQ(event->object.find("ADDED"), std::string::npos);
  }
}

TEST(WatchEventTest, AnErrorEventNeedsNoVersion) {
  WatchReader reader;
  const std::string line =
      Padded(R"({"type":"ERROR","object":{"kind":"Status","code":410}})");
  const auto event = reader.ReadEvent(line);
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->type, EventType::kError);
  EXPECT_EQ(ParseApiError(event->object).code, 410);
}

TEST(WatchEventTest, WhatIsNoEventIsNamed) {
  WatchReader reader;
  const std::pair<const char*, const char*> cases[] = {
      {"7", "watch event"},
      {R"({"object":{}})", "watch event: type"},
      {R"({"type":7,"object":{}})", "watch event: type"},
      {R"({"type":"GONE","object":{}})", "'GONE' is none of"},
      {R"({"type":"ADDED"})", "watch event: object"},
      {R"({"type":"ADDED","object":[]})", "watch event: object"},
      {R"({"type":"ADDED","object":{}})", "metadata.resourceVersion"},
      {R"({"type":"ADDED","object":{"metadata":{"resourceVersion":""}}})",
       "metadata.resourceVersion: is empty"},
      {R"({"type":"ADDED","object":{"metadata":{"resourceVersion":7}}})",
       "metadata.resourceVersion"}};
  for (const auto& [text, what] : cases) {
    const std::string line = Padded(text);
    const auto event = reader.ReadEvent(line);
    ASSERT_TRUE(absl::IsInvalidArgument(event.status())) << text;
    EXPECT_NE(event.status().message().find(what), std::string::npos)
        << text << ": " << event.status();
  }
}

TEST(WatchEventTest, AListsMetadataIsReadBeforeOrBehindItsItems) {
  WatchReader reader;
  for (
      const char* text :
      {R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"a\/b"},"items":[{"metadata":{"resourceVersion":"1"}}]})",
       R"({"items":[{"metadata":{"resourceVersion":"1"}}],"metadata":{"continue":"a/b","resourceVersion":"9"}})"}) {
    const std::string body = Padded(text);
    const auto metadata = reader.ReadListMetadata(body);
    ASSERT_TRUE(metadata.ok()) << metadata.status();
    EXPECT_EQ(metadata->resource_version, "9");
    EXPECT_EQ(metadata->continue_token, "a/b");
  }
}

TEST(WatchEventTest, AListWithoutAVersionIsRefused) {
  WatchReader reader;
  for (const char* text : {"", "{", "{}", R"({"metadata":{}})",
                           R"({"metadata":{"resourceVersion":3}})"}) {
    const std::string body = Padded(text);
    EXPECT_TRUE(absl::IsInvalidArgument(reader.ReadListMetadata(body).status()))
        << text;
  }
}

}  // namespace
}  // namespace muster::kubernetes::client
