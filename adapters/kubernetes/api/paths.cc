#include "adapters/kubernetes/api/paths.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace muster::kubernetes::api {
namespace {

constexpr size_t kMostName = 253;  // As of DNS names.
constexpr size_t kUsualPath = 160;

absl::Status NoSegment(std::string_view part) {
  return absl::InvalidArgumentError(
      std::string(part) +
      ": must be 1 to 253 bytes, not '.' or '..', without '/', '%' and control "
      "characters");
}

void AppendSegment(std::string_view part, std::string* path) {
  *path += '/';
  text::AppendPercentEncoded(part, path);
}

std::string PluralOf(std::string_view kind) {
  std::string plural = absl::AsciiStrToLower(std::string(kind));
  const bool sibilant = plural.ends_with('s') || plural.ends_with('x') ||
                        plural.ends_with('z') || plural.ends_with("ch") ||
                        plural.ends_with("sh");
  return plural + (sibilant ? "es" : "s");
}

}  // namespace

bool IsPathSegment(std::string_view name) {
  return !name.empty() && name.size() <= kMostName && name != "." &&
         name != ".." && std::ranges::none_of(name, [](char c) {
           return c == '/' || c == '%' ||
                  absl::ascii_iscntrl(static_cast<unsigned char>(c));
         });
}

absl::StatusOr<std::string> CollectionPath(const ResourceType& type,
                                           std::string_view namespace_name) {
  if (!type.group.empty() && !IsPathSegment(type.group)) {
    return NoSegment("group");
  }
  if (!IsPathSegment(type.version)) return NoSegment("version");
  if (!IsPathSegment(type.plural)) return NoSegment("resource");
  std::string path;
  path.reserve(kUsualPath);
  path += type.group.empty() ? "/api" : "/apis";
  if (!type.group.empty()) AppendSegment(type.group, &path);
  AppendSegment(type.version, &path);
  if (!namespace_name.empty()) {
    if (!type.namespaced) {
      return absl::InvalidArgumentError("namespace: must be empty for " +
                                        std::string(type.plural));
    }
    if (!IsPathSegment(namespace_name)) return NoSegment("namespace");
    path += "/namespaces";
    AppendSegment(namespace_name, &path);
  }
  AppendSegment(type.plural, &path);
  return path;
}

absl::StatusOr<std::string> ObjectPath(const ResourceType& type,
                                       std::string_view namespace_name,
                                       std::string_view name,
                                       std::string_view subresource) {
  if (type.namespaced && namespace_name.empty()) {
    return absl::InvalidArgumentError("namespace: must be given for " +
                                      std::string(type.plural));
  }
  auto path = CollectionPath(type, namespace_name);
  if (!path.ok()) return path;
  if (!IsPathSegment(name)) return NoSegment("name");
  AppendSegment(name, &*path);
  if (!subresource.empty()) {
    if (!IsPathSegment(subresource)) return NoSegment("subresource");
    AppendSegment(subresource, &*path);
  }
  return path;
}

absl::StatusOr<std::string> BindingPath(std::string_view namespace_name,
                                        std::string_view pod) {
  return ObjectPath(kPods, namespace_name, pod, "binding");
}

absl::StatusOr<std::string> EvictionPath(std::string_view namespace_name,
                                         std::string_view pod) {
  return ObjectPath(kPods, namespace_name, pod, "eviction");
}

absl::StatusOr<std::string> OwnerPath(std::string_view api_version,
                                      std::string_view kind,
                                      std::string_view namespace_name,
                                      std::string_view name) {
  const size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  if (!IsPathSegment(kind)) return NoSegment("kind");
  const std::string plural = PluralOf(kind);
  return ObjectPath(
      {.group = core ? "" : api_version.substr(0, slash),
       .version = core ? api_version : api_version.substr(slash + 1),
       .plural = plural},
      namespace_name, name);
}

}  // namespace muster::kubernetes::api
