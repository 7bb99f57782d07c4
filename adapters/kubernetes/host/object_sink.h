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
    // Its JSON is no such object. What was known of it stays.
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
          handlers_.bad(bad);
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
    if (!object.ok()) {
      handlers_.bad({.why = object.status()});
      return absl::OkStatus();
    }
    if (type != client::EventType::kDeleted) {
      Is(*object);
      return absl::OkStatus();
    }
    const ObjectName name = NameOf(object->meta);
    const auto it = known_.find(KeyOf(name));
    if (it != known_.end() && it->second == name.uid) {
      known_.erase(it);
      handlers_.gone(name);
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
    const auto [it, is_new] = known_.try_emplace(KeyOf(name), name.uid);
    if (!is_new && it->second != name.uid) {  // The former one is gone.
      ObjectName former = name;
      former.uid = std::exchange(it->second, name.uid);
      handlers_.gone(former);
    }
    handlers_.is(object);
  }

  const Handlers handlers_;
  api::Reader reader_;
  std::map<Key, std::string> known_;  // To the UID.
  std::set<Key> listed_;              // While a list is read.
};

}  // namespace muster::kubernetes
