#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "muster/ids.h"
#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ReadPods {
  absl::StatusOr<ListMeta> meta = ListMeta{};
  std::vector<std::string> names{};
  std::vector<BadObject> bad{};
};

ReadPods List(std::string_view json) {
  Reader reader;
  ReadPods read;
  read.meta = reader.ReadList<Pod>(
      json, [&](Pod pod) { read.names.push_back(pod.meta.name); },
      [&](const BadObject& bad) { read.bad.push_back(bad); });
  return read;
}

std::string Named(std::string_view name) {
  return absl::StrCat("{\"metadata\": {\"name\": \"", std::string(name),
                      "\"}, \"spec\": {\"containers\": [{\"name\": \"c\"}]}}");
}

TEST(ListsTest, ObjectsComeInOrderAndTheListSaysWhereItGoesOn) {
  const auto read = List(absl::StrCat(
      "{\"kind\": \"PodList\", \"items\": [", Named("a"), ",", Named("b"),
      "], \"metadata\": {\"resourceVersion\": \"7\", \"continue\": \"xyz\", "
      "\"remainingItemCount\": 12}}\n"));
  ASSERT_TRUE(read.meta.ok()) << read.meta.status();
  EXPECT_EQ(*read.meta, (ListMeta{"7", "xyz", 12}));
  EXPECT_THAT(read.names, ElementsAre("a", "b"));
  EXPECT_THAT(read.bad, IsEmpty());
}

TEST(ListsTest, NoItemsIsAnEmptyList) {
  for (const char* items : {"[]", "null"}) {
    const auto read = List(absl::StrCat("{\"items\": ", items, "}"));
    EXPECT_TRUE(read.meta.ok()) << read.meta.status();
    EXPECT_THAT(read.names, IsEmpty());
  }
}

TEST(ListsTest, AnObjectIsNoList) {
  const auto read = List(Named("a"));
  EXPECT_THAT(std::string(read.meta.status().message()),
              HasSubstr("items: is missing"));
}

// Wherever in an object the mistake is, its neighbours are read.
TEST(ListsTest, OneBadObjectDoesNotLoseTheOthers) {
  const struct {
    const char* object;
    const char* why;
  } cases[] = {
      {R"({"metadata": {"name": "x"}, "spec": {"nodeName": 5}})",
       "spec.nodeName: must be a string"},
      {R"({"metadata": {"name": "x"}, "spec": {"nodeName": {"a": [1, {}]}}})",
       "spec.nodeName: must be a string"},
      {R"({"metadata": {"name": "x"}, "spec": {"nodeName": ["a", "b"]},
           "status": {}})",
       "spec.nodeName: must be a string"},
      {R"({"metadata": {"name": "x"}, "spec": {"priority": 1.5, "a": {"b": 1}},
           "status": {"phase": "Running"}})",
       "spec.priority: must be a whole number of 32 bits"},
      {R"({"metadata": {"name": "x"}, "spec": {"containers": [{}, {"name": "c",
           "resources": {"requests": {"cpu": "x1"}}}, {}], "z": [[], []]}})",
       "spec.containers[1].resources.requests.cpu: 'x1' is not a number"},
      {R"({"metadata": {"name": "x", "labels": {"a/b": true}}, "spec": {}})",
       "metadata.labels[\"a/b\"]: must be a string"},
      {R"({"metadata": {"name": "x"}, "spec": {}, "spec": {}})",
       "spec: is there twice"},
      {R"({"metadata": {"name": "x"}, "spec": []})", "spec: must be an object"},
      {R"({"metadata": {"name": "x"}, "status": {"conditions": {}}})",
       "status.conditions: must be a list"},
  };
  for (const auto& [object, why] : cases) {
    const auto read =
        List(absl::StrCat("{\"items\": [", Named("a"), ",", object, ",",
                          Named("b"), ",", object, "]}"));
    ASSERT_TRUE(read.meta.ok()) << object << read.meta.status();
    EXPECT_THAT(read.names, ElementsAre("a", "b")) << object;
    ASSERT_EQ(read.bad.size(), 2u) << object;
    for (const BadObject& bad : read.bad) {
      EXPECT_EQ(bad.name, "x") << object;
      EXPECT_THAT(std::string(bad.why.message()), testing::StartsWith(why));
    }
    EXPECT_EQ(read.bad[0].index, 1u);
    EXPECT_EQ(read.bad[1].index, 3u);
  }
}

TEST(ListsTest, ElementsThatAreNoObjectsAreBadOnes) {
  const auto read = List(absl::StrCat("{\"items\": [null, 5, \"x\", [], {}, ",
                                      Named("a"), ", true]}"));
  ASSERT_TRUE(read.meta.ok()) << read.meta.status();
  EXPECT_THAT(read.names, ElementsAre("a"));
  EXPECT_EQ(read.bad.size(), 6u);
}

