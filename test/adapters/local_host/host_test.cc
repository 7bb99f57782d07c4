// A whole musterd in this process, with real tasks and a clock that the test
// sets.
#include "adapters/local/host/host.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"
#include "test/adapters/local_shim/cgroup_mount.h"
#include "test/adapters/serve/http_client.h"

namespace muster::local {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr Duration kHour = 3600 * kSecond;

class HostTest : public testing::Test {
 protected:
  HostTest() {
    options_.state = folder_ / "state";
    options_.socket = folder_ / "socket";
    options_.shim = MUSTER_SHIM;
    options_.config.devices.emplace(1);
    options_.config.cpu_milli = 16'000;
    const ClockSources machine = ClockSources::OfMachine();
    options_.clock = machine;
    options_.clock.wall = [this, machine] { return machine.wall() + jump_; };
  }
  ~HostTest() override {
    if (host_ == nullptr) return;
    for (const uint64_t job : jobs_) {
      Cancel(job);
      EXPECT_TRUE(Eventually([&] { return Job(job).contains("finished"); }));
    }
    End();
  }

  void Begin() {
    auto host = Host::Open(options_);
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
    thread_ = std::thread([this] { EXPECT_TRUE(host_->Run().ok()); });
  }
  void End() {
    host_->Stop();
    thread_.join();
    host_.reset();
  }

