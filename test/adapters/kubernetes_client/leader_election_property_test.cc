// The law of leader_election.h, with candidates that pause and whose clocks
// disagree, over a network that loses and delays, and a record that somebody
// deletes.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "adapters/kubernetes/client/leader_election.h"
#include "test/property/dice.h"

namespace muster::kubernetes::client {
namespace {

using Json = nlohmann::json;

constexpr Millis kLongestRequest = 3'000;
constexpr Millis kRequestTimeout = 1'000;

// What the API server does with a Lease.
class LeaseServer {
 public:
  std::pair<int, std::string> Handle(const HttpRequest& request) {
    if (request.method == "GET") {
      return lease_ ? std::pair{200, lease_->dump()}
                    : std::pair{404, Refusal("NotFound")};
    }
    Json lease = Json::parse(request.body);
    const bool create = request.method == "POST";
    if (create && lease_) return {409, Refusal("AlreadyExists")};
    if (!create && lease_ &&
        (*lease_)["metadata"]["resourceVersion"] !=
            lease["metadata"]["resourceVersion"]) {
      return {409, Refusal("Conflict")};
    }
    const bool made = !lease_.has_value();  // By a PUT, too.
    if (made) uid_ = "uid-" + std::to_string(++version_);
    lease["metadata"]["uid"] = uid_;
    lease["metadata"]["resourceVersion"] = std::to_string(++version_);
    lease_ = lease;
    return {made ? 201 : 200, lease.dump()};
  }
  void Delete() { lease_.reset(); }

 private:
  static std::string Refusal(const std::string& reason) {
    return Json{{"kind", "Status"}, {"reason", reason}}.dump();
  }

  std::optional<Json> lease_{};
  std::string uid_{};
  int version_ = 100;
};

struct Candidate {
  std::string name{};
  LeaderElection election;
  int64_t rate_per_mille = 1000;  // Of its clock against real time.
  Millis offset = 0;
  Millis paused_until = 0;
  uint64_t open = 0;      // The request that it waits for.
  Millis open_until = 0;  // By its own clock.
  bool resigns = false;

  Millis Clock(Millis real) const {
    return offset + real * rate_per_mille / 1000;
  }
};

// On its way, from when it is due.
struct Message {
  uint64_t request = 0;
  size_t candidate = 0;
  std::optional<HttpRequest> to_server{};
  int status = 0;
  std::string body{};
};

class World {
 public:
  World(uint64_t seed, bool faults) : dice_(seed), faults_(faults) {
    const size_t count = 2 + dice_.Below(2);
    for (size_t i = 0; i < count; ++i) candidates_.push_back(NewCandidate());
  }

