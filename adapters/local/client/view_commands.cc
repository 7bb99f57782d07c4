// Commands that show something.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/job_finder.h"
#include "adapters/local/client/queue_text.h"
#include "adapters/local/client/tables.h"
#include "adapters/text/percent.h"
#include "adapters/text/table.h"
#include "muster/version.h"

namespace muster::local {
namespace {

using Json = Session::Json;

int ShowJson(Session* session, const std::string& target) {
  const auto answer = session->Ask("GET", target);
  if (!answer.ok()) return session->Fail(answer.status());
  session->PrintJson(*answer);
  return kDone;
}

// Asks, and tells by `text` if nobody wants JSON.
template <class F>
int Show(Session* session, const std::string& target, const F& text) {
  if (session->json()) return ShowJson(session, target);
  const auto answer = session->Ask("GET", target);
  if (!answer.ok()) return session->Fail(answer.status());
  session->out() << text(*answer);
  return kDone;
}

// The same for each job; of several, JSON is a list.
template <class F>
int ShowEach(Session* session, const std::vector<std::string>& jobs,
             const std::string& rest, const F& text) {
  const auto ids = FindJobs(session, jobs);
  if (!ids.ok()) return session->Fail(ids.status());
  Json list = Json::array();
  for (const uint64_t id : *ids) {
    auto answer = session->Ask("GET", absl::StrCat("/v1/jobs/", id, rest));
    if (!answer.ok()) return session->Fail(answer.status());
    if (!session->json()) {
      session->out() << (list.empty() ? "" : "\n") << text(*answer);
    }
    list.push_back(*std::move(answer));
  }
  if (session->json()) session->PrintJson(list.size() == 1 ? list[0] : list);
  return kDone;
}

}  // namespace

int ShowQueue(Session* session, bool all) {
  const std::string mine = absl::StrCat("&uid=", session->uid());
  const std::string target = "/v1/jobs?why=1" + (all ? "" : mine);
  if (session->json()) return ShowJson(session, target);
  const auto answer = session->AskText("GET", target);
  if (!answer.ok()) return session->Fail(answer.status());
  session->out() << QueueText(*answer, session->Now(), all);
  return kDone;
}

int Describe(Session* session, const std::vector<std::string>& jobs) {
  return ShowEach(session, jobs, "", [&](const Json& job) {
    return JobText(job, session->Now());
  });
}

int Explain(Session* session, const std::vector<std::string>& jobs) {
  return ShowEach(session, jobs, "/explain", [](const Json& answer) {
    std::string text =
        absl::StrCat("Job ", answer.value("id", uint64_t{0}), " is ",
                     answer.value("phase", ""), ": ",
                     text::Printable(answer.value("why", ""), 4'096), "\n");
    const uint32_t ahead = answer.value("ahead", 0u);
    if (ahead > 0) {
      absl::StrAppend(&text, ahead, " jobs wait before it in its queue\n");
    }
    return text;
  });
}

int ShowHistory(Session* session, const HistoryOptions& options) {
  if (options.removed) {
    std::string target =
        absl::StrCat("/v1/history/removed?limit=", options.limit);
    if (!options.all) absl::StrAppend(&target, "&uid=", session->uid());
    return Show(session, target,
                [&](const Json& answer) { return RemovedText(answer); });
  }
  std::string target = absl::StrCat("/v1/history?limit=", options.limit);
  if (!options.all) absl::StrAppend(&target, "&uid=", session->uid());
  for (const auto& [name, value] :
       {std::pair("name", &options.name), std::pair("queue", &options.queue),
        std::pair("phase", &options.phase)}) {
    if (!value->empty()) {
      absl::StrAppend(&target, "&", name, "=", text::PercentEncoded(*value));
    }
  }
  return Show(session, target, [&](const Json& answer) {
    return HistoryText(answer, options.all);
  });
}

int ShowNodes(Session* session) {
  return Show(session, "/v1/nodes", NodesText);
}

int ShowQueues(Session* session) {
  return Show(session, "/v1/queues", QueuesText);
}

int ShowVersion(Session* session) {
  const auto daemon = session->Ask("GET", "/v1/version");
  const std::string version = daemon.ok() ? daemon->value("version", "") : "";
  if (session->json()) {
    Json json{{"muster", MUSTER_VERSION}};
    if (daemon.ok()) json["musterd"] = version;
    session->PrintJson(json);
  } else {
    session->out() << "muster " << MUSTER_VERSION << "\nmusterd "
                   << (daemon.ok() ? text::Printable(version) : "none") << "\n";
  }
  return daemon.ok() ? kDone : kNoDaemon;
}

}  // namespace muster::local
