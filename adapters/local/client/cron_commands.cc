// muster cron.
#include <ostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/tables.h"

namespace muster::local {
namespace {

using Json = Session::Json;

absl::StatusOr<Json> ListCrons(Session* session, bool all) {
  const std::string mine = absl::StrCat("?uid=", session->uid());
  return session->Ask("GET", "/v1/crons" + (all ? "" : mine));
}

// The calendar of this number, or those of one's own of this name.
absl::StatusOr<std::vector<uint64_t>> FindCrons(Session* session,
                                                const std::string& what) {
  uint64_t id = 0;
  if (absl::SimpleAtoi(what, &id)) return std::vector<uint64_t>{id};
  const auto crons = ListCrons(session, false);
  if (!crons.ok()) return crons.status();
  std::vector<uint64_t> ids;
  for (const Json& cron : ListOf(*crons, "crons")) {
    if (cron.value("name", "") == what) {
      ids.push_back(cron.value("id", uint64_t{0}));
    }
  }
  if (ids.empty()) {
    return absl::NotFoundError(
        absl::StrCat("'", what, "': there is no such calendar of yours"));
  }
  return ids;
}

}  // namespace

int Cron(Session* session, const std::string& action,
         const std::vector<std::string>& calendars, bool all) {
  if (action == "list") {
    const auto crons = ListCrons(session, all);
    if (!crons.ok()) return session->Fail(crons.status());
    if (session->json()) {
      session->PrintJson(*crons);
    } else {
      session->out() << CronsText(*crons, all);
    }
    return kDone;
  }
  if (calendars.empty()) {
    session->Fail(absl::InvalidArgumentError(
        absl::StrCat("cron ", action, ": expected a calendar")));
    return kUsage;
  }
  Json list = Json::array();
  for (const std::string& calendar : calendars) {
    const auto ids = FindCrons(session, calendar);
    if (!ids.ok()) return session->Fail(ids.status());
    for (const uint64_t id : *ids) {
      const bool remove = action == "remove";
      const auto done = session->Ask(
          remove ? "DELETE" : "POST",
          absl::StrCat("/v1/crons/", id, remove ? "" : "/" + action));
      if (!done.ok()) return session->Fail(done.status());
      list.push_back(*done);
    }
  }
  if (session->json()) session->PrintJson({{"crons", std::move(list)}});
  return kDone;
}

}  // namespace muster::local
