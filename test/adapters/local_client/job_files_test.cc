#include "adapters/local/client/job_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/workload/parse.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

namespace fs = std::filesystem;

constexpr const char* kJob = R"(apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, command: [x]}]
)";
constexpr const char* kMap = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data:
  app.yaml: |
    ---
    a: 1
binaryData: {bytes: AAEC}
)";
constexpr const char* kSecret = R"(apiVersion: v1
kind: Secret
metadata: {name: db}
type: Opaque
data: {token: dDBr}
stringData: {user: ann}
)";

SplitManifest Split(const std::string& manifest) {
  auto split = TakeConfigDocuments(manifest);
  EXPECT_TRUE(split.ok()) << split.status();
  return split.ok() ? *std::move(split) : SplitManifest();
}

TEST(ConfigDocumentTest, MapsAndSecretsAreTakenOutOfAManifest) {
  const SplitManifest split = Split(
      absl::StrCat("# mine\n---\n", kMap, "---\n", kJob, "---\n", kSecret));
  EXPECT_TRUE(split.has_rest);
  ASSERT_THAT(split.documents, SizeIs(2));
  EXPECT_FALSE(split.documents[0].secret);
  EXPECT_EQ(split.documents[0].name, "app");
  EXPECT_THAT(split.documents[0].files,
              ElementsAre(Pair("app.yaml", "---\na: 1\n"),
                          Pair("bytes", std::string("\0\1\2", 3))));
  EXPECT_TRUE(split.documents[1].secret);
  EXPECT_THAT(split.documents[1].files,
              ElementsAre(Pair("token", "t0k"), Pair("user", "ann")));
  EXPECT_THAT(split.rest, Not(HasSubstr("dDBr")));
  const auto parsed = workload::Parse(split.rest);
  ASSERT_TRUE(parsed.ok()) << parsed.status() << split.rest;
  EXPECT_THAT(*parsed, SizeIs(1));
}

TEST(ConfigDocumentTest, MistakesKeepTheirLines) {
  const std::string text =
      absl::StrCat(kMap, "---\n", "apiVersion: batch/v1\nkind: Nothing\n");
  const std::string rest = Split(text).rest;
  EXPECT_EQ(std::ranges::count(rest, '\n'), std::ranges::count(text, '\n'));
  EXPECT_THAT(std::string(workload::Parse(rest).status().message()),
              HasSubstr("line 10:"));
}

TEST(ConfigDocumentTest, WhatIsNoneIsLeftAsItIs) {
  for (const std::string& text :
       {std::string(kJob), absl::StrCat("--- # Secret\n", kJob),
        std::string("#!/bin/sh\n# kind: Secret\n"), std::string("Secret: [\n"),
        std::string("apiVersion: v2\nkind: Secret\n"), std::string()}) {
    const SplitManifest split = Split(text);
    EXPECT_EQ(split.rest, text);
    EXPECT_EQ(split.has_rest, !text.empty());
    EXPECT_THAT(split.documents, IsEmpty());
  }
  EXPECT_FALSE(Split(absl::StrCat("---\n", kSecret, "---\n")).has_rest);
}

TEST(ConfigDocumentTest, MistakesAreNamed) {
  const auto message = [](const std::string& text) {
    const auto split = TakeConfigDocuments(text);
    EXPECT_TRUE(absl::IsInvalidArgument(split.status())) << text;
    return std::string(split.status().message());
  };
  const std::string secret = "apiVersion: v1\nkind: Secret\n";
  EXPECT_THAT(message(secret), HasSubstr("metadata.name: ''"));
  EXPECT_THAT(message(secret + "metadata: {name: ../x}\n"),
              HasSubstr("metadata.name: '../x'"));
  const std::string named = secret + "metadata: {name: db}\n";
  EXPECT_EQ(message(named + "data: {token: '?'}\n"),
            "Secret 'db': data.token: expected base64");
  EXPECT_EQ(message(named + "data: [a]\n"),
            "Secret 'db': data: expected a mapping");
  EXPECT_EQ(message(named + "stringData: {a: [b]}\n"),
            "Secret 'db': stringData.a: expected a text");
  EXPECT_THAT(message(named + "stringData: {../a: b}\n"),
              HasSubstr("stringData: a key has letters"));
}

class JobFilesTest : public testing::Test {
 protected:
  JobFilesTest() {
    std::string name = testing::TempDir() + "files-XXXXXX";
    home_ = fs::canonical(mkdtemp(name.data()));
    setenv("HOME", home_.c_str(), 1);
    unsetenv("XDG_STATE_HOME");
  }
  ~JobFilesTest() override { fs::remove_all(home_); }

  static std::string Read(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static unsigned ModeOf(const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777u;
  }

  fs::path home_;
};

TEST_F(JobFilesTest, FilesAreTheirUsersAloneAndGoWithoutAJob) {
  const auto documents = Split(absl::StrCat(kSecret, "---\n", kMap)).documents;
  auto files = JobFiles::Write(documents);
  ASSERT_TRUE(files.ok()) << files.status();
  const fs::path path = (*files)->path();
  EXPECT_EQ(path.parent_path(), home_ / ".local/state/muster/files");
  EXPECT_EQ(Read(path / "secrets/db/token"), "t0k");
  EXPECT_EQ(Read(path / "config-maps/app/app.yaml"), "---\na: 1\n");
  EXPECT_EQ(ModeOf(path), 0700u);
  EXPECT_EQ(ModeOf(path.parent_path()), 0700u);
  EXPECT_EQ(ModeOf(path / "secrets/db"), 0700u);
  EXPECT_EQ(ModeOf(path / "secrets/db/token"), 0600u);
  files->reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(JobFilesTest, WhatIsKeptForTheUserIsReplacedAsAWhole) {
  auto documents = Split(kSecret).documents;
  ASSERT_TRUE(KeepForUser(documents).ok());
  const fs::path folder = home_ / ".config/muster/secrets/db";
  EXPECT_EQ(Read(folder / "user"), "ann");
  EXPECT_EQ(ModeOf(folder), 0700u);
  documents[0].files = {{"other", "x"}};
  ASSERT_TRUE(KeepForUser(documents).ok());
  EXPECT_EQ(Read(folder / "other"), "x");
  EXPECT_FALSE(fs::exists(folder / "user"));
}

TEST_F(JobFilesTest, WithoutAHomeNothingIsKept) {
  setenv("HOME", "", 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(JobFiles::Write({}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(KeepForUser({})));
}

}  // namespace
}  // namespace muster::local
