// squeue: jobs that have not finished.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/tables.h"
#include "adapters/local/slurm/command.h"
#include "adapters/local/slurm/format.h"
#include "adapters/local/slurm/job_view.h"
#include "adapters/local/slurm/lookup.h"
#include "adapters/local/slurm/programs.h"
#include "adapters/local/slurm/queue_json.h"
#include "adapters/local/slurm/times.h"

namespace muster::local::slurm {
namespace {

constexpr char kUsual[] = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
constexpr char kLong[] = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
// What Slurm keeps in mind of jobs that have ended.
constexpr double kEndedFor = 300;
constexpr int kHistory = 10'000;

struct Row {
  const Json& job;
  std::string id{};
  std::optional<Asked> asked{};
  const std::string& node;
  double now = 0;
};

bool Runs(const Json& job) {
  const std::string_view state = StateOf(job);
  return state == "RUNNING" || state == "COMPLETING" || state == "REQUEUED";
}

std::string Elapsed(const Row& row) {
  if (!row.job.contains("started")) return "0:00";
  const double end = row.job.value("finished", row.now);
  return SpanText(static_cast<int64_t>(end - row.job.value("started", end)));
}

std::string Moment(const Row& row, const char* member) {
  return row.job.contains(member) ? MomentText(row.job.value(member, 0.0))
                                  : "N/A";
}

std::string EndOf(const Row& row) {
  if (row.job.contains("finished") || !row.job.contains("started") ||
      !row.asked || !row.asked->limit) {
    return Moment(row, "finished");
  }
  return MomentText(row.job.value("started", 0.0) +
                    static_cast<double>(*row.asked->limit));
}

std::string LimitOf(const Row& row) {
  if (!row.asked) return "N/A";
  return row.asked->limit ? SpanText(*row.asked->limit) : "UNLIMITED";
}

std::string LeftOf(const Row& row) {
  if (!row.asked) return "N/A";
  if (!row.asked->limit) return "UNLIMITED";
  const double ran = row.job.contains("started")
                         ? row.now - row.job.value("started", row.now)
                         : 0;
  return SpanText(*row.asked->limit - static_cast<int64_t>(ran));
}

std::string NodesOf(const Row& row) { return Runs(row.job) ? row.node : ""; }

std::string PlaceOf(const Row& row) {
  if (Runs(row.job)) return row.node;
  return absl::StrCat("(", ReasonOf(row.job), ")");
}

std::string OfAsked(const Row& row, std::string (*text)(const Asked&)) {
  return row.asked ? text(*row.asked) : "N/A";
}

struct Field {
  char letter = 0;
  const char* head = "";
  std::string (*text)(const Row& row) = nullptr;
  bool asks = false;  // For what the job asks for.
};

// NOLINTBEGIN: one line a field.
// clang-format off
const Field kFields[] = {
    {'i', "JOBID", [](const Row& r) { return r.id; }},
    {'A', "JOBID", [](const Row& r) { return absl::StrCat(r.job.value("id", uint64_t{0})); }},
    {'F', "ARRAY_JOB_ID", [](const Row& r) { return absl::StrCat(r.job.value("array", r.job.value("id", uint64_t{0}))); }},
    {'K', "ARRAY_TASK_ID", [](const Row& r) { return r.job.contains("array_index") ? absl::StrCat(r.job.value("array_index", 0u)) : std::string("N/A"); }},
    {'P', "PARTITION", [](const Row& r) { return r.job.value("queue", ""); }},
    {'j', "NAME", [](const Row& r) { return NameOfJob(r.job); }},
    {'u', "USER", [](const Row& r) { return UserName(r.job.value("uid", 0u)); }},
    {'U', "USER", [](const Row& r) { return absl::StrCat(r.job.value("uid", 0u)); }},
    {'t', "ST", [](const Row& r) { return std::string(ShortState(StateOf(r.job))); }},
    {'T', "STATE", [](const Row& r) { return std::string(StateOf(r.job)); }},
    {'M', "TIME", Elapsed},
    {'l', "TIME_LIMIT", LimitOf, true},
    {'L', "TIME_LEFT", LeftOf, true},
    {'D', "NODES", [](const Row&) { return std::string("1"); }},
    {'C', "CPUS", [](const Row& r) { return OfAsked(r, [](const Asked& a) { return absl::StrCat(a.cpus); }); }, true},
    {'m', "MIN_MEMORY", [](const Row& r) { return OfAsked(r, [](const Asked& a) { return MemoryText(a.memory); }); }, true},
    {'b', "TRES_PER_NODE", [](const Row& r) { return OfAsked(r, [](const Asked& a) { return a.gpu_milli == 0 ? std::string("N/A") : "gres/gpu:" + GpuText(a.gpu_milli); }); }, true},
    {'R', "NODELIST(REASON)", PlaceOf},
    {'N', "NODELIST", NodesOf},
    {'B', "EXEC_HOST", NodesOf},
    {'r', "REASON", [](const Row& r) { return ReasonOf(r.job); }},
    {'V', "SUBMIT_TIME", [](const Row& r) { return Moment(r, "submitted"); }},
    {'S', "START_TIME", [](const Row& r) { return Moment(r, "started"); }},
    {'e', "END_TIME", EndOf, true},
    {'q', "QOS", [](const Row& r) { return r.job.value("priority", ""); }},
    {'Q', "PRIORITY", [](const Row& r) { return r.job.value("priority", ""); }},
    {'p', "PRIORITY", [](const Row& r) { return r.job.value("priority", ""); }},
    {'Z', "WORK_DIR", [](const Row& r) { return r.job.value("directory", "N/A"); }, true},
};
// clang-format on
// NOLINTEND

const OtherOption kOthers[] = {
    {"-a,--all", Value::kNone, false, "all partitions are seen"},
    {"-w,--nodelist", Value::kSome, false, "there is one node"},
    {"-M,--clusters", Value::kSome, true, "there is one cluster"},
    {"-S,--sort", Value::kSome, true, "lines are in the order of ids"},
    {"-s,--steps", Value::kMaybe, true, "steps are no jobs"},
    {"-O,--Format", Value::kSome, true, "use --format"},
    {"-i,--iterate", Value::kSome, true, "use watch(1)"},
    {"-A,--account", Value::kSome, true, "there are no accounts"},
    {"-q,--qos", Value::kSome, true, "use --format=%q"},
    {"-L,--licenses", Value::kSome, true, "there are no licenses"},
    {"-R,--reservation", Value::kSome, true, "there are no reservations"},
    {"--start", Value::kNone, true, "starts are not foretold"},
    {"--yaml", Value::kMaybe, true, "use --json"},
};

struct Options {
  std::string users{}, ids{}, names{}, states{}, partitions{};
  std::string format{};
  bool me = false, no_header = false, is_long = false, apart = false;
  bool json = false;
};

void AddOptions(Command* command, Options* o) {
  CLI::App& app = command->app();
  app.add_option("-u,--user", o->users, "Jobs of these users");
  app.add_flag("--me", o->me, "One's own jobs");
  app.add_option("-j,--jobs", o->ids, "These jobs: 7,8_3");
  app.add_option("-n,--name", o->names, "Jobs of these names");
  app.add_option("-t,--states", o->states, "PD,R, or all");
  app.add_option("-p,--partition", o->partitions, "Jobs of these queues");
  app.add_option("-o,--format", o->format,
                 "Fields: %i %j %u %t %T %M %l %L %D %C %m %b %R %r %N %B %P "
                 "%V %S %e %q %Q %p %U %A %F %K %Z")
      ->envname("SQUEUE_FORMAT");
  app.add_flag("-h,--noheader", o->no_header, "No line of headings");
  app.add_flag("-l,--long", o->is_long, "More fields");
  app.add_flag("-r,--array", o->apart, "A line for each task of an array");
  app.add_flag("--json", o->json, "As JSON");
  command->Add(kOthers);
}

// Which jobs are shown.
class Filter {
 public:
  absl::Status Read(const Options& o, uint32_t self) {
    for (const std::string& user : Parts(o.users)) {
      const auto uid = ReadUser(user);
      if (!uid.ok()) return uid.status();
      users_.insert(*uid);
    }
    if (o.me) users_ = {self};
    auto ids = JobIds::Parse(o.ids);
    if (!ids.ok()) return ids.status();
    ids_ = *std::move(ids);
    names_ = Parts(o.names);
    partitions_ = Parts(o.partitions);
    for (const std::string& text : Parts(o.states)) {
      if (text == "all" || text == "ALL") {
        all_states_ = true;
        continue;
      }
      const auto state = ReadState(text);
      if (!state.ok()) return state.status();
      states_.insert(std::string(*state));
    }
    return absl::OkStatus();
  }

