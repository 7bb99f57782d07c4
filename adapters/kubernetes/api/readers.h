// JSON of the API server to objects. Fields may stand in any order; those that
// a struct does not have are passed over; null is the same as absent. Mistakes
// are InvalidArgument, name the field ("spec.containers[2].resources.requests
// .cpu: ...") and never lose another object. What has no end in Kubernetes has
// one here: keys, texts and lists have those of muster/ids.h, values of
// annotations 256 KiB, documents kMaxDocument; the annotation
// kubectl.kubernetes.io/last-applied-configuration is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/owner.h"
#include "adapters/kubernetes/api/storage.h"

namespace muster::kubernetes::api {

// The largest document that is read.
inline constexpr size_t kMaxDocument = size_t{1} << 30;

// An object that could not be read: what is known of it, "" for what is not.
struct BadObject {
  size_t index = 0;  // In its list.
  std::string namespace_name{};
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  absl::Status why{};  // Its paths begin at the object.
};

// Reads documents, one after another, with buffers that it keeps. T is any
// struct of objects.h with a `meta`, of muster_objects.h, owner.h or storage.h.
// One thread at a time; a moved-from reader may only be assigned to. (Events of
// a watch are taken apart by client/watch_event.h.)
class Reader {
 public:
  Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // One object. O(bytes).
  template <typename T>
  absl::StatusOr<T> Read(std::string_view json);

  // A list: each(object) in its order, bad(object) for those that cannot be
  // read, while the list is read. An error says that the document is no list or
  // no JSON; then some objects may have been told. Neither function may use
  // this reader. O(bytes).
  template <typename T>
  absl::StatusOr<ListMeta> ReadList(
      std::string_view json, absl::FunctionRef<void(T)> each,
      absl::FunctionRef<void(const BadObject&)> bad);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::kubernetes::api