  void Run(Millis length) {
    for (const Millis end = real_ + length;
         real_ < end && !testing::Test::HasFailure(); real_ += 10) {
      Deliver();
      for (size_t i = 0; i < candidates_.size(); ++i) Turn(i);
      if (faults_ && dice_.OneIn(6'000)) server_.Delete();
      if (faults_ && dice_.OneIn(4'000)) Restart();
    }
  }
  void Calm() {
    faults_ = false;
    for (Candidate& c : candidates_) c.paused_until = 0;
  }
  int acts() const { return acts_; }
  int changes() const { return changes_; }
  bool acted_lately() const { return last_act_ && real_ - *last_act_ < 1'000; }

 private:
  Candidate NewCandidate() {
    const std::string name = "process-" + std::to_string(++processes_);
    return {.name = name,
            .election = LeaderElection({.namespace_name = "ns",
                                        .name = "l",
                                        .identity = name,
                                        .duration = 5'000,
                                        .renew_every = 1'000,
                                        .retry_every = 300,
                                        .request_timeout = kRequestTimeout,
                                        .margin = 500,
                                        .longest_request = kLongestRequest,
                                        .seed = processes_}),
            .rate_per_mille = dice_.In(990, 1010),
            .offset = static_cast<Millis>(dice_.Below(1'000'000))};
  }

  // A process ends, gracefully or not, and another one comes.
  void Restart() {
    Candidate& old =
        candidates_[dice_.Below(static_cast<uint32_t>(candidates_.size()))];
    if (dice_.OneIn(2)) {
      old.resigns = true;
      return;
    }
    old = NewCandidate();
  }

  void Turn(size_t i) {
    Candidate& c = candidates_[i];
    if (real_ < c.paused_until) return;
    if (faults_ && dice_.OneIn(1'500)) {
      c.paused_until = real_ + 1 + dice_.Below(dice_.OneIn(2) ? 1'000 : 12'000);
      return;
    }
    const Millis now = c.Clock(real_);
    if (c.open != 0 && now >= c.open_until) {
      c.open = 0;
      c.election.OnNoAnswer(now);
    }
    if (c.resigns) c.election.Resign(now);
    if (c.election.resigned()) {
      c = NewCandidate();
      return;
    }
    if (auto request = c.election.Step(now, 1'000 * now)) {
      c.open = ++requests_;
      c.open_until = now + kRequestTimeout;
      Send({.request = c.open, .candidate = i, .to_server = *request});
    }
    if (c.election.MayAct(now)) Act(c);
  }

  // Starts a request to the cluster now; it may last kLongestRequest.
  void Act(const Candidate& c) {
    ++acts_;
    const std::string& who = c.name;
    if (last_actor_ != who) {
      ++changes_;
      if (last_act_) {
        EXPECT_GT(real_ - *last_act_, kLongestRequest)
            << who << " decides at " << real_ << " while a request that "
            << last_actor_ << " started may be under way";
      }
    }
    last_actor_ = who;
    last_act_ = real_;
  }

  void Send(Message message) {
    if (faults_ && dice_.OneIn(12)) return;  // Lost.
    const bool late = faults_ && dice_.OneIn(8);
    network_.emplace(real_ + 1 + dice_.Below(late ? 9'000 : 60),
                     std::move(message));
  }

  void Deliver() {
    while (!network_.empty() && network_.begin()->first <= real_) {
      const auto it = network_.begin();
      Message message = std::move(it->second);
      if (message.to_server) {
        network_.erase(it);
        std::tie(message.status, message.body) =
            server_.Handle(*message.to_server);
        message.to_server.reset();
        Send(std::move(message));
        continue;
      }
      Candidate& c = candidates_[message.candidate];
      if (c.open == message.request && real_ < c.paused_until) {
        // Waits in the socket's buffer.
        network_.erase(it);
        network_.emplace(c.paused_until + 10, std::move(message));
        continue;
      }
      network_.erase(it);
      if (c.open != message.request) continue;  // Too late.
      c.open = 0;
      c.election.OnAnswer(c.Clock(real_), message.status, message.body);
    }
  }

  Dice dice_;
  bool faults_;
  Millis real_ = 1'000;
  LeaseServer server_;
  std::vector<Candidate> candidates_;
  uint64_t processes_ = 0;
  uint64_t requests_ = 0;
  std::multimap<Millis, Message> network_;
  int acts_ = 0;
  int changes_ = 0;
  std::optional<Millis> last_act_;
  std::string last_actor_;
};

TEST(LeaderElectionPropertyTest, NoTwoActWithinTheLongestRequest) {
  int acts = 0;
  int changes = 0;
  for (uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, /*faults=*/true);
    world.Run(300'000);
    acts += world.acts();
    changes += world.changes();
    // And when all is well again somebody leads.
    world.Calm();
    world.Run(30'000);
    EXPECT_TRUE(world.acted_lately());
  }
  // The law is not kept by nobody ever acting, nor by the same one always.
  EXPECT_GT(acts, 150 * 3'000);
  EXPECT_GT(changes, 150 * 3);
}

TEST(LeaderElectionPropertyTest, WithoutFaultsOneLeadsFromStartToEnd) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    World world(seed, /*faults=*/false);
    world.Run(100'000);
    EXPECT_EQ(world.changes(), 1);
    EXPECT_GT(world.acts(), 8'500);
  }
}

}  // namespace
}  // namespace muster::kubernetes::client
