// Devices: how they may be cut, what nodes have of them and what tasks ask.
#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/validate.h"

namespace muster {

namespace {

absl::Status OutOf(const std::string& field, int64_t value, int64_t least,
                   int64_t most) {
  return Invalid(
      absl::StrCat(field, ": ", value, " is not in ", least, "..", most));
}

absl::Status ValidateProfile(const std::string& field,
                             const PartitionScheme& scheme,
                             const PartitionProfile& profile) {
  MUSTER_RETURN_IF_ERROR(ValidateKey(field + ".name", profile.name));
  if (profile.slices < 1 || profile.slices > scheme.slices) {
    return OutOf(field + ".slices", profile.slices, 1, scheme.slices);
  }
  if (profile.milli < 1 || profile.milli > kWholeDevice) {
    return OutOf(field + ".milli", profile.milli, 1, kWholeDevice);
  }
  if (profile.starts.empty()) {
    return Invalid(field + ".starts: is empty; it has 1 or more");
  }
  for (size_t i = 0; i < profile.starts.size(); ++i) {
    const std::string at = absl::StrCat(field, ".starts[", i, "]");
    const uint32_t start = profile.starts[i];
    const uint32_t last = scheme.slices - profile.slices;
    if (start > last) return OutOf(at, start, 0, last);
    if (i > 0 && start <= profile.starts[i - 1]) {
      return Invalid(absl::StrCat(at, ": ", start, " does not come after ",
                                  profile.starts[i - 1]));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateScheme(const std::string& field,
                            const PartitionScheme& scheme) {
  MUSTER_RETURN_IF_ERROR(ValidateKey(field + ".key", scheme.key));
  if (scheme.slices < 1 || scheme.slices > PartitionScheme::kMaxSlices) {
    return OutOf(field + ".slices", scheme.slices, 1,
                 PartitionScheme::kMaxSlices);
  }
  if (scheme.profiles.empty() ||
      scheme.profiles.size() > PartitionScheme::kMaxProfiles) {
    return Invalid(absl::StrCat(field, ".profiles: has ",
                                scheme.profiles.size(), ", not 1..",
                                PartitionScheme::kMaxProfiles));
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < scheme.profiles.size(); ++i) {
    const std::string at = absl::StrCat(field, ".profiles[", i, "]");
    MUSTER_RETURN_IF_ERROR(ValidateProfile(at, scheme, scheme.profiles[i]));
    if (!names.insert(scheme.profiles[i].name).second) {
      return Invalid(
          absl::StrCat(at, ".name: '", scheme.profiles[i].name, "' twice"));
    }
  }
  return absl::OkStatus();
}

// The pieces that the host has cut a device into.
absl::Status ValidatePieces(const std::string& field,
                            const PartitionScheme& scheme,
                            const Device& device) {
  uint32_t taken = 0;
  int32_t milli = 0;
  for (size_t i = 0; i < device.partitions.size(); ++i) {
    const std::string at = absl::StrCat(field, ".partitions[", i, "]");
    const DevicePartition& piece = device.partitions[i];
    const PartitionProfile* p = FindProfile(scheme, piece.profile);
    if (p == nullptr) {
      return Invalid(absl::StrCat(at, ".profile: scheme '", scheme.key,
                                  "' has no '", piece.profile, "'"));
    }
    if (std::find(p->starts.begin(), p->starts.end(), piece.start) ==
        p->starts.end()) {
      return Invalid(absl::StrCat(at, ".start: ", piece.start,
                                  " is not one of the starts of '", p->name,
                                  "'"));
    }
    const uint32_t slices = ((1u << p->slices) - 1) << piece.start;
    if ((taken & slices) != 0) {
      return Invalid(at + ".start: overlaps a partition before it");
    }
    taken |= slices;
    milli += p->milli;
  }
  if (milli > kWholeDevice) {
    return Invalid(absl::StrCat(field, ".partitions: have ", milli,
                                " thousandths together; a device has ",
                                kWholeDevice));
  }
  return absl::OkStatus();
}

bool IsProfile(const SchedulerConfig& config, const std::string& name) {
  return std::any_of(config.partition_schemes.begin(),
                     config.partition_schemes.end(),
                     [&](const PartitionScheme& scheme) {
                       return FindProfile(scheme, name) != nullptr;
                     });
}

absl::Status UnknownProfile(const std::string& field, const std::string& name) {
  return Invalid(absl::StrCat(
      field, ": no scheme of config.partition_schemes has '", name, "'"));
}

}  // namespace

absl::Status ValidatePartitionSchemes(const SchedulerConfig& config) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < config.partition_schemes.size(); ++i) {
    const PartitionScheme& scheme = config.partition_schemes[i];
    const std::string at = absl::StrCat("config.partition_schemes[", i, "]");
    MUSTER_RETURN_IF_ERROR(ValidateScheme(at, scheme));
    if (!keys.insert(scheme.key).second) {
      return Invalid(absl::StrCat(at, ".key: '", scheme.key, "' twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateDevice(const SchedulerConfig& config,
                            const std::string& field, const Device& device) {
  if (device.memory_bytes < 0 ||
      device.memory_bytes > Resources::kMaxQuantity) {
    return OutOf(field + ".memory_bytes", device.memory_bytes, 0,
                 Resources::kMaxQuantity);
  }
  if (device.rail < -1 || device.rail > 63) {
    return OutOf(field + ".rail", device.rail, -1, 63);
  }
  if (device.partition_scheme.empty()) {
    if (device.partitions.empty()) return absl::OkStatus();
    return Invalid(field +
                   ".partition_scheme: is empty, but the device has "
                   "partitions");
  }
  for (const PartitionScheme& scheme : config.partition_schemes) {
    if (scheme.key == device.partition_scheme) {
      return ValidatePieces(field, scheme, device);
    }
  }
  return Invalid(absl::StrCat(field, ".partition_scheme: '",
                              device.partition_scheme,
                              "' is not one of config.partition_schemes"));
}

absl::Status ValidateDeviceShare(const SchedulerConfig& config,
                                 const std::string& field,
                                 const DeviceShare& share) {
  if (share.milli < 0 || share.milli > kWholeDevice) {
    return OutOf(field + ".milli", share.milli, 0, kWholeDevice);
  }
  if (share.memory_bytes < 0 || share.memory_bytes > Resources::kMaxQuantity) {
    return OutOf(field + ".memory_bytes", share.memory_bytes, 0,
                 Resources::kMaxQuantity);
  }
  if (share.partition.empty()) {
    return share.slot == 0 ? absl::OkStatus()
                           : Invalid(field +
                                     ".slot: must be 0 without a "
                                     "partition");
  }
  if (!IsProfile(config, share.partition)) {
    return UnknownProfile(field + ".partition", share.partition);
  }
  if (share.milli != 0 || share.memory_bytes != 0) {
    return Invalid(field +
                   ".milli and .memory_bytes: must be 0 beside a partition");
  }
  if (share.slot >= PartitionScheme::kMaxSlices) {
    return OutOf(field + ".slot", share.slot, 0,
                 PartitionScheme::kMaxSlices - 1);
  }
  return absl::OkStatus();
}

absl::Status ValidateDeviceRequest(const SchedulerConfig& config,
                                   const std::string& field,
                                   const DeviceRequest& d) {
  if (!d.partition.empty()) {
    if (!IsProfile(config, d.partition)) {
      return UnknownProfile(field + ".partition", d.partition);
    }
    if (d.count != 1 || d.milli != kWholeDevice || d.memory_bytes != 0) {
      return Invalid(field +
                     ".partition: takes .count = 1, .milli = 1000 and "
                     ".memory_bytes = 0; for several, use several tasks");
    }
  }
  if (d.count == 0) return absl::OkStatus();
  if (config.device_resource.empty()) {
    return Invalid(field + ": config.device_resource names no kind");
  }
  if (d.count > DeviceSet::kCapacity) {
    return OutOf(field + ".count", d.count, 0, DeviceSet::kCapacity);
  }
  if (d.memory_bytes < 0 || d.memory_bytes > Resources::kMaxQuantity) {
    return OutOf(field + ".memory_bytes", d.memory_bytes, 0,
                 Resources::kMaxQuantity);
  }
  const bool by_memory = d.memory_bytes > 0;
  if (by_memory ? d.milli != 0 : (d.milli < 1 || d.milli > kWholeDevice)) {
    return Invalid(absl::StrCat(field, ".milli: ", d.milli,
                                " is not in 1..1000, or 0 beside "
                                "memory_bytes"));
  }
  return absl::OkStatus();
}

}  // namespace muster
