#include "adapters/local/gpu/places.h"

#include "adapters/local/gpu/inventory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Gpu Of(const std::string& uuid, int32_t island = 0) {
  return {.uuid = uuid,
          .model = "NVIDIA H100",
          .memory_bytes = 80'000,
          .pci = "00000000:17:00.0",
          .numa = 1,
          .island = island};
}

// "a b! c": b is missing.
std::string Text(const std::vector<Gpu>& gpus) {
  std::string text;
  for (const Gpu& gpu : gpus) {
    text += (text.empty() ? "" : " ") + gpu.uuid + (gpu.missing ? "!" : "");
  }
  return text;
}

std::vector<Gpu> Keep(const std::vector<Gpu>& known,
                      const std::vector<Gpu>& found,
                      const std::vector<std::string>& forgotten = {}) {
  return KeepPlaces(known, found, forgotten);
}

TEST(PlacesTest, WhereNoneIsKnownTheyAreAsFound) {
  EXPECT_EQ(Text(Keep({}, {Of("b"), Of("a")})), "b a");
}

TEST(PlacesTest, OneThatIsMissingKeepsItsPlaceAndThoseBehindItTheirs) {
  const auto gpus = Keep({Of("a"), Of("b"), Of("c")}, {Of("a"), Of("c")});
  EXPECT_EQ(Text(gpus), "a b! c");
  const auto devices = ToDevices(gpus, {});
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_TRUE(devices[0].healthy);
  EXPECT_FALSE(devices[1].healthy);
  EXPECT_EQ(devices[1].memory_bytes, 80'000);  // As it was.
  EXPECT_TRUE(devices[2].healthy);
  // And it is healthy when it is back.
  EXPECT_EQ(Text(Keep(gpus, {Of("a"), Of("b"), Of("c")})), "a b c");
}

TEST(PlacesTest, AnotherOrderOfTheDriverChangesNothing) {
  EXPECT_EQ(Text(Keep({Of("a"), Of("b")}, {Of("b"), Of("a")})), "a b");
}

TEST(PlacesTest, ANewOneComesLast) {
  EXPECT_EQ(Text(Keep({Of("a"), Of("b")}, {Of("c"), Of("b")})), "a! b c");
}

TEST(PlacesTest, TheReplacementOfAForgottenOneGetsItsPlace) {
  const auto known = std::vector{Of("a"), Of("b"), Of("c")};
  EXPECT_EQ(Text(Keep(known, {Of("a"), Of("c")}, {"b"})), "a b! c");
  EXPECT_EQ(Text(Keep(known, {Of("d"), Of("a"), Of("c"), Of("e")}, {"b"})),
            "a d c e");
  // One that is there is not forgotten.
  EXPECT_EQ(Text(Keep(known, known, {"b", "c"})), "a b c");
}

TEST(PlacesTest, ForgottenOnesAtTheEndGo) {
  const auto known = std::vector{Of("a"), Of("b"), Of("c")};
  EXPECT_EQ(Text(Keep(known, {Of("a")}, {"c", "b"})), "a");
  EXPECT_EQ(Text(Keep(known, {Of("a")}, {"b"})), "a b! c!");
  EXPECT_EQ(Text(Keep(known, {}, {"a", "b", "c"})), "");
}

TEST(PlacesTest, IslandsKeepTheirNumbers) {
  const auto known =
      std::vector{Of("a", 0), Of("b", 1), Of("c", 1), Of("d", 2)};
  // Without a, the driver's first island is that of b.
  const auto gpus =
      Keep(known, {Of("b", 0), Of("c", 0), Of("d", 1), Of("e", 2)});
  std::vector<int32_t> islands;
  for (const Gpu& gpu : gpus) islands.push_back(gpu.island);
  EXPECT_THAT(islands, ElementsAre(0, 1, 1, 2, 3));
}

TEST(PlacesTest, OfOneThatIsMissingNoProcessIsToldAndNoTaskGetsIt) {
  Gpu busy = Of("a");
  busy.processes = {{7, 1}};
  const auto gpus = Keep({busy}, {});
  EXPECT_THAT(gpus[0].processes, IsEmpty());
  const auto visible = VisibleDevices(gpus, std::vector{DeviceShare{0, 1000}});
  EXPECT_TRUE(absl::IsInternal(visible.status()));
  EXPECT_THAT(std::string(visible.status().message()),
              HasSubstr("GPU 0 (a) is not there"));
}

TEST(PlacesTest, WhatIsKeptIsReadAgain) {
  Gpu cut = Of("GPU-\"a\"", 3);
  cut.mig = true;
  cut.instances = {{"MIG-x", "3g.40gb", 4, 42'000'000'000}};
  const std::vector<Gpu> gpus = {cut, Of("b")};
  const auto read = GpusFromJson(GpusToJson(gpus));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, gpus);
}

TEST(PlacesTest, WhatIsDamagedIsRefused) {
  const std::string good = GpusToJson(std::vector{Of("a")});
  ASSERT_TRUE(GpusFromJson(good).ok());
  for (const std::string& bad :
       {std::string(), good.substr(0, good.size() / 2), std::string("{}"),
        std::string("[{}]"), std::string("[7]")}) {
    EXPECT_TRUE(absl::IsDataLoss(GpusFromJson(bad).status())) << bad;
  }
  for (const char* field : {"uuid", "model", "memory_bytes", "pci", "numa",
                            "island", "mig", "instances"}) {
    std::string bad = good;
    bad.replace(bad.find(field), 1, "x");
    EXPECT_TRUE(absl::IsDataLoss(GpusFromJson(bad).status())) << field;
  }
}

}  // namespace
}  // namespace muster::local
