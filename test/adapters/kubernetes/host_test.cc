// Stories of a replica: what it does while it leads, and what it does not.
#include "adapters/kubernetes/host/host.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/kube_server.h"

namespace muster::kubernetes {
namespace {

using client::Millis;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPods[] = "/api/v1/pods";
constexpr char kNodes[] = "/api/v1/nodes";
constexpr char kMusterGroups[] = "/apis/muster.dev/v1alpha1/podgroups";
constexpr Millis kWall = 1'769'860'800'000;  // 2026-01-31T12:00:00Z

class HostTest : public testing::Test {
 protected:
  HostTest() {
    ServeEmpty(&server_);
    server_.Serve(kNodes, {NodeJson("n")});
  }

  void Begin(bool elect = false) {
    HostOptions options;
    options.clock = [this] { return now_; };
    options.writer.instance = "me";
    if (elect) {
      options.election = {.namespace_name = "ns",
                          .name = "muster",
                          .identity = "me",
                          .duration = 15'000,
                          .renew_every = 3'000,
                          .margin = 2'000,
                          .longest_request = 10'000};
    }
    auto host = Host::Create(
        &server_, options, now_, kWall,
        [this](std::string_view line) { lines_.emplace_back(line); });
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }
  // The program's loop for so long.
  void Run(Millis time = 1'000) {
    for (const Millis end = now_ + time; now_ < end; now_ += 100) {
      for (int i = 0; i < 5; ++i) {
        host_->Advance(now_);
        server_.Poll(0);
      }
    }
  }
  // It waits for the Lease, has it, and decides.
  void Lead() {
    Begin(true);
    Run(27'000);
    ASSERT_TRUE(host_->decides());
  }
  // It hears nothing of the Lease any more, until it has to stop.
  void LoseLease() {
    server_.slow_lease = true;
    Run(16'000);
    ASSERT_EQ(host_->term(), nullptr);
    EXPECT_FALSE(host_->decides());
  }
  int Binds() const { return server_.CountWrites("binding"); }
  void ExpectNoDefects() {
    ASSERT_TRUE(host_->decides());
    EXPECT_TRUE(host_->term()->controller().defects().empty());
  }

  Millis now_ = 1'000'000;
  KubeServer server_;
  std::vector<std::string> lines_;
  std::unique_ptr<Host> host_;
};

TEST_F(HostTest, APodOfTheListAndOneOfTheWatchAreBound) {
  server_.Serve(kPods, {PodJson("listed", "u1")});
  Begin();
  Run();
  ASSERT_EQ(Binds(), 1);
  EXPECT_EQ(server_.writes()[0].path,
            "/api/v1/namespaces/default/pods/listed/binding");
  EXPECT_THAT(server_.writes()[0].body, HasSubstr(R"("name":"n")"));
  server_.Push(kPods, "ADDED", PodJson("new", "u2"));
  Run();
  EXPECT_EQ(Binds(), 2);
  ExpectNoDefects();
}

TEST_F(HostTest, NothingIsDecidedBeforeEverythingIsListed) {
  server_.Serve(kPods, {PodJson("p", "u1")});
  server_.slow_path = kNodes;
  Begin();
  Run();
  EXPECT_FALSE(host_->decides());
  EXPECT_EQ(Binds(), 0);
  server_.slow_path.clear();
  Run();
  EXPECT_TRUE(host_->decides());
  EXPECT_EQ(Binds(), 1);
}

TEST_F(HostTest, AnObjectThatCannotBeReadGetsAnEvent) {
  constexpr char kQueues[] = "/apis/muster.dev/v1alpha1/queues";
  const auto queue = [](const std::string& weight) {
    return KubeServer::Json::parse(
        R"({"metadata": {"name": "q", "uid": "uq"}, "spec": {"weight": )" +
        weight + "}}");
  };
  server_.Serve(kQueues, {queue("\"heavy\"")});
  server_.Serve(kPods, {PodJson("p", "u1")});
  Begin();
  Run();
  EXPECT_EQ(Binds(), 1);  // Everything else goes on.
  const auto events = [&] {
    std::vector<KubeServer::Json> bodies;
    for (const client::HttpRequest& write : server_.writes()) {
      const auto body = KubeServer::Json::parse(write.body, nullptr, false);
      if (body.contains("regarding") && body["regarding"]["kind"] == "Queue") {
        bodies.push_back(body);
      }
    }
    return bodies;
  };
  ASSERT_EQ(events().size(), 1u);
  EXPECT_EQ(events()[0]["regarding"]["uid"], "uq");
  EXPECT_EQ(events()[0]["regarding"]["apiVersion"], "muster.dev/v1alpha1");
  EXPECT_THAT(events()[0]["note"].get<std::string>(), HasSubstr("spec.weight"));
  server_.Push(kQueues, "MODIFIED", queue("\"heavy\""));
  Run();
  EXPECT_EQ(events().size(), 1u);
  server_.Push(kQueues, "MODIFIED", queue("2"));
  server_.Push(kQueues, "MODIFIED", queue("\"heavy\""));
  Run();
  EXPECT_EQ(events().size(), 2u);
  ExpectNoDefects();
}

TEST_F(HostTest, AVersionThatIsNotServedIsLookedForInAnOlderOne) {
  constexpr char kOld[] = "/apis/scheduling.k8s.io/v1alpha2/podgroups";
  server_.Serve(kOld);
  Begin();
  Run();
  EXPECT_TRUE(host_->decides());
  EXPECT_EQ(server_.ListsOf(kOld), 1);
}

TEST_F(HostTest, AResourceThatIsInstalledLaterIsFound) {
  nlohmann::json pod = PodJson("p", "u1");
  pod["metadata"]["labels"] = {{"muster.dev/pod-group", "g"}};
  server_.Serve(kPods, {pod});
  Begin();
  Run(2'000);
  EXPECT_TRUE(host_->decides());
  EXPECT_EQ(Binds(), 0);
  server_.Serve(
      kMusterGroups,
      {{{"metadata", {{"name", "g"}, {"namespace", "default"}, {"uid", "ug"}}},
        {"spec", {{"minMember", 1}}}}});
  Run(65'000);
  EXPECT_EQ(server_.ListsOf(kMusterGroups), 1);
  EXPECT_EQ(Binds(), 1);
}

TEST_F(HostTest, ABoundPodAndAnUnreadableOneAreTold) {
  nlohmann::json bad = PodJson("bad\nname", "u2");
  bad["spec"]["containers"] = "none";
  server_.Serve(kPods, {PodJson("p", "u1"), bad});
  Begin();
  Run();
  EXPECT_EQ(server_.CountWrites("events"), 2);
  EXPECT_THAT(lines_, Contains(HasSubstr("spec.containers")));
  EXPECT_THAT(lines_, Each(Not(HasSubstr("\n"))));
}

TEST_F(HostTest, ABindingThatSomebodyElseWonIsReadAndLeftAlone) {
  server_.Serve(kPods, {PodJson("p", "u1")});
  server_.perform = [](const client::HttpRequest& request) {
    if (request.method == "GET") {
      return KubeServer::Answered{200, PodJson("p", "u1", "elsewhere")};
    }
    const bool binds = request.path.ends_with("/binding");
    return KubeServer::Answered{binds ? 409 : 201};
  };
  Begin();
  Run(120'000);
  EXPECT_EQ(Binds(), 1);
  ExpectNoDefects();
}

// The watch is another connection, and may be faster than the answer.
TEST_F(HostTest, APodThatIsGoneIsNotBroughtBackByAReadFromBefore) {
  server_.Serve(kPods, {PodJson("p", "u1")});
  server_.perform = [this](const client::HttpRequest& request) {
    server_.slow_writes = true;
    return request.method == "GET"
               ? KubeServer::Answered{200, PodJson("p", "u1", "n")}
               : KubeServer::Answered{409};
  };
  Begin();
  Run();
  ASSERT_EQ(Binds(), 1);
  server_.Push(kPods, "DELETED", PodJson("p", "u1", "n"));
  Run();
  ASSERT_EQ(host_->term()->controller().counts().pods, 0u);
  server_.slow_writes = false;
  Run();
  EXPECT_EQ(host_->term()->controller().counts().pods, 0u);
  ExpectNoDefects();
}

TEST_F(HostTest, WhatItMayNotWriteIsToldOnce) {
  server_.Serve(kPods, {PodJson("p", "u1"), PodJson("q", "u2")});
  server_.perform = [](const client::HttpRequest& request) {
    if (!request.path.ends_with("/binding")) return KubeServer::Answered{};
    return KubeServer::Answered{
        403, {{"kind", "Status"}, {"message", "cannot create binding"}}};
  };
  Begin();
  Run();
  EXPECT_GE(Binds(), 2);
  EXPECT_EQ(std::ranges::count(lines_, "cannot create binding"), 1);
}

TEST_F(HostTest, AnAnswerThatIsNoPodIsAskedForAgain) {
  server_.Serve(kPods, {PodJson("p", "u1")});
  int reads = 0;
  server_.perform = [&reads](const client::HttpRequest& request) {
    if (request.method == "GET") {
      return ++reads < 3 ? KubeServer::Answered{200, {{"spec", 1}}}
                         : KubeServer::Answered{200, PodJson("p", "u1", "n")};
    }
    return KubeServer::Answered{request.path.ends_with("/binding") ? 409 : 201};
  };
  Begin();
  Run(60'000);
  EXPECT_EQ(Binds(), 1);
  EXPECT_EQ(reads, 3);
}

TEST_F(HostTest, ALeaderWaitsOutFormerOnesAndThenDecides) {
  server_.Serve(kPods, {PodJson("p", "u1")});
  Begin(true);
  Run(24'000);  // The lease of one that is not known, and its last request.
  EXPECT_EQ(host_->term(), nullptr);
  EXPECT_EQ(server_.ListsOf(kPods), 0);
  Run(3'000);
  EXPECT_TRUE(host_->decides());
  EXPECT_EQ(Binds(), 1);
  EXPECT_EQ(server_.lease()["spec"]["holderIdentity"], "me");
}

TEST_F(HostTest, WhyItMayNotHaveTheLeaseIsToldOnce) {
  server_.lease_status = 403;
  Begin(true);
  Run(60'000);
  EXPECT_EQ(host_->term(), nullptr);
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], HasSubstr("Lease ns/muster: "));
  EXPECT_THAT(lines_[0], HasSubstr("PERMISSION_DENIED"));
  server_.lease_status = 0;
  Run(60'000);
  EXPECT_TRUE(host_->decides());
}

TEST_F(HostTest, ALeaderThatLosesItsLeaseStopsAndTheNextTermListsAgain) {
  Lead();
  LoseLease();
  const size_t writes = server_.writes().size();
  const int lists = server_.ListsOf(kPods);
  server_.Serve(kPods, {PodJson("p", "u1")});
  server_.Push(kPods, "ADDED", PodJson("p", "u1"));
  Run(5'000);
  EXPECT_EQ(server_.writes().size(), writes);
  EXPECT_EQ(Binds(), 0);
  server_.slow_lease = false;
  Run(60'000);
  EXPECT_TRUE(host_->decides());
  EXPECT_EQ(server_.ListsOf(kPods), lists + 1);
  EXPECT_EQ(Binds(), 1);
}

TEST_F(HostTest, WhatWaitsInTheQueueIsNotSentWithoutTheLease) {
  server_.Serve(kNodes,
                {NodeJson("n"), NodeJson("m"), NodeJson("o"), NodeJson("q"),
                 NodeJson("r"), NodeJson("s"), NodeJson("t")});
  server_.Serve(kPods, PodsJson(50));
  server_.slow_writes = true;
  Lead();
  const int under_way = Binds();
  EXPECT_GT(under_way, 0);
  EXPECT_LT(under_way, 50);
  LoseLease();
  server_.slow_writes = false;  // Room for others.
  Run(5'000);
  EXPECT_EQ(Binds(), under_way);
}

TEST_F(HostTest, AnAnswerToAFormerTermChangesNothing) {
  server_.Serve(kPods, {PodJson("p", "u1")});
  server_.slow_writes = true;
  Lead();
  ASSERT_EQ(Binds(), 1);
  LoseLease();
  server_.slow_lease = false;
  Run(60'000);
  ASSERT_TRUE(host_->decides());
  // The next term's binding waits for the former one's, about the same pod.
  EXPECT_EQ(Binds(), 1);
  int answered = 0;
  server_.perform = [&answered](const client::HttpRequest& request) {
    const bool former = answered++ == 0;
    return KubeServer::Answered{
        former && request.path.ends_with("/binding") ? 403 : 201};
  };
  server_.slow_writes = false;
  Run(5'000);
  EXPECT_EQ(Binds(), 2);
  EXPECT_EQ(server_.CountWrites("status"), 0);  // None says that it failed.
  ExpectNoDefects();
}

TEST_F(HostTest, ALeaderThatResignsGivesTheLeaseBackAndWritesNothing) {
  Lead();
  host_->Resign(now_);
  EXPECT_FALSE(host_->resigned());
  server_.Push(kPods, "ADDED", PodJson("p", "u1"));
  Run(30'000);
  EXPECT_TRUE(host_->resigned());
  EXPECT_EQ(server_.lease()["spec"].value("holderIdentity", ""), "");
  EXPECT_TRUE(server_.writes().empty());
  EXPECT_EQ(server_.open(), 0u);
}

TEST_F(HostTest, AHostThatEndsLeavesNothingOpen) {
  server_.slow_writes = true;
  server_.Serve(kPods, {PodJson("p", "u1")});
  Begin();
  Run();
  EXPECT_GT(server_.open(), 0u);
  host_ = nullptr;
  EXPECT_EQ(server_.open(), 0u);
}

TEST_F(HostTest, QuotasOfNamespacesAreReadIfThatIsAsked) {
  constexpr char kQuotas[] = "/api/v1/resourcequotas";
  server_.Serve(kQuotas);
  Begin();
  Run();
  EXPECT_TRUE(host_->decides());
  EXPECT_EQ(server_.ListsOf(kQuotas), 0);
  HostOptions options;
  options.clock = [this] { return now_; };
  options.controller.quota_from_namespaces = true;
  host_ =
      *Host::Create(&server_, options, now_, kWall, [](std::string_view) {});
  Run();
  EXPECT_TRUE(host_->decides());
  EXPECT_EQ(server_.ListsOf(kQuotas), 1);
}

TEST_F(HostTest, EqualHistoriesMakeEqualWrites) {
  std::vector<std::string> first;
  for (int run = 0; run < 2; ++run) {
    KubeServer server;
    ServeEmpty(&server);
    server.Serve(kNodes, {NodeJson("a"), NodeJson("b")});
    server.Serve(kPods, PodsJson(20));
    auto host = *Host::Create(&server, {}, 0, kWall, [](std::string_view) {});
    for (Millis now = 0; now < 5'000; now += 100) {
      host->Advance(now);
      server.Poll(0);
    }
    std::vector<std::string> writes;
    for (const client::HttpRequest& request : server.writes()) {
      writes.push_back(request.method + request.path + request.body);
    }
    EXPECT_GT(writes.size(), 16u);
    if (run == 0) first = writes;
    EXPECT_EQ(writes, first);
  }
}

}  // namespace
}  // namespace muster::kubernetes
