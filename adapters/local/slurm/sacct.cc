// sacct: the history of jobs.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/tables.h"
#include "adapters/local/slurm/command.h"
#include "adapters/local/slurm/format.h"
#include "adapters/local/slurm/job_view.h"
#include "adapters/local/slurm/lookup.h"
#include "adapters/local/slurm/programs.h"
#include "adapters/local/slurm/times.h"
#include "adapters/text/table.h"

namespace muster::local::slurm {
namespace {

constexpr char kUsual[] =
    "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
constexpr uint64_t kPage = 10'000;
constexpr size_t kMostBytes = 4'096;

struct Row {
  const Json& job;
  std::optional<Asked> asked{};
  const std::string& node;
  double now = 0;
};

int64_t ElapsedOf(const Row& r) {
  if (!r.job.contains("started")) return 0;
  const double started = r.job.value("started", 0.0);
  return static_cast<int64_t>(
      std::max(0.0, r.job.value("finished", r.now) - started));
}

std::string Moment(const Row& r, const char* member) {
  return r.job.contains(member) ? MomentText(r.job.value(member, 0.0))
                                : "Unknown";
}

std::string CodeText(const Row& r) {
  const ExitCode code = ExitCodeOf(r.job);
  return absl::StrCat(code.code, ":", code.signal);
}

bool Started(const Row& r) { return r.job.contains("started"); }

std::string Cpus(const Row& r) {
  return r.asked ? absl::StrCat(r.asked->cpus) : "";
}

std::string Limit(const Row& r) {
  if (!r.asked) return "";
  return r.asked->limit ? LongSpanText(*r.asked->limit) : "UNLIMITED";
}

struct Field {
  const char* name = "";
  uint32_t width = 0;
  std::string (*text)(const Row& row) = nullptr;
  bool asks = false;  // For what the job asks for.
};

// NOLINTBEGIN: one line a field.
// clang-format off
const Field kFields[] = {
    {"JobID", 12, [](const Row& r) { return IdText(r.job); }},
    {"JobIDRaw", 12, [](const Row& r) { return absl::StrCat(r.job.value("id", uint64_t{0})); }},
    {"JobName", 10, [](const Row& r) { return NameOfJob(r.job); }},
    {"Partition", 10, [](const Row& r) { return r.job.value("queue", ""); }},
    {"Account", 10, [](const Row&) { return std::string(); }},
    {"User", 9, [](const Row& r) { return UserName(r.job.value("uid", 0u)); }},
    {"UID", 6, [](const Row& r) { return absl::StrCat(r.job.value("uid", 0u)); }},
    {"State", 10, [](const Row& r) { return std::string(StateOf(r.job)); }},
    {"ExitCode", 8, CodeText},
    {"DerivedExitCode", 15, CodeText},
    {"Elapsed", 10, [](const Row& r) { return LongSpanText(ElapsedOf(r)); }},
    {"ElapsedRaw", 10, [](const Row& r) { return absl::StrCat(ElapsedOf(r)); }},
    {"Submit", 19, [](const Row& r) { return Moment(r, "submitted"); }},
    {"Eligible", 19, [](const Row& r) { return Moment(r, "submitted"); }},
    {"Start", 19, [](const Row& r) { return Moment(r, "started"); }},
    {"End", 19, [](const Row& r) { return Moment(r, "finished"); }},
    {"NNodes", 8, [](const Row&) { return std::string("1"); }},
    {"NodeList", 15, [](const Row& r) { return Started(r) ? r.node : "None assigned"; }},
    {"NTasks", 8, [](const Row& r) { return r.asked ? absl::StrCat(r.asked->tasks) : std::string(); }, true},
    {"AllocCPUS", 10, [](const Row& r) { return Started(r) ? Cpus(r) : "0"; }, true},
    {"NCPUS", 10, [](const Row& r) { return Started(r) ? Cpus(r) : "0"; }, true},
    {"ReqCPUS", 8, Cpus, true},
    {"ReqMem", 10, [](const Row& r) { return r.asked ? MemoryText(r.asked->memory) : std::string(); }, true},
    {"AllocTRES", 10, [](const Row& r) { return r.asked && Started(r) ? TresText(*r.asked) : std::string(); }, true},
    {"ReqTRES", 10, [](const Row& r) { return r.asked ? TresText(*r.asked) : std::string(); }, true},
    {"Timelimit", 10, Limit, true},
    {"QOS", 10, [](const Row& r) { return r.job.value("priority", ""); }},
    {"Priority", 10, [](const Row& r) { return r.job.value("priority", ""); }},
    {"Reason", 22, [](const Row& r) { return ReasonOf(r.job); }},
    {"Restarts", 8, [](const Row& r) { return absl::StrCat(r.job.value("restarts", 0) + r.job.value("preemptions", 0)); }},
    {"WorkDir", 20, [](const Row& r) { return r.job.value("directory", ""); }, true},
};
// clang-format on
// NOLINTEND

const OtherOption kOthers[] = {
    {"-D,--duplicates", Value::kNone, false, "an id is given once"},
    {"-A,--accounts", Value::kSome, true, "there are no accounts"},
    {"-M,--clusters", Value::kSome, true, "there is one cluster"},
    {"-N,--nodelist", Value::kSome, true, "there is one node"},
    {"-q,--qos", Value::kSome, true, "use --format=QOS"},
    {"-B,--batch-script", Value::kNone, true, "use muster describe"},
    {"-c,--completion", Value::kNone, true, "there is one history"},
    {"-f,--file", Value::kSome, true, "there is one history"},
    {"--json", Value::kMaybe, true, "use muster --json history"},
    {"--yaml", Value::kMaybe, true, "use muster --json history"},
};

struct Options {
  std::string ids{}, users{}, since{}, until{}, states{}, names{};
  std::string partitions{}, format = kUsual, delimiter = "|";
  bool all = false, whole = false, no_header = false;
  bool parsable = false, parsable2 = false, fields = false, brief = false;
  bool jobs_alone = false;  // There are no steps: nothing else is told.
};

void AddOptions(Command* command, Options* o) {
  CLI::App& app = command->app();
  app.add_option("-j,--jobs", o->ids, "These jobs: 7,8_3");
  app.add_option("-u,--user", o->users, "Jobs of these users");
  app.add_flag("-a,--allusers", o->all, "Jobs of all users");
  app.add_option("-S,--starttime", o->since,
                 "Jobs that were there then or later; by default today's");
  app.add_option("-E,--endtime", o->until, "Jobs that were there before");
  app.add_option("-s,--state", o->states, "CD,F and so on");
  app.add_option("--name", o->names, "Jobs of these names");
  app.add_option("-r,--partition", o->partitions, "Jobs of these queues");
  app.add_option("-o,--format", o->format, "Fields, as --helpformat tells them")
      ->envname("SACCT_FORMAT");
  app.add_flag("-X,--allocations", o->jobs_alone, "Jobs, and no steps: all");
  app.add_flag("-b,--brief", o->brief, "JobID,State,ExitCode");
  app.add_flag("-e,--helpformat", o->fields, "Which fields there are");
  app.add_flag("-n,--noheader", o->no_header, "No lines of headings");
  app.add_flag("-p,--parsable", o->parsable, "a|b|c|");
  app.add_flag("-P,--parsable2", o->parsable2, "a|b|c");
  app.add_option("--delimiter", o->delimiter, "In place of |");
  command->Add(kOthers);
}

struct Column {
  const Field* field = nullptr;
  uint32_t width = 0;
  bool right = true;
};

// "JobID,State%20,Elapsed%-12"
absl::StatusOr<std::vector<Column>> ReadColumns(const std::string& text) {
  std::vector<Column> columns;
  for (const std::string& part : Parts(text)) {
    const size_t percent = part.find('%');
    const std::string name = absl::AsciiStrToLower(part.substr(0, percent));
    const auto* field = std::ranges::find_if(kFields, [&](const Field& f) {
      return absl::AsciiStrToLower(f.name) == name;
    });
    int width = 0;
    const bool sized = percent != std::string::npos;
    if (field == std::end(kFields) ||
        (sized && (!absl::SimpleAtoi(part.substr(percent + 1), &width) ||
                   width < -4'096 || width > 4'096))) {
      return absl::InvalidArgumentError(
          absl::StrCat("Invalid field requested: \"", part, "\""));
    }
    columns.push_back(
        {.field = field,
         .width = sized ? static_cast<uint32_t>(std::abs(width)) : field->width,
         .right = width >= 0});
  }
  return columns;
}

class Filter {
 public:
  absl::Status Read(const Options& o, uint32_t self, int64_t now) {
    auto ids = JobIds::Parse(o.ids);
    if (!ids.ok()) return ids.status();
    ids_ = *std::move(ids);
    for (const std::string& user : Parts(o.users)) {
      const auto uid = ReadUser(user);
      if (!uid.ok()) return uid.status();
      users_.insert(*uid);
    }
    if (users_.empty() && !o.all && self != 0) users_ = {self};
    for (const std::string& text : Parts(o.states)) {
      const auto state = ReadState(text);
      if (!state.ok()) return state.status();
      states_.insert(std::string(*state));
    }
    names_ = Parts(o.names);
    partitions_ = Parts(o.partitions);
    // Jobs that are named are told of whenever they were.
    const std::string since = !o.since.empty() ? o.since
                              : ids_.empty()   ? "today"
                                               : "";
    if (!since.empty()) {
      const auto at = ReadMoment(since, now);
      if (!at.ok()) return at.status();
      since_ = *at;
    }
    if (!o.until.empty()) {
      const auto at = ReadMoment(o.until, now);
      if (!at.ok()) return at.status();
      until_ = *at;
    }
    return absl::OkStatus();
  }

