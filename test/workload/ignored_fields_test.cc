// A field that has no effect is told, wherever it stands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

std::vector<std::string> IgnoredPaths(const ParsedJob& parsed) {
  std::vector<std::string> paths;
  for (const IgnoredField& f : parsed.ignored) paths.push_back(f.path);
  return paths;
}

TEST(IgnoredFieldsTest, ManifestsOfTheDocumentationHaveNone) {
  for (const Manifest& m : AllManifests()) {
    EXPECT_THAT(IgnoredPaths(ParseOne(m.text)), testing::IsEmpty()) << m.name;
  }
}

TEST(IgnoredFieldsTest, AreToldWithPathAndLine) {
  const ParsedJob parsed = ParseOne(R"(apiVersion: batch/v1
kind: Job
metadata: {name: j, uid: x, annotations: {team: a}}
spec:
  ttlSecondsAfterFinish: 10
  template:
    spec:
      initContainers: [{name: a}]
      containers:
      - {name: main, image: i, livenessProbe: {}}
      - {name: side, image: i}
status: {active: 1}
)");
  EXPECT_THAT(
      IgnoredPaths(parsed),
      testing::ElementsAre("metadata.uid", "metadata.annotations.team",
                           "spec.ttlSecondsAfterFinish",
                           "spec.template.spec.initContainers",
                           "spec.template.spec.containers[0].livenessProbe",
                           "spec.template.spec.containers[1]", "status"));
  EXPECT_EQ(parsed.ignored[2].line, 5);
  EXPECT_EQ(parsed.ignored[5].why, "one container of a task is run");
}

// Puts a key that nobody knows at every place of every manifest where one can
// stand in a flow mapping: each is told.
TEST(IgnoredFieldsTest, NoUnknownKeyIsLost) {
  int tried = 0;
  for (const Manifest& m : AllManifests()) {
    const std::string text(m.text);
    for (size_t at = text.find('{'); at != std::string::npos;
         at = text.find('{', at + 1)) {
      // Mappings whose keys are the user's.
      const std::string before = text.substr(0, at);
      const auto ends = [&](std::string_view with) {
        return before.ends_with(with);
      };
      if (ends("limits: ") || ends("requests: ") || ends("annotations: ") ||
          ends("rayStartParams: ")) {
        continue;
      }
      const char* rest = text[at + 1] == '}' ? "" : ", ";
      const std::string changed =
          before + "{unknownKey: 1" + rest + text.substr(at + 1);
      const auto jobs = Parse(changed);
      if (!jobs.ok()) {  // A mapping of known names: it is refused by name.
        EXPECT_THAT(std::string(jobs.status().message()),
                    testing::HasSubstr("unknownKey"))
            << changed;
        continue;
      }
      bool told = false;
      for (const ParsedJob& parsed : *jobs) {
        for (const IgnoredField& f : parsed.ignored) {
          told |= f.path.ends_with("unknownKey");
        }
      }
      EXPECT_TRUE(told) << m.name << ":\n" << changed;
      ++tried;
    }
  }
  EXPECT_GT(tried, 130);
}

}  // namespace
}  // namespace muster::workload