  bool WantsEnded() const {
    return all_states_ || std::ranges::any_of(states_, HasEnded);
  }
  bool Has(const Json& job) const {
    const std::string state(StateOf(job));
    const bool in_state =
        all_states_ ||
        (states_.empty() ? !HasEnded(state) : states_.contains(state));
    return in_state &&
           (users_.empty() || users_.contains(job.value("uid", 0u))) &&
           (ids_.empty() || ids_.Has(job)) && In(names_, NameOfJob(job)) &&
           In(partitions_, job.value("queue", ""));
  }
  const JobIds& ids() const { return ids_; }

 private:
  static bool In(const std::vector<std::string>& list,
                 const std::string& text) {
    return list.empty() || std::ranges::find(list, text) != list.end();
  }

  std::set<uint32_t> users_{};
  JobIds ids_{};
  std::vector<std::string> names_{}, partitions_{};
  std::set<std::string> states_{};
  bool all_states_ = false;
};

absl::StatusOr<std::vector<Json>> Find(Session* session, const Filter& filter,
                                       bool why) {
  std::vector<Json> jobs;
  auto answer = session->Ask("GET", why ? "/v1/jobs?why=1" : "/v1/jobs");
  if (!answer.ok()) return answer.status();
  const auto take = [&](const Json& job) {
    if (filter.Has(job)) jobs.push_back(job);
  };
  std::set<uint64_t> seen;
  for (const Json& job : ListOf(*answer, "jobs")) {
    seen.insert(job.value("id", uint64_t{0}));
    take(job);
  }
  if (filter.WantsEnded()) {
    auto history =
        session->Ask("GET", absl::StrCat("/v1/history?limit=", kHistory));
    if (!history.ok()) return history.status();
    for (const Json& job : ListOf(*history, "jobs")) {
      const bool lately =
          job.value("finished", 0.0) >= session->Now() - kEndedFor;
      if (lately && !seen.contains(job.value("id", uint64_t{0}))) take(job);
    }
  }
  std::ranges::sort(
      jobs, {}, [](const Json& job) { return job.value("id", uint64_t{0}); });
  return jobs;
}

// A job that is asked for by its id and that never was.
absl::Status CheckIds(Session* session, const Filter& filter,
                      const std::vector<Json>& found) {
  const JobIds& ids = filter.ids();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (std::ranges::any_of(found,
                            [&](const Json& job) { return ids.Has(i, job); })) {
      continue;
    }
    const auto job =
        session->Ask("GET", absl::StrCat("/v1/jobs/", ids.first(i)));
    if (absl::IsNotFound(job.status())) {
      return absl::NotFoundError(
          absl::StrCat("Invalid job id specified: ", ids.text(i)));
    }
    if (!job.ok()) return job.status();
  }
  return absl::OkStatus();
}

// "7_[1-3,8]" of those elements that wait alike, "7_[1-3,8%2]" of an array of
// which two may run at a time; the first stands for them.
std::vector<std::pair<Json, std::string>> Joined(const std::vector<Json>& jobs,
                                                 bool apart) {
  std::vector<std::pair<Json, std::string>> rows;
  for (size_t i = 0; i < jobs.size();) {
    const auto waits = [&](const Json& job) {
      return !apart && job.contains("array_index") &&
             StateOf(job) == "PENDING" &&
             job.value("array", uint64_t{0}) ==
                 jobs[i].value("array", uint64_t{0}) &&
             ReasonOf(job) == ReasonOf(jobs[i]);
    };
    size_t end = i + 1;
    if (waits(jobs[i])) {
      while (end < jobs.size() && waits(jobs[end])) ++end;
    }
    std::string id = IdText(jobs[i]);
    if (end > i + 1) {
      std::vector<uint32_t> indices;
      for (size_t k = i; k < end; ++k) {
        indices.push_back(jobs[k].value("array_index", 0u));
      }
      const uint32_t limit = jobs[i].value("array_limit", 0u);
      id = absl::StrCat(jobs[i].value("array", uint64_t{0}), "_[",
                        IndexText(indices),
                        limit > 0 ? absl::StrCat("%", limit) : "", "]");
    }
    rows.emplace_back(jobs[i], std::move(id));
    i = end;
  }
  return rows;
}

// What is printed of the jobs.
class Printer {
 public:
  Printer(const Options& o, const Format& format, std::string node)
      : o_(o), format_(format), node_(std::move(node)) {}

