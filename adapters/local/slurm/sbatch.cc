// sbatch: submits a script.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/commands.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/client/tables.h"
#include "adapters/local/slurm/batch_text.h"
#include "adapters/local/slurm/command.h"
#include "adapters/local/slurm/job_options.h"
#include "adapters/local/slurm/job_view.h"
#include "adapters/local/slurm/lookup.h"
#include "adapters/local/slurm/programs.h"

namespace muster::local::slurm {
namespace {

// The parser's name of a script that says none.
constexpr char kNoName[] = "sbatch";

struct Options {
  std::string wrap{}, output{}, error{}, array{}, exported{};
  bool hold = false, parsable = false, test_only = false, wait = false;
  bool quiet = false, verbose = false;
};

void AddOptions(Command* command, Options* o) {
  CLI::App& app = command->app();
  app.footer(
      "A script and its arguments stand behind the options; without one, the "
      "standard input is read.");
  app.add_option("--wrap", o->wrap, "A command, in place of a script");
  app.add_option("-o,--output", o->output,
                 "Its output: %j %x %a %A %t %u %N; by default slurm-%j.out")
      ->envname("SBATCH_OUTPUT");
  app.add_option("-e,--error", o->error, "Its error output; else the same")
      ->envname("SBATCH_ERROR");
  app.add_option("-a,--array", o->array, "A job for each index: 0-9:2,12%4")
      ->envname("SBATCH_ARRAY_INX");
  app.add_option("--export", o->exported, "ALL, NONE, or A,B=1")
      ->envname("SBATCH_EXPORT");
  app.add_flag("-H,--hold", o->hold, "Not before it is released");
  app.add_flag("--parsable", o->parsable, "Prints the id alone");
  app.add_flag("--test-only", o->test_only,
               "Tells what would become of it, and submits nothing");
  app.add_flag("-W,--wait", o->wait, "Ends with the job's code");
  app.add_flag("-Q,--quiet", o->quiet, "No warnings");
  app.add_flag("-v,--verbose", o->verbose, "The text that is submitted");
}

absl::StatusOr<std::string> ReadScript(const Start& start, const Options& o,
                                       const std::vector<std::string>& words) {
  if (!o.wrap.empty()) {
    if (!words.empty()) {
      return absl::InvalidArgumentError(
          "Script arguments not permitted with --wrap option");
    }
    return absl::StrCat("#!/bin/sh\n", o.wrap, "\n");
  }
  std::string script;
  if (words.empty()) {
    script.assign(std::istreambuf_iterator<char>(start.to.in), {});
  } else {
    std::ifstream file(words[0], std::ios::binary);
    script.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) {
      return absl::NotFoundError(
          absl::StrCat("Unable to open file ", words[0]));
    }
  }
  const absl::Status status = CheckScript(script);
  if (!status.ok()) return status;
  return script;
}

// Options of one group exclude each other.
char GroupOf(const std::string& name) {
  if (name == "gres" || name.starts_with("gpus")) return 'g';
  return name.starts_with("mem") ? 'm' : 0;
}

// A script that asks for GPUs or memory by another option would be asked for
// both.
absl::Status CheckGroups(const std::string& script,
                         const std::vector<BatchOption>& given) {
  for (const BatchOption& option : given) {
    const char group = GroupOf(option.name);
    if (group == 0) continue;
    for (const BatchOption& own : OptionsOf(script)) {
      const std::string name = own.name == "G" ? "gpus" : own.name;
      if (GroupOf(name) != group || name == option.name) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--", option.name, ": the script has --", name,
                       ", which is overridden by --", name, " alone"));
    }
  }
  return absl::OkStatus();
}

std::string ExportOf(const Options& o, const std::string& script) {
  if (!o.exported.empty()) return o.exported;
  std::string exported;
  for (const BatchOption& option : OptionsOf(script)) {
    if (option.name == "export") exported = option.value;
  }
  return exported;
}

// What is submitted, and as what.
struct Batch {
  std::string text{};
  std::string exported{};
  std::string name{};  // Empty: the text says it.
};

