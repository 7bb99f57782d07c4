// What a task of a job runs, and what it asks for: the parts of a pod's
// template that a process has a use for.
#ifndef MUSTER_WORKLOAD_TASK_TEMPLATE_H_
#define MUSTER_WORKLOAD_TASK_TEMPLATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "muster/ids.h"
#include "muster/selector.h"

namespace muster::workload {

// Of one resource, by the manifest's name: "cpu" in thousandths, every other in
// its own unit (bytes, pieces).
struct Amount {
  std::string resource{};
  int64_t amount = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

// Where a variable's value is from. The host reads secrets and config maps.
enum class EnvSource : uint8_t { kValue, kSecret, kConfigMap, kField };
MUSTER_ENUM_NAMES(EnvSource, "value", "secret", "config-map", "field");

struct EnvVar {
  std::string name{};
  std::string value{};  // Of kValue.
  EnvSource from = EnvSource::kValue;
  std::string source{};  // Name of the secret or map; the path of a field.
  std::string key{};     // In the secret or map; empty: each key is a variable.
  bool optional = false;

  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

// kClaim is a persistentVolumeClaim.
enum class VolumeKind : uint8_t {
  kHostPath,
  kEmptyDir,
  kClaim,
  kConfigMap,
  kSecret,
};
MUSTER_ENUM_NAMES(VolumeKind, "hostPath", "emptyDir", "persistentVolumeClaim",
                  "configMap", "secret");

// One key of a config map or secret, as a file.
struct VolumeItem {
  std::string key{};
  std::string path{};  // Relative, within the volume.
  uint32_t mode = 0;   // 0: Volume::default_mode.

  friend bool operator==(const VolumeItem&, const VolumeItem&) = default;
};

struct Volume {
  std::string name{};
  VolumeKind kind = VolumeKind::kEmptyDir;
  std::string source{};     // The path, or the name of what it is of.
  bool in_memory = false;   // An emptyDir of medium Memory.
  int64_t size_limit = 0;   // Bytes, of an emptyDir; 0: none.
  std::string host_type{};  // Of a hostPath, as "DirectoryOrCreate"; or empty.
  bool read_only = false;   // A claim that is only read.
  // Of a config map or secret: its keys that are files; none: all are.
  std::vector<VolumeItem> items{};
  uint32_t default_mode = 0644;
  bool optional = false;  // It may be missing.

  friend bool operator==(const Volume&, const Volume&) = default;
};

struct Mount {
  std::string volume{};  // Volume::name.
  std::string path{};
  std::string sub_path{};
  bool read_only = false;

  friend bool operator==(const Mount&, const Mount&) = default;
};

struct Port {
  std::string name{};
  uint32_t number = 0;

  friend bool operator==(const Port&, const Port&) = default;
};

struct TaskTemplate {
  std::string container{};  // The container's name.
  std::string image{};      // Empty: the host's own file system.
  std::string script{};     // A batch script, in place of command and args.
  std::vector<std::string> command{};
  std::vector<std::string> args{};
  std::string working_dir{};
  std::string output{},
      error{};                // Files, as sbatch has them; empty: the host's.
  std::vector<EnvVar> env{};  // In the manifest's order.
  // Sorted by name. What a manifest limits and does not request is requested.
  std::vector<Amount> requests{};
  std::vector<Amount> limits{};
  // What a task may have in place of `requests`, the first that finds room; all
  // tasks of a role have the same. Each as `requests`, none empty.
  std::vector<std::vector<Amount>> alternatives{};
  std::vector<Volume> volumes{};
  std::vector<Mount> mounts{};
  std::vector<Port> ports{};
  Labels node_labels{};  // nodeSelector
  std::vector<Toleration> tolerations{};
  Duration grace = 30 * kSecond;  // Between the request to stop and the force.
  bool whole_node = false;        // --exclusive
  bool stdin_open = false;        // Its standard input can be written to.
  // Numbers of the node's devices of which it may have any, ascending, each
  // below DeviceSet::kCapacity; empty: of all. For hosts of one node, who name
  // them in Gang (ToGang does not).
  std::vector<uint32_t> device_ids{};

  // 0: `requests`; i: alternatives[i - 1], or `requests` where there are fewer.
  const std::vector<Amount>& RequestsOf(uint32_t alternative) const {
    return alternative == 0 || alternative > alternatives.size()
               ? requests
               : alternatives[alternative - 1];
  }
  // Of a resource, requested or else 0. O(resources).
  int64_t Requested(std::string_view resource, uint32_t alternative = 0) const {
    for (const Amount& a : RequestsOf(alternative)) {
      if (a.resource == resource) return a.amount;
    }
    return 0;
  }
  friend bool operator==(const TaskTemplate&, const TaskTemplate&) = default;
};

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_TASK_TEMPLATE_H_
