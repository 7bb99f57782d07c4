// Objects of groups: PodGroups of every kind, Jobs and other owners. For tests
// of the controller.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "adapters/kubernetes/controller/controller.h"

namespace muster::kubernetes {

// A group's name here tells its kind as well: "muster/NAME"; a PodGroup of
// Kubernetes has no prefix.
class FakeGroups {
 public:
  using Tell =
      std::function<void(std::string, std::function<void(Controller&)>)>;

  // Tells what is observed.
  explicit FakeGroups(Tell tell) : tell_(std::move(tell)) {}

  // Objects by name, new or changed.
  void Put(const api::PodGroup& group);
  void Put(const api::CompositePodGroup& group);
  void Put(const api::VolcanoPodGroup& group);
  void Put(const api::CoschedulingPodGroup& group);
  void Put(const api::MusterPodGroup& group);
  // A Job says nothing of a minimum, so that its pods are no group here.
  void Put(const api::Owner& owner);
  // None of a Job. Of an owner the name is "KIND/NAME".
  void Remove(GroupKind kind, const std::string& name);
  void ObserveAll(Controller* controller) const;

  static std::string NameOf(GroupKind kind, const std::string& name);
  // Of the pod's group; "" for a pod by itself.
  static std::string NameOf(const api::Pod& pod);
  // None: the group has no object.
  std::optional<int64_t> MinimumOf(const std::string& group) const;
  // Whether so many of the PodGroups are complete as its composite one needs.
  // `pods`: how many each group has.
  bool ParentIsComplete(const std::string& group,
                        const std::map<std::string, int64_t>& pods) const;

 private:
  // Nothing but its minimum and what it is part of matters here.
  struct Group {
    std::function<void(Controller&)> tell{};
    int64_t minimum = 1;
    std::string parent{};
  };

  template <typename Object>
  void Put(const std::string& name, int64_t minimum, const Object& object,
           const std::string& parent = "");

  const Tell tell_;
  std::map<std::string, Group> groups_;
  std::map<std::string, api::Owner> jobs_;
};

}  // namespace muster::kubernetes