TEST(ListsTest, ABadObjectIsNamedAsFarAsItWasRead) {
  const auto read = List(
      R"({"items": [{"metadata": {"namespace": "ns", "name": "n", "uid": "u",
          "resourceVersion": "5"}, "spec": 1}]})");
  ASSERT_EQ(read.bad.size(), 1u);
  EXPECT_EQ(read.bad[0].namespace_name, "ns");
  EXPECT_EQ(read.bad[0].name, "n");
  EXPECT_EQ(read.bad[0].uid, "u");
  EXPECT_EQ(read.bad[0].resource_version, "5");
}

TEST(ListsTest, ATruncatedListIsAnErrorWhateverWasReadBefore) {
  const std::string whole = absl::StrCat("{\"items\": [", Named("a"), ",",
                                         Named("b"), "], \"metadata\": {}}");
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto read = List(std::string_view(whole).substr(0, size));
    EXPECT_FALSE(read.meta.ok()) << whole.substr(0, size);
  }
  EXPECT_TRUE(List(whole).meta.ok());
}

TEST(EventsTest, ObjectsBookmarksAndErrorsAreToldApart) {
  Reader reader;
  const auto added = reader.ReadEvent<Pod>(
      R"({"object": {"metadata": {"name": "p", "resourceVersion": "9"}},
          "type": "ADDED"})");
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(added->type, WatchType::kAdded);
  EXPECT_EQ(added->object.meta.name, "p");
  EXPECT_EQ(added->resource_version, "9");
  EXPECT_FALSE(added->bad.has_value());

  const auto bookmark = reader.ReadEvent<Pod>(
      R"({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {
          "resourceVersion": "12", "creationTimestamp": null}, "spec": 1}})");
  ASSERT_TRUE(bookmark.ok()) << bookmark.status();
  EXPECT_EQ(bookmark->type, WatchType::kBookmark);
  EXPECT_EQ(bookmark->resource_version, "12");

  const auto gone = reader.ReadEvent<Pod>(
      R"({"type": "ERROR", "object": {"kind": "Status", "code": 410,
          "reason": "Expired", "message": "too old"}})");
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_EQ(gone->type, WatchType::kError);
  EXPECT_EQ(gone->error.code, 410);
  EXPECT_EQ(gone->error.reason, "Expired");
}

TEST(EventsTest, ABadObjectStillTellsWhereTheWatchGoesOn) {
  Reader reader;
  const auto event = reader.ReadEvent<Pod>(
      R"({"type": "MODIFIED", "object": {"metadata": {"name": "p",
          "resourceVersion": "9"}, "spec": {"priority": "high"}}})");
  ASSERT_TRUE(event.ok()) << event.status();
  ASSERT_TRUE(event->bad.has_value());
  EXPECT_EQ(event->bad->name, "p");
  EXPECT_EQ(event->resource_version, "9");
  EXPECT_THAT(std::string(event->bad->why.message()),
              testing::StartsWith("spec.priority: must be a whole number"));
}

TEST(EventsTest, WhatIsNoEventIsAnError) {
  Reader reader;
  for (const char* line :
       {"", "{}", "[]", "{\"type\": \"ADDED\"}", "{\"object\": {}}",
        "{\"type\": \"WHAT\", \"object\": {}}", "{\"type\": 5, \"object\": {}}",
        "{\"type\": \"ADDED\", \"object\": {\"metadata\": {"}) {
    const auto event = reader.ReadEvent<Pod>(line);
    EXPECT_EQ(event.status().code(), absl::StatusCode::kInvalidArgument)
        << line;
  }
}

TEST(StatusTest, IsReadWithItsDetails) {
  const auto status = Must<ApiStatus>(
      R"({"kind": "Status", "status": "Failure", "code": 429,
          "reason": "TooManyRequests", "message": "later", "details": {
          "name": "p", "kind": "pods", "uid": "u", "retryAfterSeconds": 10}})");
  EXPECT_EQ(status, (ApiStatus{"Failure", 429, "TooManyRequests", "later", "p",
                               "pods", "u", 10}));
}

TEST(StatusTest, ALongMessageIsCutOffAtTheEndOfACharacter) {
  std::string message;
  for (int i = 0; i < 3000; ++i) message += "é";
  const auto status =
      Must<ApiStatus>(absl::StrCat("{\"message\": \"", message, "\"}"));
  EXPECT_EQ(status.message, message.substr(0, kMaxTextLength));
}

}  // namespace
}  // namespace muster::kubernetes::api
