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

}  // namespace
}  // namespace muster::kubernetes::api
