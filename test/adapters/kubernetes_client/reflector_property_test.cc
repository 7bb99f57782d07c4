// Any history, any faults: when all is quiet the sink has what the server has,
// and it has never gone back in time.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "adapters/kubernetes/client/reflector.h"
#include "test/adapters/kubernetes_client/fake_api_server.h"

namespace muster::kubernetes::client {
namespace {

using Objects = std::map<std::string, StoredObject>;

class Mirror final : public Sink {
 public:
  void OnListBegin() override { listed_.clear(); }
  absl::Status OnListPage(std::string_view body) override {
    const auto list = nlohmann::json::parse(body);
    for (const auto& item : list["items"]) {
      const std::string name = Take(item);
      EXPECT_TRUE(listed_.insert(name).second) << "twice in a list: " << name;
    }
    return absl::OkStatus();
  }
  void OnListEnd() override {
    std::erase_if(objects, [&](const auto& entry) {
      return !listed_.contains(entry.first);
    });
  }
  absl::Status OnEvent(EventType type, std::string_view object) override {
    const auto json = nlohmann::json::parse(object);
    const bool known = objects.contains(json["metadata"]["name"]);
    const std::string name = Take(json);
    // Each change once: what is added was not there, what is changed was.
    EXPECT_EQ(type == EventType::kAdded, !known) << name;
    if (type == EventType::kDeleted) objects.erase(name);
    return absl::OkStatus();
  }

  Objects objects{};

 private:
  std::string Take(const nlohmann::json& object) {
    const auto& metadata = object["metadata"];
    const std::string name = metadata["name"];
    const StoredObject stored{
        std::stoull(metadata["resourceVersion"].get<std::string>()),
        metadata["uid"]};
    uint64_t& newest = newest_[stored.uid];
    EXPECT_GE(stored.version, newest) << name << " went back in time";
    newest = stored.version;
    objects[name] = stored;
    return name;
  }

  std::set<std::string> listed_{};
  std::map<std::string, uint64_t> newest_{};
};

bool Same(const Objects& a, const Objects& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.uid == y.second.uid &&
           x.second.version == y.second.version;
  });
}

void Change(FakeApiServer* server, Dice* dice) {
  const std::string name = "pod-" + std::to_string(dice->Below(12));
  switch (dice->Below(8)) {
    case 0:
    case 1:
    case 2:
      return server->Create(name);
    case 3:
    case 4:
      return server->Modify(name);
    case 5:
      return server->Delete(name);
    case 6:
      return server->ChangeElsewhere();
    default:
      if (dice->OneIn(2)) server->Compact();
  }
}

struct Sums {
  ReflectorCounts counts{};
};

void Live(uint64_t seed, Sums* sums) {
  SCOPED_TRACE(seed);
  Dice dice(seed);
  FakeApiServer server(seed + 1'000'000);
  Mirror mirror;
  Reflector reflector(&server,
                      {.path = "/api/v1/pods",
                       .page_limit = static_cast<int>(dice.Below(5)),
                       .backoff = {.first = 20, .most = 500, .seed = seed}},
                      &mirror);
  Millis now = 0;
  const auto turn = [&] {
    now += 10;
    reflector.Advance(now);
    server.Poll(0);
  };
  for (int step = 0; step < 400; ++step) {
    if (dice.OneIn(3)) Change(&server, &dice);
    turn();
  }
  server.Calm();
  for (int step = 0; step < 300; ++step) turn();
  EXPECT_TRUE(reflector.watching());
  EXPECT_TRUE(Same(mirror.objects, server.objects()));
  EXPECT_EQ(reflector.resource_version(), std::to_string(server.version()));
  sums->counts.lists += reflector.counts().lists;
  sums->counts.expired += reflector.counts().expired;
  sums->counts.failures += reflector.counts().failures;
  sums->counts.events += reflector.counts().events;
}

TEST(ReflectorPropertyTest, NothingIsLostOrDoubledWhateverBreaks) {
  Sums sums;
  for (uint64_t seed = 1; seed <= 1'500 && !testing::Test::HasFailure();
       ++seed) {
    Live(seed, &sums);
  }
  // The faults that this is about did occur.
  EXPECT_GT(sums.counts.lists, 1'800u);
  EXPECT_GT(sums.counts.expired, 500u);
  EXPECT_GT(sums.counts.failures, 10'000u);
  EXPECT_GT(sums.counts.events, 100'000u);
}

}  // namespace
}  // namespace muster::kubernetes::client
