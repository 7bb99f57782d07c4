// One resource, object by object, as a reflector reads it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "adapters/kubernetes/api/readers.h"
#include "adapters/kubernetes/client/reflector.h"

namespace muster::kubernetes {

struct ObjectName {
  std::string namespace_name{};
  std::string name{};
  std::string uid{};
};

// T: a struct that api::Reader reads. Thread rule: that of the reflector.
template <typename T>
class ObjectSink final : public client::Sink {
 public:
  struct Handlers {
    std::function<void(const T&)> is{};  // It is there, and so.
    // It is not there any more; told before another one of its name.
    std::function<void(const ObjectName&)> gone{};
    // Its JSON is no such object. What was known of it stays, until it is
    // deleted or is another one of its name.
    std::function<void(const api::BadObject&)> bad{};
  };

  explicit ObjectSink(Handlers handlers) : handlers_(std::move(handlers)) {}

  void OnListBegin() override { listed_.clear(); }

  absl::Status OnListPage(std::string_view body) override {
    const auto list = reader_.template ReadList<T>(
        body,
        [this](const T& object) {
          listed_.insert(KeyOf(NameOf(object.meta)));
          Is(object);
        },
        [this](const api::BadObject& bad) {
          listed_.insert({bad.namespace_name, bad.name});
          Bad(bad);
        });
    return list.status();
  }

  void OnListEnd() override {
    for (auto it = known_.begin(); it != known_.end();) {
      if (listed_.contains(it->first)) {
        ++it;
        continue;
      }
      const ObjectName name{it->first.first, it->first.second, it->second};
      it = known_.erase(it);
      handlers_.gone(name);
    }
    listed_.clear();
  }

  absl::Status OnEvent(client::EventType type, std::string_view json) override {
    const auto object = reader_.template Read<T>(json);
    if (!object.ok()) return OnBadEvent(type, json, object.status());
    if (type == client::EventType::kDeleted) {
      Gone(NameOf(object->meta));
    } else {
      Is(*object);
    }
    return absl::OkStatus();
  }

 private:
  using Key = std::pair<std::string, std::string>;  // Namespace, name.

  static ObjectName NameOf(const api::ObjectMeta& meta) {
    return {meta.namespace_name, meta.name, meta.uid};
  }
  static Key KeyOf(const ObjectName& name) {
    return {name.namespace_name, name.name};
  }

  void Is(const T& object) {
    const ObjectName name = NameOf(object.meta);
    GoneBefore(name);
    known_[KeyOf(name)] = name.uid;
    handlers_.is(object);
  }

  void Gone(const ObjectName& name) {
    const auto it = known_.find(KeyOf(name));
    if (it == known_.end() || it->second != name.uid) return;
    known_.erase(it);
    handlers_.gone(name);
  }

  // One of the same name that is another object is gone.
  void GoneBefore(ObjectName name) {
    const auto it = known_.find(KeyOf(name));
    if (it == known_.end() || it->second == name.uid) return;
    name.uid = it->second;
    known_.erase(it);
    handlers_.gone(name);
  }

  void Bad(const api::BadObject& bad) {
    if (!bad.uid.empty()) GoneBefore({bad.namespace_name, bad.name, bad.uid});
    handlers_.bad(bad);
  }

  absl::Status OnBadEvent(client::EventType type, std::string_view json,
                          const absl::Status& why) {
    // A Namespace has metadata alone, which every object has.
    const auto object = reader_.template Read<api::Namespace>(json);
    const bool deleted = type == client::EventType::kDeleted;
    if (!object.ok()) {
      handlers_.bad({.why = why});
      return deleted ? why : absl::OkStatus();  // A list tells who it was.
    }
    const ObjectName name = NameOf(object->meta);
    if (deleted) {
      Gone(name);
    } else {
      Bad({.namespace_name = name.namespace_name,
           .name = name.name,
           .uid = name.uid,
           .why = why});
    }
    return absl::OkStatus();
  }

  const Handlers handlers_;
  api::Reader reader_;
  std::map<Key, std::string> known_;  // To the UID.
  std::set<Key> listed_;              // While a list is read.
};

}  // namespace muster::kubernetes
