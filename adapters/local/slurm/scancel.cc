// scancel: stops jobs for good.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/tables.h"
#include "adapters/local/slurm/command.h"
#include "adapters/local/slurm/job_view.h"
#include "adapters/local/slurm/programs.h"

namespace muster::local::slurm {
namespace {

const OtherOption kOthers[] = {
    {"-f,--full", Value::kNone, false, "all processes of a job are stopped"},
    {"-M,--clusters", Value::kSome, true, "there is one cluster"},
    {"-A,--account", Value::kSome, true, "there are no accounts"},
    {"-q,--qos", Value::kSome, true, "name the jobs"},
    {"-w,--nodelist", Value::kSome, true, "there is one node"},
    {"-R,--reservation", Value::kSome, true, "there are no reservations"},
    {"--wckey", Value::kSome, true, "there are no keys"},
    {"-b,--batch", Value::kNone, true, "only whole jobs are stopped"},
    {"-i,--interactive", Value::kNone, true, "nothing is asked"},
    {"-H,--hurry", Value::kNone, false, "nothing is staged out"},
};

struct Options {
  std::vector<std::string> jobs{};
  std::string user{}, name{}, state{}, partition{}, signal{};
  bool me = false, quiet = false, verbose = false;
};

// A signal that does what cancelling does.
absl::Status CheckSignal(const std::string& signal) {
  std::string name = absl::AsciiStrToUpper(signal);
  if (name.starts_with("SIG")) name.erase(0, 3);
  if (name.empty() || name == "KILL" || name == "9") return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "--signal=", signal,
      ": not supported: signals do not go through musterd; KILL stops the job, "
      "and muster suspend and resume halt it"));
}

// What the options say of the jobs that are meant.
class Filter {
 public:
  absl::Status Read(const Options& o, uint32_t self) {
    if (o.me) user_ = self;
    if (!o.user.empty()) {
      const auto uid = ReadUser(o.user);
      if (!uid.ok()) return uid.status();
      user_ = *uid;
    }
    if (!o.state.empty()) {
      const auto state = ReadState(o.state);
      if (!state.ok()) return state.status();
      state_ = *state;
    }
    name_ = o.name;
    queue_ = o.partition;
    return absl::OkStatus();
  }
  bool empty() const {
    return !user_ && state_.empty() && name_.empty() && queue_.empty();
  }
  bool Has(const Json& job) const {
    return (!user_ || *user_ == job.value("uid", 0u)) &&
           (state_.empty() || state_ == StateOf(job)) &&
           (name_.empty() || name_ == NameOfJob(job)) &&
           (queue_.empty() || queue_ == job.value("queue", ""));
  }

 private:
  std::optional<uint32_t> user_{};
  std::string state_{}, name_{}, queue_{};
};

// Ids and how each is named; a text: the first that there is no job for.
using Chosen = std::map<uint64_t, std::string>;

absl::StatusOr<Chosen> Choose(Session* session, const JobIds& ids,
                              const Filter& filter, std::string* missing) {
  const auto answer = session->Ask("GET", "/v1/jobs");
  if (!answer.ok()) return answer.status();
  Chosen chosen;
  const Json& jobs = ListOf(*answer, "jobs");
  for (const Json& job : jobs) {
    if ((ids.empty() || ids.Has(job)) && filter.Has(job)) {
      chosen[job.value("id", uint64_t{0})] = IdText(job);
    }
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (std::ranges::any_of(jobs,
                            [&](const Json& job) { return ids.Has(i, job); })) {
      continue;
    }
    // One that has finished is as it should be.
    const auto job =
        session->Ask("GET", absl::StrCat("/v1/jobs/", ids.first(i)));
    if (job.ok()) continue;
    if (!absl::IsNotFound(job.status())) return job.status();
    if (missing->empty()) *missing = ids.text(i);
  }
  return chosen;
}

void AddOptions(Command* command, Options* o) {
  CLI::App& app = command->app();
  app.add_option("job", o->jobs, "Which")->take_all();
  app.add_option("-u,--user", o->user, "Jobs of this user");
  app.add_flag("--me", o->me, "One's own jobs");
  app.add_option("-n,--name,--jobname", o->name, "Jobs of this name");
  app.add_option("-t,--state", o->state, "Jobs that are PENDING, RUNNING, ...");
  app.add_option("-p,--partition", o->partition, "Jobs of this queue");
  app.add_option("-s,--signal", o->signal, "KILL alone");
  app.add_flag("-Q,--quiet", o->quiet, "No errors of jobs");
  app.add_flag("-v,--verbose", o->verbose, "Which jobs are stopped");
  command->Add(kOthers);
}

// What the command ends with. One after another: what is refused of one does
// not keep the next from it.
int Cancel(const Start& start, const Command& command, const Options& o,
           Session* session, const Chosen& chosen) {
  int code = kDone;
  for (const auto& [id, text] : chosen) {
    if (o.verbose) start.to.err << "scancel: Terminating job " << text << "\n";
    const auto answer = session->Ask("DELETE", absl::StrCat("/v1/jobs/", id));
    // FAILED_PRECONDITION: it has finished by now.
    if (answer.ok() || absl::IsFailedPrecondition(answer.status())) continue;
    code = kError;
    if (o.quiet) continue;
    command.Fail(start.to, absl::StrCat("Kill job error on job id ", text, ": ",
                                        answer.status().message()));
  }
  return code;
}

}  // namespace

int Scancel(const Start& start) {
  Command command("scancel", "Stops jobs: scancel 7 8_3 9_[1-4]");
  Options o;
  AddOptions(&command, &o);
  int code = 0;
  if (!command.Parse(start.arguments, start.to, nullptr, &code)) return code;
  absl::Status s = CheckSignal(o.signal);
  JobIds ids;
  for (const std::string& text : o.jobs) {
    if (s.ok()) s = ids.Add(text);
  }
  Session session = start.Open();
  Filter filter;
  if (s.ok()) s = filter.Read(o, session.uid());
  if (!s.ok()) return command.Fail(start.to, s);
  if (ids.empty() && filter.empty()) {
    return command.Fail(start.to, "No job identification provided");
  }
  std::string missing;
  const auto chosen = Choose(&session, ids, filter, &missing);
  if (!chosen.ok()) return command.Fail(start.to, chosen.status());
  code = Cancel(start, command, o, &session, *chosen);
  if (missing.empty()) return code;
  if (!o.quiet) {
    command.Fail(start.to, absl::StrCat("Kill job error on job id ", missing,
                                        ": Invalid job id specified"));
  }
  return kError;
}

}  // namespace muster::local::slurm
