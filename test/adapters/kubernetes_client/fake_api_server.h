// A server of one resource that keeps versions, as far as list and watch see
// it, behind a transport that breaks in every way.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "adapters/kubernetes/client/transport.h"
#include "test/property/dice.h"

namespace muster::kubernetes::client {

struct StoredObject {
  uint64_t version = 0;
  std::string uid{};
};

// Objects by name; each change has a version of its own. Requests are answered
// in random pieces, cut at any byte, refused and delayed, until Calm.
class FakeApiServer final : public Transport {
 public:
  explicit FakeApiServer(uint64_t seed) : dice_(seed) {}

  void Create(const std::string& name);
  void Modify(const std::string& name);
  void Delete(const std::string& name);
  // A change of nothing that is listed here: bookmarks tell it.
  void ChangeElsewhere() { ++version_; }
  // Forgets the past: watches and pages from before are too old.
  void Compact() { compacted_ = version_; }
  // No more faults, and watches get everything.
  void Calm() { faults_ = false; }

  const std::map<std::string, StoredObject>& objects() const {
    return objects_;
  }
  uint64_t version() const { return version_; }

  RequestId Start(HttpRequest request, Receiver* receiver) override;
  void Cancel(RequestId id) override { open_.erase(id); }
  void Poll(Millis max_wait) override;
  void Wake() override {}

 private:
  struct Change {
    uint64_t version = 0;
    const char* type = "";
    std::string name{};
    StoredObject object{};
  };
  struct Exchange {
    Receiver* receiver = nullptr;
    HttpRequest request{};
    bool answered = false;
    bool ends = false;      // With what is pending.
    std::string pending{};  // Bytes that are on their way.
    uint64_t seen = 0;      // By a watch.
  };

  void Append(const char* type, const std::string& name,
              const StoredObject& object);
  void Play(RequestId id);
  // False if the exchange is over.
  bool Answer(RequestId id);
  void AnswerList(RequestId id);
  void Refuse(RequestId id, int status, const std::string& reason);
  void FillWatch(Exchange* watch);
  bool SendSome(RequestId id);
  void End(RequestId id, RequestEnd end);
  bool Fault(uint32_t one_in) { return faults_ && dice_.OneIn(one_in); }

  Dice dice_;
  bool faults_ = true;
  uint64_t version_ = 10;
  uint64_t compacted_ = 0;
  uint64_t made_ = 0;
  std::map<std::string, StoredObject> objects_{};
  std::vector<Change> history_{};
  std::map<RequestId, Exchange> open_{};
  RequestId next_ = 1;
};

}  // namespace muster::kubernetes::client
