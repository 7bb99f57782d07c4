// Claims, volumes and classes, and the programs that bind and make them. For
// tests of the controller.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "adapters/kubernetes/api/storage.h"
#include "adapters/kubernetes/controller/controller.h"

namespace muster::kubernetes {

class FakeStorage {
 public:
  using Tell =
      std::function<void(std::string, std::function<void(Controller&)>)>;

  // Tells what is observed.
  explicit FakeStorage(Tell tell) : tell_(std::move(tell)) {}

  // A class; without a provisioner its volumes are those of AddVolume.
  void PutClass(const std::string& name, bool provisioner,
                bool waits_for_consumer = true,
                const std::vector<std::string>& nodes = {});
  // A free volume that only these nodes reach; empty: all.
  void AddVolume(const std::string& name, const std::string& storage_class,
                 int64_t gib, const std::set<std::string>& nodes);
  void AddClaim(const std::string& name, const std::string& storage_class,
                int64_t gib = 1, const std::string& mode = "ReadWriteOnce");
  void EditClaim(const std::string& name,
                 absl::FunctionRef<void(api::PersistentVolumeClaim&)> edit);
  // One that is not bound.
  void RemoveClaim(const std::string& name);
  void RemoveVolume(const std::string& name);
  // A claim that is bound to a new volume, which these nodes reach.
  void AddBound(const std::string& name, const std::set<std::string>& nodes);

  // What the provisioner does for this node.
  enum class Provisioning { kWorks, kFails, kHangs };
  std::function<Provisioning(const std::string&)> provisioning =
      [](const std::string&) { return Provisioning::kWorks; };
  // The outcome of the next requests, the last one first.
  std::vector<ApiOutcome> faults{};
  // Does only some of its work at a time from now on.
  void Delay(uint64_t seed) { random_.emplace(seed); }

  // Makes the claims of ephemeral volumes, makes and binds volumes. Whether
  // there is more to do.
  bool Work(const std::map<std::string, api::Pod>& pods,
            const std::map<std::string, api::Node>& nodes);

  ApiAnswer Perform(uint64_t id, const SelectNodeRequest& request);
  ApiAnswer Perform(uint64_t id, const GiveVolumeRequest& request);
  void ObserveAll(Controller* controller) const;

  // Why the pod must not be bound to the node; "": it may be.
  std::string WhyNot(const api::Pod& pod, const std::string& node) const;
  const api::PersistentVolumeClaim& ClaimNamed(const std::string& name) const {
    return claims_.at(name);
  }
  const std::map<std::string, api::PersistentVolumeClaim>& claims() const {
    return claims_;
  }
  // Of the volume that the claim is bound to, or that was given to it; "":
  // none.
  std::string VolumeOf(const std::string& claim) const;

 private:
  bool Now() { return !random_ || (*random_)() % 2 == 0; }
  std::string Version() { return std::to_string(++version_); }
  void Changed(api::PersistentVolumeClaim* claim);
  void Changed(api::PersistentVolume* volume);
  void MakeVolume(api::PersistentVolumeClaim* claim,
                  const std::set<std::string>& nodes);
  void Bind(api::PersistentVolumeClaim* claim, api::PersistentVolume* volume);
  void MakeEphemeral(const std::map<std::string, api::Pod>& pods);
  // Unless it fails, changes the object if it is still of that version.
  template <typename Object>
  ApiAnswer Write(uint64_t id, const ObjectVersion& version,
                  std::map<std::string, Object>* objects,
                  absl::FunctionRef<void(Object&)> write);
  bool Serve(api::PersistentVolumeClaim* claim,
             const std::map<std::string, api::Node>& nodes);

  const Tell tell_;
  std::map<std::string, api::StorageClass> classes_;
  std::map<std::string, api::PersistentVolume> volumes_;
  std::map<std::string, api::PersistentVolumeClaim> claims_;
  std::map<std::string, std::set<std::string>> reached_from_;  // Volumes.
  std::optional<std::mt19937_64> random_;
  int64_t version_ = 0;
};

}  // namespace muster::kubernetes