  bool Has(const Json& job) const {
    const auto in = [](const std::vector<std::string>& list,
                       const std::string& text) {
      return list.empty() || std::ranges::find(list, text) != list.end();
    };
    const bool there =
        (!since_ || !job.contains("finished") ||
         job.value("finished", 0.0) >= static_cast<double>(*since_)) &&
        (!until_ ||
         job.value("submitted", 0.0) <= static_cast<double>(*until_));
    return there && (ids_.empty() || ids_.Has(job)) &&
           (users_.empty() || users_.contains(job.value("uid", 0u))) &&
           (states_.empty() || states_.contains(std::string(StateOf(job)))) &&
           in(names_, NameOfJob(job)) &&
           in(partitions_, job.value("queue", ""));
  }
  // The daemon's filter, as far as it has one.
  std::string Query() const {
    return users_.size() == 1 ? absl::StrCat("&uid=", *users_.begin()) : "";
  }

 private:
  JobIds ids_{};
  std::set<uint32_t> users_{};
  std::set<std::string> states_{};
  std::vector<std::string> names_{}, partitions_{};
  std::optional<int64_t> since_{}, until_{};
};

absl::StatusOr<std::vector<Json>> Find(Session* session, const Filter& filter) {
  std::vector<Json> found;
  uint64_t before = 0;
  for (;;) {
    std::string target =
        absl::StrCat("/v1/history?limit=", kPage, filter.Query());
    if (before != 0) absl::StrAppend(&target, "&before=", before);
    const auto page = session->Ask("GET", target);
    if (!page.ok()) return page.status();
    const Json& jobs = ListOf(*page, "jobs");
    for (const Json& job : jobs) {
      if (filter.Has(job)) found.push_back(job);
      before = job.value("id", uint64_t{0});
    }
    if (jobs.size() < kPage) break;
  }
  std::ranges::sort(
      found, {}, [](const Json& job) { return job.value("id", uint64_t{0}); });
  return found;
}

// Lines as the options want them.
class Printer {
 public:
  Printer(const Options& o, std::vector<Column> columns)
      : o_(o), columns_(std::move(columns)) {}

