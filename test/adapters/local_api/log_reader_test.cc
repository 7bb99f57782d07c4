#include "adapters/local/api/log_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace muster::local {
namespace {

class LogReaderTest : public ::testing::Test {
 protected:
  LogReaderTest() {
    char name[] = "/tmp/muster-logs-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~LogReaderTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name, std::ios::app) << text;
  }
  LogFile File(const std::string& path = "output") const {
    return {.folder = folder_, .path = path, .uid = getuid(), .gid = getgid()};
  }
  static serve::BodyPart Next(const serve::BodySource& source) {
    auto part = std::make_shared<std::promise<serve::BodyPart>>();
    source([part](serve::BodyPart got) { part->set_value(std::move(got)); });
    return part->get_future().get();
  }
  static std::string All(const serve::BodySource& source) {
    std::string all;
    for (;;) {
      const serve::BodyPart part = Next(source);
      EXPECT_LE(part.bytes.size(), LogReader::kPart);
      all += part.bytes;
      if (part.last) return all;
    }
  }
  serve::BodySource Open(const LogFile& file, uint64_t from = 0,
                         bool follow = false) {
    return reader_.Open(file, from, follow, over_);
  }

  std::string folder_;
  std::shared_ptr<std::atomic<bool>> over_ =
      std::make_shared<std::atomic<bool>>(false);
  LogReader reader_;
};

TEST_F(LogReaderTest, AFileIsReadFromAByteToItsEndInParts) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + "\n";
  Write("output", text);
  EXPECT_EQ(All(Open(File())), text);
  EXPECT_EQ(All(Open(File(), 100'000)), text.substr(100'000));
  EXPECT_EQ(All(Open(File(), text.size() + 5)), "");
  EXPECT_EQ(All(Open(File(folder_ + "/output"))), text);
}

TEST_F(LogReaderTest, ItsLastBytesAreToBeHadAlone) {
  Write("output", "first\nlast\n");
  EXPECT_EQ(All(reader_.Open(File(), 0, false, over_, 5)), "last\n");
  EXPECT_EQ(All(reader_.Open(File(), 8, false, over_, 5)), "st\n");
  EXPECT_EQ(All(reader_.Open(File(), 0, false, over_, 99)), "first\nlast\n");
}

TEST_F(LogReaderTest, OneThatIsNotThereHasNothingInIt) {
  EXPECT_EQ(All(Open(File())), "");
}

TEST_F(LogReaderTest, WhatIsWrittenLaterComesUntilItIsOver) {
  const serve::BodySource source = Open(File(), 0, true);
  auto first = std::async(std::launch::async, [&] { return Next(source); });
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(150)),
            std::future_status::timeout);
  Write("output", "one");
  EXPECT_EQ(first.get().bytes, "one");
  auto second = std::async(std::launch::async, [&] { return Next(source); });
  Write("output", "two");
  EXPECT_EQ(second.get().bytes, "two");
  Write("output", "three");
  *over_ = true;
  EXPECT_EQ(All(source), "three");
}

TEST_F(LogReaderTest, NeitherLinksNorPipesNorFoldersAreRead) {
  Write("secret", "secret");
  std::filesystem::create_symlink(folder_ + "/secret", folder_ + "/output");
  EXPECT_EQ(All(Open(File())), "");
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(All(Open(File("pipe"))), "");
  EXPECT_EQ(All(Open(File(folder_ + "/pipe"))), "");
  EXPECT_EQ(All(Open(File(folder_))), "");
  EXPECT_EQ(All(Open(File("/dev/zero"))), "");
}

TEST_F(LogReaderTest, AnothersFileThatWasPutThereIsNotRead) {
  Write("output", "secret");
  LogFile file = File();
  file.uid = getuid() + 1;
  EXPECT_EQ(All(Open(file)), "");
}

TEST_F(LogReaderTest, AsRootAFileIsReadWithTheRightsOfItsUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  Write("roots", "secret");
  Write("groups", "secret");
  Write("all", "open");
  ASSERT_EQ(chmod((folder_ + "/roots").c_str(), 0600), 0);
  ASSERT_EQ(chmod((folder_ + "/groups").c_str(), 0640), 0);
  ASSERT_EQ(chmod((folder_ + "/all").c_str(), 0644), 0);
  const auto read = [&](const char* name) {
    LogFile file = File(folder_ + "/" + name);
    file.uid = 65'534;
    file.gid = 65'534;
    return All(Open(file));
  };
  EXPECT_EQ(read("roots"), "");
  EXPECT_EQ(read("groups"), "");
  EXPECT_EQ(read("all"), "open");
  EXPECT_EQ(All(Open(File(folder_ + "/roots"))), "secret");
}

TEST_F(LogReaderTest, OneWhomNobodyAsksAnyMoreIsForgotten) {
  Write("output", "");
  auto source = std::make_unique<serve::BodySource>(Open(File(), 0, true));
  std::atomic<int> parts = 0;
  (*source)([&](const serve::BodyPart&) { ++parts; });
  source.reset();
  EXPECT_EQ(over_.use_count(), 1);
  Write("output", "more");
  EXPECT_EQ(All(Open(File())), "more");
  EXPECT_EQ(parts, 0);
}

}  // namespace
}  // namespace muster::local
