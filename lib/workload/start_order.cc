#include "lib/workload/start_order.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "lib/workload/cat.h"

namespace muster::workload {
namespace {

std::string Strip(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

absl::Status ReadEdge(const std::string& text, const Job& job, StartAfter* to) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  to->role = FindRole(job, Strip(parts[0]));
  if (to->role == job.roles.size()) {
    return absl::InvalidArgumentError(
        Cat("'", Strip(parts[0]), "' is no role of the job"));
  }
  if (parts.size() > 1) {
    const auto condition = FromName<StartCondition>(Strip(parts[1]));
    if (!condition.has_value()) {
      return absl::InvalidArgumentError(
          Cat("'", Strip(parts[1]), "' is none of: Running, Ready, Succeeded"));
    }
    to->condition = *condition;
  }
  if (parts.size() > 3 ||
      (parts.size() == 3 &&
       (!absl::SimpleAtoi(parts[2], &to->count) || to->count == 0))) {
    return absl::InvalidArgumentError(
        Cat("'", text, "' is not ROLE[:CONDITION[:COUNT]]"));
  }
  return absl::OkStatus();
}

// Depth first: calls nest as deep as there are roles, which Check has bounded.
class CycleSearch {
 public:
  explicit CycleSearch(const Job& job)
      : job_(job), mark_(job.roles.size(), 0) {}

  // Names of a cycle, or nothing.
  std::string Find() {
    for (uint32_t r = 0; r < job_.roles.size(); ++r) {
      if (mark_[r] == 0 && Visit(r)) return Path();
    }
    return {};
  }

 private:
  bool Visit(uint32_t r) {
    mark_[r] = 1;
    path_.push_back(r);
    for (const StartAfter& after : job_.roles[r].start_after) {
      if (mark_[after.role] == 1) {
        path_.push_back(after.role);
        return true;
      }
      if (mark_[after.role] == 0 && Visit(after.role)) return true;
    }
    mark_[r] = 2;
    path_.pop_back();
    return false;
  }
  std::string Path() const {
    std::string text;
    auto at = std::ranges::find(path_, path_.back());
    for (; at != path_.end(); ++at) {
      text += Cat(text.empty() ? "" : " after ", job_.roles[*at].name);
    }
    return text;
  }

  const Job& job_;
  std::vector<uint8_t> mark_;
  std::vector<uint32_t> path_;
};

}  // namespace

absl::Status ReadStartOrder(std::string_view text, Job* job) {
  for (const std::string& statement : std::vector<std::string>(
           absl::StrSplit(std::string(text), ';', absl::SkipWhitespace()))) {
    const std::vector<std::string> sides = absl::StrSplit(statement, '=');
    const uint32_t role = FindRole(*job, Strip(sides[0]));
    if (sides.size() != 2 || role == job->roles.size()) {
      return absl::InvalidArgumentError(
          Cat("'", Strip(statement), "' is not ROLE=ROLE[:CONDITION[:COUNT]]"));
    }
    std::vector<StartAfter> after;
    for (const std::string& edge : std::vector<std::string>(
             absl::StrSplit(sides[1], ',', absl::SkipWhitespace()))) {
      after.emplace_back();
      absl::Status s = ReadEdge(edge, *job, &after.back());
      if (!s.ok()) return s;
    }
    job->roles[role].start_after = std::move(after);
  }
  return absl::OkStatus();
}

absl::Status CheckStartOrder(const Job& job) {
  for (const Role& role : job.roles) {
    for (const StartAfter& after : role.start_after) {
      if (after.role >= job.roles.size()) {
        return absl::InvalidArgumentError(
            Cat(role.path, ": starts after a role that there is not"));
      }
      const Role& before = job.roles[after.role];
      if (after.count > before.min_replicas) {
        return absl::InvalidArgumentError(
            Cat(role.path, ": starts after ", after.count, " tasks of '",
                before.name, "', which may run with ", before.min_replicas));
      }
      if (after.condition == StartCondition::kSucceeded &&
          (before.passive || before.restart == RestartPolicy::kAlways)) {
        return absl::InvalidArgumentError(
            Cat(role.path, ": starts after success of '", before.name,
                "', whose tasks never end"));
      }
    }
  }
  const std::string cycle = CycleSearch(job).Find();
  if (cycle.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("the start order has a cycle: ", cycle));
}

}  // namespace muster::workload