  std::string Head() const {
    if (o_.no_header) return "";
    std::string text = Line([](const Column& c) { return c.field->name; });
    if (o_.parsable || o_.parsable2) return text;
    return text +
           Line([](const Column& c) { return std::string(c.width, '-'); });
  }
  std::string LineOf(const Row& row) const {
    return Line([&](const Column& c) {
      return text::Printable(c.field->text(row), kMostBytes);
    });
  }
  bool Asks() const {
    return std::ranges::any_of(columns_,
                               [](const Column& c) { return c.field->asks; });
  }

 private:
  template <class F>
  std::string Line(const F& text) const {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column& c = columns_[i];
      const bool last = i + 1 == columns_.size();
      const std::string cell = text(c);
      if (o_.parsable || o_.parsable2) {
        absl::StrAppend(&line, cell, last && o_.parsable2 ? "" : o_.delimiter);
      } else {
        // What is cut ends with "+".
        std::string fitted = Fitted(cell, c.width, c.right);
        if (cell.size() > c.width && !fitted.empty()) fitted.back() = '+';
        absl::StrAppend(&line, fitted, " ");
      }
    }
    return line + "\n";
  }

  const Options& o_;
  const std::vector<Column> columns_;
};

absl::Status Print(const Start& start, Session* session, const Filter& filter,
                   const Printer& printer) {
  const auto jobs = Find(session, filter);
  if (!jobs.ok()) return jobs.status();
  const auto node = NodeName(session);
  if (!node.ok()) return node.status();
  std::string text = printer.Head();
  for (Json job : *jobs) {
    Row row{.job = job, .node = *node, .now = session->Now()};
    if (printer.Asks()) {
      auto asked = LookUp(session, &job);
      if (!asked.ok()) return asked.status();
      row.asked = *std::move(asked);
    }
    text += printer.LineOf(row);
  }
  start.to.out << text;
  return absl::OkStatus();
}

}  // namespace

int Sacct(const Start& start) {
  Command command("sacct", "Jobs, finished or not.");
  Options o;
  AddOptions(&command, &o);
  int code = 0;
  if (!command.Parse(start.arguments, start.to, nullptr, &code)) return code;
  if (o.fields) {
    for (const Field& field : kFields) start.to.out << field.name << "\n";
    return kDone;
  }
  auto columns = ReadColumns(o.brief ? "JobID,State,ExitCode" : o.format);
  if (!columns.ok()) return command.Fail(start.to, columns.status());
  Session session = start.Open();
  Filter filter;
  absl::Status s =
      filter.Read(o, session.uid(), static_cast<int64_t>(session.Now()));
  if (s.ok()) {
    s = Print(start, &session, filter, Printer(o, *std::move(columns)));
  }
  return s.ok() ? kDone : command.Fail(start.to, s);
}

}  // namespace muster::local::slurm
