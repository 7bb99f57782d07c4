#include "adapters/translate/devices.h"

#include <gtest/gtest.h>

namespace muster::translate {
namespace {

TEST(DevicesTest, WhatIsAskedOfGpus) {
  const struct {
    GpuAsk ask;
    DeviceRequest request;
  } cases[] = {{{}, {.count = 0}},
               {{.milli = -5}, {.count = 0}},
               {{.milli = 3000}, {.count = 3}},
               {{.milli = 250}, {.count = 1, .milli = 250}},
               {{.share = GpuShare{.milli = 400}}, {.count = 1, .milli = 400}},
               {{.share = GpuShare{.devices = 2, .milli = 300}},
                {.count = 2, .milli = 300}},
               {{.share = GpuShare{.devices = 2, .memory_mib = 1024}},
                {.count = 2, .milli = 0, .memory_bytes = int64_t{1} << 30}},
               {{.milli = 5'000'000'000'000}, {.count = 1'000'000}}};
  for (const auto& c : cases) {
    const auto request = ToDeviceRequest(c.ask);
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(*request, c.request) << c.ask.milli;
  }
}

TEST(DevicesTest, WhatTheLibraryHasNoWordFor) {
  EXPECT_EQ(ToDeviceRequest({.milli = 1500}).status().message(),
            "a pod with one and a half GPUs");
  EXPECT_EQ(
      ToDeviceRequest({.milli = 1000, .share = GpuShare{}}).status().message(),
      "shares beside counted GPUs");
}

TEST(DevicesTest, APartitionsNameTellsItsSlices) {
  EXPECT_EQ(MigSlices("nvidia.com/mig-3g.40gb"), 3);
  EXPECT_EQ(MigSlices("nvidia.com/mig-1g.5gb.me"), 1);
  EXPECT_EQ(MigSlices("nvidia.com/mig-"), 0);
  EXPECT_EQ(MigSlices("nvidia.com/gpu"), 0);
  EXPECT_EQ(MigSlices(""), 0);
}

}  // namespace
}  // namespace muster::translate
