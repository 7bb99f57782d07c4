#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/read.h"
#include "adapters/kubernetes/api/readers.h"

namespace muster::kubernetes::api {
namespace {

namespace ondemand = simdjson::ondemand;
using json::Outcome;
using json::Path;
using json::Value;

template <typename T>
constexpr bool kHasMeta = requires(T t) { t.meta; };

template <typename T>
bool ReadNamed(Value v, T* out) {
  if (!json::ReadObject(v, out)) return false;
  if constexpr (kHasMeta<T>) {
    if (out->meta.name.empty()) return v.FailAt("metadata", "has no name");
  }
  return true;
}

template <typename T>
BadObject Bad(T object, const absl::Status& why) {
  return {.namespace_name = std::move(object.meta.namespace_name),
          .name = std::move(object.meta.name),
          .uid = std::move(object.meta.uid),
          .resource_version = std::move(object.meta.resource_version),
          .why = why};
}

}  // namespace

struct Reader::Impl {
  // A copy of the document, with room behind it, which the parser needs.
  std::string buffer{};
  ondemand::parser parser{kMaxDocument};
  ondemand::document document{};

  // The whole document as a value.
  absl::StatusOr<ondemand::value> Begin(std::string_view json) {
    if (json.size() > kMaxDocument) {
      return absl::InvalidArgumentError(
          absl::StrCat("is longer than ", kMaxDocument, " bytes"));
    }
    constexpr std::string_view kBlanks = " \t\r\n";
    const size_t first = json.find_first_not_of(kBlanks);
    if (first == std::string_view::npos || json[first] != '{' ||
        json[json.find_last_not_of(kBlanks)] != '}') {
      return absl::InvalidArgumentError("is no JSON object, or a part of one");
    }
    buffer.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    buffer.assign(json);
    ondemand::value value;
    auto error = parser.iterate(buffer.data(), buffer.size(), buffer.capacity())
                     .get(document);
    if (error == simdjson::SUCCESS) error = document.get_value().get(value);
    if (error != simdjson::SUCCESS) return NoJson(error);
    return value;
  }

  static absl::Status NoJson(simdjson::error_code error) {
    return absl::InvalidArgumentError(
        absl::StrCat("is no JSON: ", simdjson::error_message(error)));
  }

  // Nothing but the value may be there.
  absl::Status End(Outcome outcome) {
    if (!outcome.status.ok()) return std::move(outcome.status);
    if (document.current_location().error() == simdjson::OUT_OF_BOUNDS) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError("is no JSON: something follows it");
  }
};

Reader::Reader() : impl_(std::make_unique<Impl>()) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

template <typename T>
absl::StatusOr<T> Reader::Read(std::string_view json) {
  auto value = impl_->Begin(json);
  if (!value.ok()) return value.status();
  const Path root;
  Outcome outcome;
  T object;
  ReadNamed(Value(*value, &root, &outcome), &object);
  if (auto status = impl_->End(std::move(outcome)); !status.ok()) {
    return status;
  }
  return object;
}

template <typename T>
absl::StatusOr<ListMeta> Reader::ReadList(
    std::string_view json, absl::FunctionRef<void(T)> each,
    absl::FunctionRef<void(const BadObject&)> bad) {
  auto value = impl_->Begin(json);
  if (!value.ok()) return value.status();
  const Path root;
  Outcome outcome;
  ListMeta meta;
  bool items = false;
  size_t count = 0;
  const auto read_item = [&](Value v) {
    T object;
    const size_t index = count++;
    if (ReadNamed(v.AsRoot(), &object)) {
      each(std::move(object));
      return true;
    }
    if (outcome.broken) return false;
    BadObject why_not =
        Bad(std::move(object), std::exchange(outcome.status, absl::OkStatus()));
    why_not.index = index;
    bad(why_not);
    return true;
  };
  Value list(*value, &root, &outcome);
  list.Object([&](std::string_view key, Value v) {
    if (key == "metadata") return json::ReadListMeta(v, &meta);
    if (key != "items") return true;
    items = true;
    return v.Array(read_item, kMaxDocument);
  });
  if (auto status = impl_->End(std::move(outcome)); !status.ok()) {
    return status;
  }
  if (!items) return absl::InvalidArgumentError("items: is missing");
  return meta;
}

#define MUSTER_READS(T)                                         \
  template absl::StatusOr<T> Reader::Read<T>(std::string_view); \
  template absl::StatusOr<ListMeta> Reader::ReadList<T>(        \
      std::string_view, absl::FunctionRef<void(T)>,             \
      absl::FunctionRef<void(const BadObject&)>);

MUSTER_READS(Node)
MUSTER_READS(Pod)
MUSTER_READS(PodGroup)
MUSTER_READS(CompositePodGroup)
MUSTER_READS(CoschedulingPodGroup)
MUSTER_READS(VolcanoPodGroup)
MUSTER_READS(Owner)
MUSTER_READS(Queue)
MUSTER_READS(MusterPodGroup)
MUSTER_READS(PriorityClass)
MUSTER_READS(PodDisruptionBudget)
MUSTER_READS(ResourceQuota)
MUSTER_READS(Namespace)
MUSTER_READS(PersistentVolume)
MUSTER_READS(PersistentVolumeClaim)
MUSTER_READS(StorageClass)

}  // namespace muster::kubernetes::api
