#include "adapters/kubernetes/host/host_metrics.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::kubernetes {
namespace {

// Behind "/api/v1" or "/apis/GROUP/VERSION": "" for no group.
struct ApiPath {
  std::string group{};
  std::vector<std::string> parts{};
};

ApiPath Split(std::string_view path) {
  const std::string without_query(path.substr(0, path.find('?')));
  ApiPath split{.parts = absl::StrSplit(without_query, '/', absl::SkipEmpty())};
  std::vector<std::string>& parts = split.parts;
  const bool grouped = !parts.empty() && parts[0] == "apis";
  const size_t root = grouped ? 3 : 2;
  if (parts.size() < root) return {};
  if (grouped) split.group = parts[1];
  parts.erase(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(root));
  if (parts.size() > 2 && parts[0] == "namespaces") {
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  return split;
}

std::string VerbOf(const std::string& method) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "get";
}

}  // namespace

RequestKind KindOf(const client::HttpRequest& request) {
  const ApiPath path = Split(request.path);
  RequestKind kind{.verb = VerbOf(request.method)};
  if (path.parts.empty()) return kind;
  kind.resource = path.parts[0];
  if (path.parts.size() > 2)
    absl::StrAppend(&kind.resource, "/", path.parts[2]);
  return kind;
}

std::string ResourceOf(std::string_view collection_path) {
  const ApiPath path = Split(collection_path);
  if (path.parts.empty()) return "";
  if (path.group.empty()) return path.parts[0];
  return absl::StrCat(path.parts[0], ".", path.group);
}

std::string_view NameOf(client::OutcomeKind kind) {
  switch (kind) {
    case client::OutcomeKind::kDone:
      return "done";
    case client::OutcomeKind::kRefused:
      return "refused";
    case client::OutcomeKind::kUnknown:
      return "unknown";
    case client::OutcomeKind::kNotSent:
      return "not_sent";
    case client::OutcomeKind::kDropped:
      return "dropped";
  }
  return "";
}

}  // namespace muster::kubernetes
