#include "adapters/local/slurm/lookup.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"

namespace muster::local::slurm {

absl::StatusOr<std::optional<Asked>> LookUp(Session* session, Json* job) {
  const auto whole = session->Ask(
      "GET", absl::StrCat("/v1/jobs/", job->value("id", uint64_t{0})));
  if (absl::IsNotFound(whole.status())) return std::optional<Asked>();
  if (!whole.ok()) return whole.status();
  if (whole->contains("directory")) (*job)["directory"] = (*whole)["directory"];
  return AskedOf(*whole);
}

absl::StatusOr<std::string> NodeName(Session* session) {
  const auto nodes = session->Ask("GET", "/v1/nodes");
  if (!nodes.ok()) return nodes.status();
  const Json& list = ListOf(*nodes, "nodes");
  return list.empty() ? "" : list[0].value("name", "");
}

}  // namespace muster::local::slurm
