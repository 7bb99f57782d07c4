// What cannot be read is answered with its path, whatever it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/ids.h"
#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string PodOf(const std::string& fields) {
  return "{\"metadata\": {\"name\": \"p\"}, " + fields + "}";
}

std::string Many(const std::string& element, size_t count) {
  std::string list = "[" + element;
  for (size_t i = 1; i < count; ++i) list += "," + element;
  return list + "]";
}

TEST(BadInputTest, MistakesNameTheirPaths) {
  const struct {
    const char* fields;
    const char* why;
  } cases[] = {
      {R"("spec": 1)", "spec: must be an object"},
      {R"("spec": {"containers": {}})", "spec.containers: must be a list"},
      {R"("spec": {"containers": [1]})",
       "spec.containers[0]: must be an object"},
      {R"("spec": {"containers": [{}, {"resources": {"requests": {
          "cpu": "1x"}}}]})",
       "spec.containers[1].resources.requests.cpu: '1x' has an unknown suffix"},
      {R"("spec": {"overhead": {"cpu": "-1"}})",
       "spec.overhead.cpu: is negative"},
      {R"("spec": {"overhead": {"cpu": ""}})",
       "spec.overhead.cpu: is no quantity"},
      {R"("spec": {"overhead": {"cpu": "1", "cpu": "2"}})",
       "spec.overhead.cpu: is there twice"},
      {R"("spec": {"overhead": {"": "1"}})",
       "spec.overhead[\"\"]: has no name"},
      {R"("spec": {"nodeSelector": {"a": "b", "a": "b"}})",
       "spec.nodeSelector.a: is there twice"},
      {R"("spec": {"nodeSelector": {"x.y/z": 1}})",
       "spec.nodeSelector[\"x.y/z\"]: must be a string"},
      {R"("spec": {"priority": 2147483648})",
       "spec.priority: must be a whole number of 32 bits"},
      {R"("spec": {"priority": 1e400})",
       "spec.priority: must be a whole number of 32 bits"},
      {R"("spec": {"priority": 99999999999999999999999})",
       "spec.priority: must be a whole number of 32 bits"},
      {R"("spec": {"priority": "1"})",
       "spec.priority: must be a whole number of 32 bits"},
      {R"("spec": {"terminationGracePeriodSeconds": 1.0})",
       "spec.terminationGracePeriodSeconds: must be a whole number of 64 bits"},
      {R"("spec": {"nodeName": true})", "spec.nodeName: must be a string"},
      {R"("spec": {"tolerations": [{"tolerationSeconds": []}]})",
       "spec.tolerations[0].tolerationSeconds: must be a whole number"},
      {R"("status": {"startTime": "yesterday"})",
       "status.startTime: must be a time as of RFC 3339"},
      {R"("status": {"startTime": 5})", "status.startTime: must be a string"},
      {R"("status": {"conditions": [{"type": {}}]})",
       "status.conditions[0].type: must be a string"},
      {R"("status": {}, "status": {})", "status: is there twice"},
      {R"("st\u0061tus": {}, "status": {})", "status: is there twice"},
      {R"("a": 1, "b": 2, "a": 3)", "a: is there twice"},
  };
  for (const auto& [fields, why] : cases) {
    EXPECT_THAT(WhyNot<Pod>(PodOf(fields)), StartsWith(why)) << fields;
  }
}

TEST(BadInputTest, EveryObjectHasAName) {
  for (const char* json :
       {"{}", R"({"metadata": {}})", R"({"metadata": null})",
        R"({"metadata": {"name": ""}})", R"({"metadata": {"name": null}})"}) {
    EXPECT_EQ(WhyNot<Pod>(json), "metadata: has no name") << json;
    EXPECT_EQ(WhyNot<Node>(json), "metadata: has no name") << json;
    EXPECT_EQ(WhyNot<Queue>(json), "metadata: has no name") << json;
  }
  EXPECT_EQ(WhyNot<Pod>(R"({"metadata": {"name": 7}})"),
            "metadata.name: must be a string");
}