  // All lines, or all of the JSON.
  absl::Status Print(Session* session, const std::vector<Json>& jobs) const {
    const bool asks = Asks();
    Json list = Json::array();
    std::string text = o_.no_header ? "" : Head();
    for (auto& [job, id] : Joined(jobs, o_.apart || o_.json)) {
      Row row{.job = job, .id = id, .node = node_, .now = session->Now()};
      if (asks) {
        auto asked = LookUp(session, &job);
        if (!asked.ok()) return asked.status();
        row.asked = *std::move(asked);
      }
      if (o_.json) {
        list.push_back(QueueJson(job, row.asked, NodesOf(row)));
      } else {
        text += format_.Line([&](char letter) { return Of(letter).text(row); });
      }
    }
    if (o_.json) {
      session->PrintJson(Envelope("squeue", std::move(list)));
    } else {
      session->out() << text;
    }
    return absl::OkStatus();
  }

 private:
  static const Field& Of(char letter) {
    return *std::ranges::find(kFields, letter, &Field::letter);
  }
  bool Asks() const {
    return o_.json || std::ranges::any_of(kFields, [&](const Field& field) {
             return field.asks && format_.Has(field.letter);
           });
  }
  std::string Head() const {
    return format_.Line(
        [](char letter) { return std::string(Of(letter).head); });
  }

