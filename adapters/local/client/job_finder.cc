#include "adapters/local/client/job_finder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"
#include "adapters/text/percent.h"

namespace muster::local {
namespace {

using Json = Session::Json;
using Ids = std::vector<uint64_t>;

constexpr uint64_t kMostBack = 9'999;

absl::StatusOr<Json> MyJobs(Session* session) {
  auto answer =
      session->Ask("GET", absl::StrCat("/v1/jobs?uid=", session->uid()));
  if (!answer.ok()) return answer.status();
  return ListOf(*answer, "jobs");
}

absl::StatusOr<Json> MyHistory(Session* session, uint64_t limit,
                               const std::string& filter = "") {
  auto answer =
      session->Ask("GET", absl::StrCat("/v1/history?uid=", session->uid(),
                                       "&limit=", limit, filter));
  if (!answer.ok()) return answer.status();
  return ListOf(*answer, "jobs");
}

uint64_t IdOf(const Json& job) { return job.value("id", uint64_t{0}); }

absl::StatusOr<Ids> FindLast(Session* session, uint64_t back) {
  if (back > kMostBack) {
    return absl::InvalidArgumentError(
        absl::StrCat("@~", back, ": expected at most ", kMostBack));
  }
  const auto jobs = MyHistory(session, back + 1);
  if (!jobs.ok()) return jobs.status();
  if (jobs->size() <= back) return Ids{};
  return Ids{IdOf((*jobs)[back])};
}

absl::StatusOr<Ids> FindElements(Session* session, const JobId& id) {
  const auto history = MyHistory(session, kMostBack + 1);
  if (!history.ok()) return history.status();
  Ids found;
  for (const Json& job : *history) {
    if (job.value("array", uint64_t{0}) != id.first) continue;
    if (!id.index || job.value("array_index", uint32_t{0}) == *id.index) {
      found.push_back(IdOf(job));
    }
  }
  std::ranges::sort(found);
  return found;
}

absl::StatusOr<Ids> FindRange(Session* session, const JobId& id) {
  Ids found;
  for (uint64_t i = id.first; i <= id.last; i += id.step) {
    const auto job = session->Ask("GET", absl::StrCat("/v1/jobs/", i));
    if (job.ok()) found.push_back(i);
    if (!job.ok() && !absl::IsNotFound(job.status())) return job.status();
  }
  return found;
}

absl::StatusOr<Ids> FindAll(Session* session, const std::string& name) {
  const auto jobs = MyJobs(session);
  if (!jobs.ok()) return jobs.status();
  Ids found;
  for (const Json& job : *jobs) {
    if (name.empty() || job.value("name", "") == name) {
      found.push_back(IdOf(job));
    }
  }
  return found;
}

absl::StatusOr<Ids> FindByName(Session* session, const std::string& name) {
  auto found = FindAll(session, name);
  if (!found.ok() || !found->empty()) return found;
  const auto jobs =
      MyHistory(session, 1, "&name=" + text::PercentEncoded(name));
  if (!jobs.ok()) return jobs.status();
  if (!jobs->empty()) found->push_back(IdOf((*jobs)[0]));
  return found;
}

absl::StatusOr<Ids> FindOne(Session* session, const JobId& id) {
  switch (id.kind) {
    case JobId::Kind::kId:
      return Ids{id.first};
    case JobId::Kind::kElement:
      return FindElements(session, id);
    case JobId::Kind::kRange:
      return FindRange(session, id);
    case JobId::Kind::kLast:
      return FindLast(session, id.first);
    case JobId::Kind::kAll:
      return FindAll(session, "");
    case JobId::Kind::kName:
      return FindByName(session, id.name);
  }
  return Ids{};
}

}  // namespace

absl::StatusOr<Ids> FindJobs(Session* session,
                             const std::vector<std::string>& texts) {
  Ids ids;
  std::set<uint64_t> known;
  for (const std::string& text : texts) {
    const auto id = ParseJobId(text);
    if (!id.ok()) return id.status();
    const auto found = FindOne(session, *id);
    if (!found.ok()) return found.status();
    if (found->empty() && id->kind != JobId::Kind::kAll) {
      return absl::NotFoundError(
          absl::StrCat("job ", text, ": you have none like that"));
    }
    for (const uint64_t job : *found) {
      if (known.insert(job).second) ids.push_back(job);
    }
  }
  return ids;
}

absl::StatusOr<uint64_t> FindJob(Session* session, const std::string& text) {
  const auto ids = FindJobs(session, {text});
  if (!ids.ok()) return ids.status();
  if (ids->size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("job ", text, ": expected one job, not ", ids->size()));
  }
  return (*ids)[0];
}

}  // namespace muster::local
