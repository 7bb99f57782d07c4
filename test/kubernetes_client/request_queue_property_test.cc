// Any writes, any answers: each has one outcome, each key its order, and no
// more is under way than allowed.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "adapters/kubernetes/client/request_queue.h"
#include "test/property/dice.h"

namespace muster::kubernetes::client {
namespace {

// Answers in random order, and knows for each write what the server did.
class RandomServer final : public Transport {
 public:
  explicit RandomServer(uint64_t seed) : dice_(seed) {}

  RequestId Start(HttpRequest request, Receiver* receiver) override {
    open_[next_] = {request.path, receiver};
    EXPECT_TRUE(paths_.insert(request.path).second) << "twice under way";
    return next_++;
  }
  void Cancel(RequestId id) override { open_.erase(id); }
  void Poll(Millis) override {
    std::vector<RequestId> ids;
    for (const auto& [id, open] : open_) ids.push_back(id);
    for (const RequestId id : ids) {
      if (calm || dice_.OneIn(3)) Answer(id);
    }
  }
  void Wake() override {}

  bool calm = false;
  std::map<std::string, int> done{};  // Times that a write was carried out.
  size_t under_way() const { return open_.size(); }
  const std::set<std::string>& paths() const { return paths_; }

 private:
  struct Open {
    std::string path{};
    Receiver* receiver = nullptr;
  };

  void Answer(RequestId id) {
    const Open open = open_[id];
    open_.erase(id);
    paths_.erase(open.path);
    const auto head = [&](int status, std::optional<Millis> retry_after = {}) {
      open.receiver->OnHead(id, {status, retry_after});
      open.receiver->OnEnd(id, {.sent = true});
    };
    const bool may_do = dice_.OneIn(2);
    switch (calm ? 0 : dice_.Below(8)) {
      case 1:
        return head(429, 20);
      case 2:
        return head(503, 20);
      case 3:
        return head(409);
      case 4:
        done[open.path] += may_do;
        return head(500);
      case 5:
        done[open.path] += may_do;
        return open.receiver->OnEnd(id, {absl::UnavailableError("cut"), true});
      case 6:
        return open.receiver->OnEnd(id,
                                    {absl::UnavailableError("none"), false});
      default:
        ++done[open.path];
        return head(201);
    }
  }

  Dice dice_;
  RequestId next_ = 1;
  std::map<RequestId, Open> open_{};
  std::set<std::string> paths_{};
};

struct Sent {
  std::string path{};
  bool idempotent = false;
  int outcomes = 0;
};

void CheckOutcome(const Sent& sent, const Outcome& outcome, int done) {
  EXPECT_EQ(sent.outcomes, 1) << sent.path;
  switch (outcome.kind) {
    case OutcomeKind::kDone:
      EXPECT_GE(done, 1);
      break;
    case OutcomeKind::kRefused:
      if (!outcome.earlier_try_unknown) {
        EXPECT_EQ(done, 0) << sent.path;
      }
      break;
    case OutcomeKind::kNotSent:
    case OutcomeKind::kDropped:
      EXPECT_EQ(done, 0) << sent.path;
      break;
    case OutcomeKind::kUnknown:
      break;
  }
  // What is not idempotent is done once at most.
  if (!sent.idempotent) {
    EXPECT_LE(done, 1) << sent.path;
  }
}

class Life {
 public:
  explicit Life(uint64_t seed) : dice_(seed), server_(seed + 1'000'000) {}

  void Run() {
    for (int step = 0; step < 300; ++step) {
      if (dice_.OneIn(2)) Submit();
      if (dice_.OneIn(20)) queue_.MayStartUntil(now_ + dice_.Below(50));
      if (dice_.OneIn(5)) queue_.MayStartUntil(kNever);
      Turn();
    }
    server_.calm = true;
    queue_.MayStartUntil(kNever);
    for (int step = 0; step < 200; ++step) Turn();
    for (const Sent& sent : sent_) EXPECT_EQ(sent.outcomes, 1) << sent.path;
    EXPECT_EQ(queue_.in_flight(), 0u);
  }

 private:
  void Submit() {
    const auto urgency = static_cast<Urgency>(dice_.Below(3));
    const uint32_t key = dice_.Below(4);  // 0: none.
    const size_t index = sent_.size();
    sent_.push_back(
        {.path = "/" + std::to_string(index) + "/k" + std::to_string(key),
         .idempotent = dice_.OneIn(2)});
    Write write{.http = {.method = "POST", .path = sent_[index].path},
                .urgency = urgency,
                .key = key == 0 ? "" : "k" + std::to_string(key),
                .idempotent = sent_[index].idempotent,
                .most_tries = 1 + static_cast<int>(dice_.Below(4))};
    if (dice_.OneIn(4)) write.last_start = now_ + dice_.Below(100);
    const absl::Status taken =
        queue_.Submit(std::move(write), [this, index, key](const Outcome& o) {
          ++sent_[index].outcomes;
          CheckOutcome(sent_[index], o, server_.done[sent_[index].path]);
          // A dropped event leaves its place in the line.
          if (key == 0 || o.tries == 0) return;
          EXPECT_GT(index + 1, last_of_key_[key]) << "out of order";
          last_of_key_[key] = index + 1;
        });
    if (!taken.ok()) sent_[index].outcomes = 1;
  }

  void Turn() {
    now_ += 10;
    queue_.Advance(now_);
    EXPECT_LE(server_.under_way(), 6u);
    std::map<std::string, int> of_key;
    for (const std::string& path : server_.paths()) {
      const std::string key = path.substr(path.rfind('/'));
      if (key != "/k0") {
        EXPECT_EQ(++of_key[key], 1) << key;
      }
    }
    server_.Poll(0);
  }

  Dice dice_;
  RandomServer server_;
  RequestQueue queue_{&server_,
                      {.in_flight = {6, 4, 2},
                       .most_waiting = {10, 10, 5},
                       .backoff = {.first = 10, .most = 100}}};
  std::vector<Sent> sent_;
  std::map<uint32_t, size_t> last_of_key_;
  Millis now_ = 1'000;
};

TEST(RequestQueuePropertyTest, EachWriteHasOneOutcomeThatIsTrue) {
  for (uint64_t seed = 1; seed <= 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Life(seed).Run();
  }
}

}  // namespace
}  // namespace muster::kubernetes::client