  const Options& o_;
  const Format& format_;
  const std::string node_;
};

}  // namespace

int Squeue(const Start& start) {
  Command command("squeue", "Jobs that have not finished.");
  Options options;
  AddOptions(&command, &options);
  int code = 0;
  if (!command.Parse(start.arguments, start.to, nullptr, &code)) return code;
  std::string letters;
  for (const Field& field : kFields) letters += field.letter;
  if (options.format.empty()) {
    options.format = options.is_long ? kLong : kUsual;
  }
  const auto format = Format::Parse(options.format, letters);
  if (!format.ok()) return command.Fail(start.to, format.status());
  Session session = start.Open();
  Filter filter;
  if (absl::Status s = filter.Read(options, session.uid()); !s.ok()) {
    return command.Fail(start.to, s);
  }
  const bool why = options.json || format->Has('R') || format->Has('r');
  const auto jobs = Find(&session, filter, why);
  if (!jobs.ok()) return command.Fail(start.to, jobs.status());
  if (absl::Status s = CheckIds(&session, filter, *jobs); !s.ok()) {
    return command.Fail(start.to, s);
  }
  auto node = NodeName(&session);
  if (!node.ok()) return command.Fail(start.to, node.status());
  const Printer printer(options, *format, *std::move(node));
  const absl::Status printed = printer.Print(&session, *jobs);
  return printed.ok() ? kDone : command.Fail(start.to, printed);
}

}  // namespace muster::local::slurm
