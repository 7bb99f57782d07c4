#include "adapters/local/edit/job_edits.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "muster/quantity.h"

namespace muster::local {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMilli = 1'000;

absl::Status Wrong(const std::string& field, const std::string& expected) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", expected));
}

int64_t ScaleOf(std::string_view resource) {
  return resource == "cpu" ? kMilli : 1;
}

absl::Status ReadRequests(const Json& json, const std::string& at,
                          RoleEdits* edits) {
  if (!json.is_object()) return Wrong(at, "expected an object");
  for (const auto& [resource, quantity] : json.items()) {
    if (!quantity.is_string()) {
      return Wrong(absl::StrCat(at, ".", resource), "expected a string");
    }
    edits->requests[resource] = quantity.get<std::string>();
  }
  return absl::OkStatus();
}

absl::Status ReadCommand(const Json& json, const std::string& at,
                         RoleEdits* edits) {
  bool good = json.is_array() && !json.empty();
  for (const Json& word : json) {
    good = good && word.is_string() &&
           word.get_ref<const std::string&>().find('\0') == std::string::npos;
    if (good) edits->command.push_back(word.get<std::string>());
  }
  return good ? absl::OkStatus()
              : Wrong(at, "expected a list of strings, one or more");
}

absl::Status ReadRole(const Json& json, const std::string& at,
                      RoleEdits* edits) {
  if (!json.is_object()) return Wrong(at, "expected an object");
  for (const auto& [name, value] : json.items()) {
    const std::string here = absl::StrCat(at, ".", name);
    absl::Status s;
    if (name == "requests") {
      s = ReadRequests(value, here, edits);
    } else if (name == "command") {
      s = ReadCommand(value, here, edits);
    } else {
      s = Wrong(here, "is not known; known are requests and command");
    }
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ReadLimit(const Json& json, JobEdits* edits) {
  constexpr int64_t kMost = kMaxDuration / kSecond;
  if (!json.is_number_integer() || json.get<int64_t>() < 0 ||
      json.get<int64_t>() > kMost) {
    return Wrong("time", absl::StrCat("expected seconds, from 0 to ", kMost));
  }
  edits->limit = json.get<int64_t>() * kSecond;
  return absl::OkStatus();
}

// The role that is meant. INVALID_ARGUMENT.
absl::StatusOr<uint32_t> RoleOf(const std::string& name,
                                const workload::Job& job) {
  if (name.empty() && job.roles.size() == 1) return 0;
  const uint32_t role = FindRole(job, name);
  if (!name.empty() && role < job.roles.size()) return role;
  std::string names;
  for (const workload::Role& r : job.roles) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", r.name);
  }
  return Wrong("role", absl::StrCat("'", name, "' is none of: ", names));
}

absl::Status CheckRole(const RoleEdits& edits, const workload::Role& role) {
  for (const auto& [resource, quantity] : edits.requests) {
    const auto amount = ParseQuantity(quantity, ScaleOf(resource));
    if (resource.empty() || !amount.ok()) {
      return Wrong(absl::StrCat(role.name, ".requests.", resource),
                   amount.ok() ? "is no resource"
                               : std::string(amount.status().message()));
    }
  }
  if (edits.command.empty()) return absl::OkStatus();
  if (!role.task.script.empty() || role.passive) {
    return Wrong(absl::StrCat(role.name, ".command"),
                 role.passive ? "its tasks run none of their own"
                              : "it runs a script, which is to be submitted "
                                "anew");
  }
  return absl::OkStatus();
}

// Sorted by resource; 0: not there.
void Set(const std::string& resource, int64_t amount, bool only_if_there,
         std::vector<workload::Amount>* amounts) {
  const auto at = std::ranges::lower_bound(*amounts, resource, {},
                                           &workload::Amount::resource);
  const bool there = at != amounts->end() && at->resource == resource;
  if (there && amount == 0) {
    amounts->erase(at);
  } else if (there) {
    at->amount = amount;
  } else if (amount > 0 && !only_if_there) {
    amounts->insert(at, {resource, amount});
  }
}

}  // namespace

std::string ToJson(const JobEdits& edits) {
  if (edits.empty()) return "";
  Json json = Json::object();
  if (edits.limit) json["time"] = *edits.limit / kSecond;
  for (const auto& [name, role] : edits.roles) {
    Json& to = json["roles"][name] = Json::object();
    if (!role.requests.empty()) to["requests"] = role.requests;
    if (!role.command.empty()) to["command"] = role.command;
  }
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

absl::StatusOr<JobEdits> JobEditsFromJson(std::string_view text) {
  JobEdits edits;
  if (text.empty()) return edits;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Wrong("edits", "expected an object");
  for (const auto& [name, value] : json.items()) {
    if (name == "time") {
      absl::Status s = ReadLimit(value, &edits);
      if (!s.ok()) return s;
    } else if (name == "roles" && value.is_object()) {
      for (const auto& [role, of] : value.items()) {
        absl::Status s =
            ReadRole(of, absl::StrCat("roles.", role), &edits.roles[role]);
        if (!s.ok()) return s;
      }
    } else {
      return Wrong(name, "expected time, or roles with an object");
    }
  }
  return edits;
}

absl::StatusOr<JobEdits> WithLater(const JobEdits& edits, const JobEdits& later,
                                   const workload::Job& job) {
  JobEdits all = edits;
  if (later.limit) all.limit = later.limit;
  for (const auto& [name, role] : later.roles) {
    const auto of = RoleOf(name, job);
    if (!of.ok()) return of.status();
    absl::Status s = CheckRole(role, job.roles[*of]);
    if (!s.ok()) return s;
    RoleEdits& to = all.roles[job.roles[*of].name];
    for (const auto& [resource, quantity] : role.requests) {
      to.requests[resource] = quantity;
    }
    if (!role.command.empty()) to.command = role.command;
  }
  return all;
}

void EditRoles(const JobEdits& edits, workload::Job* job) {
  for (const auto& [name, role] : edits.roles) {
    const uint32_t r = FindRole(*job, name);
    if (r >= job->roles.size()) continue;
    workload::TaskTemplate& task = job->roles[r].task;
    for (const auto& [resource, quantity] : role.requests) {
      const auto amount = ParseQuantity(quantity, ScaleOf(resource));
      if (!amount.ok()) continue;
      Set(resource, *amount, /*only_if_there=*/false, &task.requests);
      Set(resource, *amount, /*only_if_there=*/true, &task.limits);
    }
    if (!role.command.empty()) {
      task.command = role.command;
      task.args.clear();
    }
  }
}

std::string QuantityText(std::string_view resource, int64_t amount) {
  if (resource == "cpu") {
    return amount % kMilli == 0 ? absl::StrCat(amount / kMilli)
                                : absl::StrCat(amount, "m");
  }
  const bool bytes =
      resource == "memory" || resource == "muster.dev/gpu-memory";
  constexpr std::array kUnits = {"", "Ki", "Mi", "Gi", "Ti"};
  size_t unit = 0;
  while (bytes && amount > 0 && amount % 1'024 == 0 &&
         unit + 1 < kUnits.size()) {
    amount /= 1'024;
    ++unit;
  }
  return absl::StrCat(amount, kUnits[unit]);
}

}  // namespace muster::local