absl::StatusOr<Batch> MakeBatch(const std::string& script, const Options& o,
                                std::vector<BatchOption> given,
                                std::vector<std::string> words) {
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) given.push_back({name, value, true});
  };
  const std::string file =
      words.empty() ? "" : std::filesystem::path(words[0]).filename().string();
  if (!words.empty()) words.erase(words.begin());
  add("array", o.array);
  add("export", o.exported);
  add("output", o.output);
  add("error", o.error);
  absl::Status status = CheckGroups(script, given);
  if (!status.ok()) return status;
  auto text = WithOptions(script, given, words);
  if (!text.ok()) return text.status();
  const auto parsed = ParseBatch(script, *text);
  if (!parsed.ok()) return parsed.status();
  // Names that the script says, or that nobody does.
  const workload::TaskTemplate& task = parsed->job.roles[0].task;
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  const std::string usual =
      parsed->job.array.indexes.empty() ? "slurm-%j.out" : "slurm-%A_%a.out";
  const auto finish = [&](const char* name, const std::string& said,
                          const std::string& otherwise) {
    const std::string value =
        ExpandHere(said.empty() ? otherwise : said, UserName(geteuid()), host);
    if (value != said) add(name, value);
  };
  finish("output", task.output, usual);
  if (!task.error.empty()) finish("error", task.error, "");
  const bool unnamed = parsed->job.name == kNoName;
  if (unnamed && !o.wrap.empty()) add("job-name", "wrap");
  text = WithOptions(script, given, words);
  if (!text.ok()) return text.status();
  Batch batch{.text = *std::move(text), .exported = ExportOf(o, script)};
  if (unnamed && o.wrap.empty()) batch.name = file;
  return batch;
}

int TellSubmitted(const Start& start, const Options& o,
                  const std::vector<Session::Json>& jobs) {
  if (jobs.empty()) return kError;
  const uint64_t id = jobs[0].value("array", jobs[0].value("id", uint64_t{0}));
  if (o.parsable) {
    start.to.out << id << "\n";
  } else {
    start.to.out << "Submitted batch job " << id << "\n";
  }
  start.to.out.flush();
  return kDone;
}

}  // namespace

int Sbatch(const Start& start) {
  Command command("sbatch", "Submits a script.");
  Options o;
  AddOptions(&command, &o);
  JobOptions job(&command);
  std::vector<std::string> words;
  int code = 0;
  if (!command.Parse(start.arguments, start.to, &words, &code)) return code;
  const auto script = ReadScript(start, o, words);
  if (!script.ok()) return command.Fail(start.to, script.status());
  const auto batch = MakeBatch(*script, o, job.Given(), words);
  if (!batch.ok()) return command.Fail(start.to, batch.status());
  if (o.verbose) start.to.err << batch->text;
  Session::Json body = Submission(batch->text, batch->exported);
  if (!batch->name.empty()) body["name"] = batch->name;
  if (o.hold) body["hold"] = true;
  Session session = start.Open();
  const auto answer =
      session.Ask("POST", o.test_only ? "/v1/what-if" : "/v1/jobs", body);
  if (!answer.ok()) {
    return command.Fail(start.to, absl::StrCat("Batch job submission failed: ",
                                               answer.status().message()));
  }
  if (!o.quiet) WarnOf(command, start.to, *answer);
  if (o.test_only) {
    start.to.err << "sbatch: " << ForecastText(*answer);
    return kDone;
  }
  const Session::Json& list = ListOf(*answer, "jobs");
  const std::vector<Session::Json> jobs(list.begin(), list.end());
  code = TellSubmitted(start, o, jobs);
  if (code != kDone || !o.wait) return code;
  for (const Session::Json& of : jobs) {
    const auto ended = WaitFor(&session, of.value("id", uint64_t{0}));
    if (!ended.ok()) return command.Fail(start.to, ended.status());
    code = std::max(code, CodeOf(*ended));
  }
  return code;
}

}  // namespace muster::local::slurm