TEST(BadInputTest, WhatIsNoJsonIsSaidToBeNone) {
  for (const std::string json :
       {"",
        " ",
        "null",
        "5",
        "\"x\"",
        "[]",
        "{",
        "}",
        "{]",
        "{\"metadata\": {\"name\": \"p\"}}}",
        "{\"metadata\": {\"name\": \"p\"}} {}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"metadata\": {\"name\": \"p\"}} x",
        "{\"metadata\": {\"name\": \"p\"}}, {}",
        "{\"metadata\": {\"name\": \"p\\q\"}}",
        "{\"metadata\": {\"name\": \"p\\ud800\"}}",
        "{\"metadata\": {\"name\": \"\xff\xfe\"}}",
        "{\"metadata\": {\"name\": \"p\", \"labels\": {\"a\" \"b\"}}}",
        "{\"metadata\": {\"name\": \"a\nb\"}}"}) {
    EXPECT_THAT(WhyNot<Pod>(json), HasSubstr("is no JSON")) << json;
  }
}

TEST(BadInputTest, NestingIsNoDanger) {
  constexpr size_t kDepth = 1'000'000;
  const std::string open(kDepth, '['), close(kDepth, ']');
  EXPECT_EQ(Must<Pod>(PodOf("\"x\": " + open + close)).meta.name, "p");
  EXPECT_THAT(WhyNot<Pod>(PodOf("\"spec\": " + open + close)),
              StartsWith("spec: must be an object"));
  EXPECT_NE(WhyNot<Pod>(PodOf("\"x\": " + open)), "");
  std::string objects;
  for (size_t i = 0; i < kDepth / 10; ++i) objects += "{\"spec\":";
  EXPECT_NE(WhyNot<Pod>(objects + "}"), "");
}

TEST(BadInputTest, WhatHasNoEndInKubernetesHasOneHere) {
  const std::string longer(kMaxTextLength + 1, 'a');
  EXPECT_EQ(WhyNot<Pod>(PodOf("\"spec\": {\"nodeName\": \"" + longer + "\"}")),
            "spec.nodeName: is longer than 4096 bytes");
  EXPECT_EQ(WhyNot<Pod>(PodOf("\"spec\": {\"tolerations\": " +
                              Many("{}", kMaxListLength + 1) + "}")),
            "spec.tolerations: has more than 4096 elements");
  std::string fields = "\"spec\": {\"a0\": 1";
  for (int i = 1; i <= 300; ++i)
    fields += ", \"a" + std::to_string(i) + "\": 1";
  EXPECT_EQ(WhyNot<Pod>(PodOf(fields + "}")), "spec: has more than 256 fields");
  EXPECT_THAT(WhyNot<Pod>(PodOf("\"spec\": {\"nodeSelector\": {\"" + longer +
                                "\": \"\"}}")),
              HasSubstr("has too long a name"));
  // A path is for people: it stays short.
  EXPECT_LT(WhyNot<Pod>(PodOf("\"spec\": {\"nodeSelector\": {\"" + longer +
                              "\": \"\"}}"))
                .size(),
            400u);
}

TEST(BadInputTest, AnnotationsMayBeLong) {
  const std::string note(200'000, 'n');
  const Pod pod = Must<Pod>(
      "{\"metadata\": {\"name\": \"p\", \"annotations\": "
      "{\"a\": \"" +
      note + "\"}}}");
  EXPECT_EQ(pod.meta.annotations.at("a"), note);
}

// A key that is no label is shown so that a log line stays one.
TEST(BadInputTest, PathsAreEscaped) {
  EXPECT_EQ(
      WhyNot<Pod>(PodOf(R"("spec": {"nodeSelector": {"a\nb\u0007": 1}})")),
      "spec.nodeSelector[\"a\\nb\\x07\"]: must be a string");
}

TEST(BadInputTest, AReaderGoesOnAfterAMistake) {
  Reader reader;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(reader.Read<Pod>("{\"metadata\": {").ok());
    EXPECT_FALSE(reader.Read<Pod>(PodOf(R"("spec": 1)")).ok());
    EXPECT_TRUE(reader.Read<Pod>(PodOf(R"("spec": {})")).ok());
  }
}

}  // namespace
}  // namespace muster::kubernetes::api