  // The body of the answer.
  std::string Ask(const std::string& method, const std::string& target,
                  const std::string& body = "") const {
    serve::HttpClient client(options_.socket);
    client.Send(absl::StrCat(method, " ", target, " HTTP/1.1\r\nHost: x\r\n",
                             "Content-Length: ", body.size(), "\r\n\r\n",
                             body));
    const std::string answer = client.Receive();
    EXPECT_NE(answer, "") << target;
    const size_t head = answer.find("\r\n\r\n");
    return head == std::string::npos ? "" : answer.substr(head + 4);
  }
  // Nothing happens if it has finished.
  void Cancel(uint64_t id) { Ask("DELETE", absl::StrCat("/v1/jobs/", id)); }
  uint64_t Submit(const std::string& script, int limit_s = 0,
                  const std::string& more = "") {
    Json container{{"name", "main"}, {"command", {"/bin/sh", "-c", script}}};
    container["resources"]["requests"]["nvidia.com/gpu"] = more.empty() ? 1 : 0;
    Json manifest{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
    manifest["metadata"]["name"] = "job";
    Json& spec = manifest["spec"];
    if (limit_s > 0) spec["activeDeadlineSeconds"] = limit_s;
    spec["backoffLimit"] = 0;
    spec["template"]["spec"]["restartPolicy"] = "Never";
    spec["template"]["spec"]["containers"] = Json::array({container});
    const Json body{{"manifest", manifest.dump()},
                    {"directory", "/"},
                    {"environment", {"PATH=/usr/bin:/bin"}}};
    const std::string answer = Ask("POST", "/v1/jobs", body.dump());
    const Json made = Json::parse(answer, nullptr, false);
    EXPECT_TRUE(made.contains("jobs")) << answer;
    if (!made.contains("jobs")) return 0;
    jobs_.push_back(made["jobs"][0]["id"].get<uint64_t>());
    return jobs_.back();
  }
  Json Job(uint64_t id) {
    return Json::parse(Ask("GET", absl::StrCat("/v1/jobs/", id)), nullptr,
                       false);
  }
  std::string Phase(uint64_t id) { return Job(id)["phase"]; }
  bool Becomes(uint64_t id, const std::string& phase) {
    return Eventually([&] { return Phase(id) == phase; });
  }

  TemporaryFolder folder_;
  std::atomic<Duration> jump_ = 0;  // By which the wall clock was set.
  HostOptions options_;
  std::unique_ptr<Host> host_;
  std::thread thread_;
  std::vector<uint64_t> jobs_;
};

TEST_F(HostTest, AJobRunsAndTheNextProgramKnowsOfIt) {
  Begin();
  const uint64_t id = Submit("exit 0");
  EXPECT_TRUE(Becomes(id, "succeeded"));
  End();
  Begin();
  EXPECT_EQ(Phase(id), "succeeded");
}

TEST_F(HostTest, WhoLeavesItsTaskIsFoundInItsCgroup) {
  if (!CanMakeCgroups()) GTEST_SKIP() << "no cgroup can be made here";
  const std::string cgroups =
      absl::StrCat(CgroupMount(), "/muster-host-", getpid());
  options_.config.cgroup = cgroups;
  Begin();
  // In a session of its own, and nobody's child.
  const uint64_t id =
      Submit(absl::StrCat("setsid sh -c 'sleep 1000 & echo $! > ",
                          folder_ / "pid", "'; exec sleep 1000"));
  std::string pid;
  ASSERT_TRUE(Eventually([&] {
    pid = TextOf(folder_ / "pid");
    return pid.ends_with("\n");
  }));
  pid.pop_back();
  EXPECT_THAT(TextOf(absl::StrCat("/proc/", pid, "/cgroup")),
              HasSubstr(absl::StrCat("/", id, ".0-0.1\n")));
  Cancel(id);
  EXPECT_TRUE(Eventually([&] { return Job(id).contains("finished"); }));
  EXPECT_FALSE(std::filesystem::exists(absl::StrCat("/proc/", pid)));
  // No cgroup is left of it either.
  EXPECT_TRUE(Eventually([&] { return rmdir(cgroups.c_str()) == 0; }));
}

TEST_F(HostTest, TwoOfThemDoNotShareAState) {
  Begin();
  HostOptions second = options_;
  second.socket = folder_ / "second";
  const auto other = Host::Open(second);
  EXPECT_TRUE(absl::IsUnavailable(other.status())) << other.status();
}

TEST_F(HostTest, ATaskRunsOnWhileNoProgramIsThere) {
  Begin();
  const std::string go = folder_ / "go";
  const uint64_t id =
      Submit("while ! [ -e " + go + " ]; do sleep 0.01; done; exit 5");
  EXPECT_TRUE(Becomes(id, "running"));
  End();
  WriteText(go, "");
  Begin();
  EXPECT_TRUE(Eventually([&] { return Job(id).contains("exit_code"); }));
  EXPECT_EQ(Job(id)["exit_code"], 5);
}

// The wall clock is set ahead and back by an hour while jobs run.
TEST_F(HostTest, AClockThatIsSetEndsNoJobAndStopsNothing) {
  Begin();
  const uint64_t limited = Submit("exec sleep 600", 1800);
  ASSERT_TRUE(Becomes(limited, "running"));
  double last = Job(limited)["started"].get<double>();
  for (const Duration jump : {kHour, -kHour, -2 * kHour}) {
    jump_ = jump;
    const uint64_t id = Submit("exit 0", 0, "without a GPU");
    EXPECT_TRUE(Becomes(id, "succeeded")) << Job(id).dump();
    const Json job = Job(id);
    // In the order in which it happened, and without an hour in between.
    const double submitted = job["submitted"].get<double>();
    EXPECT_GE(submitted, last);
    EXPECT_GE(job["finished"].get<double>(), submitted);
    EXPECT_LT(job["finished"].get<double>() - last, 60);
    last = job["finished"].get<double>();
    EXPECT_EQ(Phase(limited), "running");
  }
}

TEST_F(HostTest, AClockThatIsSetWhileNoProgramIsThereEndsNoJobEither) {
  Begin();
  const uint64_t limited = Submit("exec sleep 600", 1800);
  ASSERT_TRUE(Becomes(limited, "running"));
  const double started = Job(limited)["started"].get<double>();
  for (const Duration jump : {kHour, -kHour}) {
    End();
    jump_ = jump;
    Begin();
    EXPECT_EQ(Phase(limited), "running");
    const uint64_t id = Submit("exit 0", 0, "without a GPU");
    EXPECT_TRUE(Becomes(id, "succeeded"));
    const double finished = Job(id)["finished"].get<double>();
    EXPECT_GE(finished, started);
    EXPECT_LT(finished - started, 60);
  }
}

TEST_F(HostTest, AClockBehindTheHistoryGoesOnFromThere) {
  Begin();
  const uint64_t first = Submit("exit 0");
  EXPECT_TRUE(Becomes(first, "succeeded"));
  const double finished = Job(first)["finished"].get<double>();
  End();
  // The machine started anew with a clock that is behind.
  std::filesystem::remove(options_.state + "/clock");
  jump_ = -kHour;
  Begin();
  const uint64_t second = Submit("sleep 0.1");
  EXPECT_TRUE(Becomes(second, "succeeded"));
  EXPECT_GE(Job(second)["submitted"].get<double>(), finished - 1e-6);
  EXPECT_GT(Job(second)["finished"].get<double>(), finished + 0.1);
}

// Calendars follow the wall clock: one that is set ahead by an hour starts what
// it jumped over, once; and set back, nothing more.
TEST_F(HostTest, ACalendarFollowsAClockThatIsSet) {
  Begin();
  Json container{{"name", "main"}, {"command", {"true"}}};
  Json job{{"backoffLimit", 0}};
  job["template"]["spec"]["restartPolicy"] = "Never";
  job["template"]["spec"]["containers"] = Json::array({container});
  const Json manifest{
      {"apiVersion", "batch/v1"},
      {"kind", "CronJob"},
      {"metadata", {{"name", "yearly"}}},
      {"spec", {{"schedule", "0 0 1 1 *"}, {"jobTemplate", {{"spec", job}}}}}};
  const Json body{{"manifest", manifest.dump()},
                  {"directory", "/"},
                  {"environment", {"PATH=/usr/bin:/bin"}}};
  const Json made = Json::parse(Ask("POST", "/v1/jobs", body.dump()));
  ASSERT_TRUE(made.contains("crons")) << made.dump();
  const auto jobs = [&] {
    return Json::parse(Ask("GET", "/v1/history"))["jobs"].size();
  };
  EXPECT_EQ(jobs(), 0u);
  jump_ = 3 * 366 * 24 * kHour;
  EXPECT_TRUE(Eventually([&] { return jobs() == 1; }));
  End();
  jump_ = 0;
  Begin();
  EXPECT_EQ(jobs(), 1u);
  jump_ = 366 * 24 * kHour;
  EXPECT_TRUE(Eventually([&] { return jobs() == 2; }));
}

class HostGpuTest : public HostTest {
 protected:
  HostGpuTest() {
    options_.config.devices.reset();
    options_.nvml = FAKE_NVML_LIBRARY;
  }
  // What the driver tells from now on.
  void Gpus(const std::vector<std::string>& uuids) {
    std::string lines;
    for (const std::string& uuid : uuids) {
      absl::StrAppend(&lines, "gpu ", uuid,
                      " H100 80000 00000000:", uuid.substr(4), "0:00.0 0 0\n");
    }
    WriteText(folder_ / "nvml", lines);
    setenv("FAKE_NVML", (folder_ / "nvml").c_str(), 1);
  }
  // "0 1! 2": device 1 is not healthy.
  std::string Devices() {
    const Json nodes = Json::parse(Ask("GET", "/v1/nodes"), nullptr, false);
    std::string text;
    int number = 0;
    for (const Json& device : nodes["nodes"][0]["devices"]) {
      absl::StrAppend(&text, text.empty() ? "" : " ", number++,
                      device["healthy"].get<bool>() ? "" : "!");
    }
    return text;
  }
  // What commands are told of a job's device: "" if it is missing.
  std::string Visible(uint64_t id) {
    const Json nodes = Json::parse(Ask("GET", "/v1/nodes"), nullptr, false);
    for (const Json& device : nodes["nodes"][0]["devices"]) {
      for (const Json& held : device["held"]) {
        if (held["job"] == id) return held.value("visible", "");
      }
    }
    return "nothing held";
  }
  std::string Output(uint64_t id) const {
    return TextOf(absl::StrCat(options_.state, "/jobs/", id, "/0-0/1/output"));
  }
};

TEST_F(HostGpuTest, WhatRunsKeepsItsDeviceThoughAnotherIsMissing) {
  Gpus({"GPU-1", "GPU-2", "GPU-3"});
  Begin();
  std::vector<uint64_t> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(Submit("echo $CUDA_VISIBLE_DEVICES; exec sleep 600"));
    ASSERT_TRUE(Becomes(ids.back(), "running"));
  }
  EXPECT_EQ(Devices(), "0 1 2");
  End();
  Gpus({"GPU-1", "GPU-3"});
  Begin();
  EXPECT_EQ(Devices(), "0 1! 2");
  for (const uint64_t id : ids) EXPECT_EQ(Phase(id), "running");
  EXPECT_EQ(Visible(ids[1]), "");
  EXPECT_EQ(Visible(ids[2]), "GPU-3");  // CUDA has it as number 1.
  // The third leaves its GPU to the next job, which is told the same.
  Cancel(ids[2]);
  const uint64_t next = Submit("echo $CUDA_VISIBLE_DEVICES; exec sleep 600");
  ASSERT_TRUE(Becomes(next, "running"));
  EXPECT_TRUE(Eventually([&] { return Output(next) == "GPU-3\n"; }));
  // The missing one is given to nobody, though its job has gone.
  Cancel(ids[1]);
  const uint64_t waits = Submit("true");
  EXPECT_EQ(Phase(waits), "queued");
  End();
  Gpus({"GPU-1", "GPU-2", "GPU-3", "GPU-4"});
  Begin();
  EXPECT_EQ(Devices(), "0 1 2 3");
  EXPECT_TRUE(Becomes(waits, "succeeded"));
}

TEST_F(HostGpuTest, AForgottenOneGivesItsPlaceAway) {
  Gpus({"GPU-1", "GPU-2"});
  Begin();
  End();
  Gpus({"GPU-2"});
  options_.config.forgotten_gpus = {"GPU-1"};
  Begin();
  EXPECT_EQ(Devices(), "0! 1");
  End();
  Gpus({"GPU-2", "GPU-3"});
  Begin();
  EXPECT_EQ(Devices(), "0 1");
}

TEST_F(HostGpuTest, WhereGpusAreIsNotGuessed) {
  Gpus({"GPU-1"});
  Begin();
  End();
  WriteText(options_.state + "/gpus.json", "[{]");
  const auto host = Host::Open(options_);
  EXPECT_TRUE(absl::IsDataLoss(host.status())) << host.status();
  EXPECT_THAT(std::string(host.status().message()), HasSubstr("gpus.json"));
}

}  // namespace
}  // namespace muster::local
