#include "adapters/cli/cli.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "adapters/text/quantity.h"
#include "muster/version.h"

namespace muster::inprocess {
namespace {

// Everything the command line may say, and which subcommand was given.
struct Arguments {
  RunFlags flags{};
  std::string file{};
  std::string generated{};
  std::string gang{};
  std::string at{};
  std::string until{};
  std::string format = "openb";
  std::string policy = "fifo";
  std::string nodes{};
  std::string pods{};
  std::string jobs{};
  std::string overhead{};
  std::string shift = "1h";
  std::string checkpoint_every{};
  std::string output{};
  std::string scenarios{};
  uint32_t copies = 1;
  bool follow = false;
  GenerateOptions generate{};
  FgdFlags fgd{};
  CompareFlags compare{};
};

CLI::Validator IsSpan() {
  return CLI::Validator(
      [](std::string& text) {
        const absl::StatusOr<Duration> d = ParseDuration(text);
        return d.ok() ? std::string() : std::string(d.status().message());
      },
      "TIME");
}

Duration SpanOr(const std::string& text, Duration otherwise) {
  return text.empty() ? otherwise : ParseDuration(text).value_or(otherwise);
}

void AddRunFlags(CLI::App* app, Arguments* a) {
  app->add_flag("--json", a->flags.json, "Print the results as JSON");
  app->add_option("--journal", a->flags.journal,
                  "Write every event and plan to this new file");
  app->add_option("--report", a->flags.report,
                  "Write a page (HTML) that shows the run to this file");
  app->add_option(
      "--set", a->flags.settings,
      "Over what the input says: KEY=VALUE,KEY=VALUE, e.g. "
      "placement.policy=least-allocated,scheduler.work_budget=500000");
  app->add_option("--until", a->until, "Stop at this time, e.g. 2h")
      ->check(IsSpan());
  app->add_flag("--validate", a->flags.validate,
                "Check the scheduler's invariants after each pass (slow)");
}

void AddRun(CLI::App* app, Arguments* a) {
  CLI::App* run = app->add_subcommand("run", "Run a scenario");
  auto* file = run->add_option("FILE", a->file, "The scenario, YAML");
  run->add_option("--generate", a->generated,
                  "Instead of a file: a workload that generate would make, "
                  "e.g. preset=medium,load=0.85,seed=1,no-spot")
      ->excludes(file);
  run->callback([file, run] {
    if (file->empty() && run->get_option("--generate")->empty()) {
      throw CLI::RequiredError("FILE or --generate");
    }
  });
  AddRunFlags(run, a);
}

// The files of a trace, and how they are read. Returns --nodes.
CLI::Option* AddTraceInput(CLI::App* trace, Arguments* a) {
  trace->add_option("--format", a->format, "openb (Alibaba 2023) or muri")
      ->check(CLI::IsMember({"openb", "muri"}));
  CLI::Option* nodes = trace->add_option("--nodes", a->nodes, "The nodes");
  trace->add_option("--pods", a->pods, "openb: the pods");
  trace->add_option("--jobs", a->jobs, "muri: the jobs");
  trace->add_option("--overhead", a->overhead, "muri: the costs of a restart");
  trace->add_option("--copies", a->copies, "openb: copies of the trace")
      ->check(CLI::Range(1, 10'000));
  trace->add_option("--shift", a->shift, "openb: between copies")
      ->check(IsSpan());
  trace
      ->add_option("--policy", a->policy,
                   "fifo, or priority: classes and preemption")
      ->check(CLI::IsMember({"fifo", "priority"}));
  trace
      ->add_option("--checkpoint-every", a->checkpoint_every,
                   "Work between checkpoints (openb: never, muri: 1h)")
      ->check(IsSpan());
  return nodes;
}

void AddTrace(CLI::App* app, Arguments* a) {
  CLI::App* trace = app->add_subcommand(
      "trace", "Run a public trace (CSV, plain or compressed with gzip)");
  AddTraceInput(trace, a)->required();
  AddRunFlags(trace, a);
}

void AddCompare(CLI::App* app, Arguments* a) {
  CLI::App* compare = app->add_subcommand(
      "compare", "Run the same input with several policies or settings");
  CLI::Option* file =
      compare->add_option("FILE,--file", a->file, "The scenario, YAML");
  CLI::Option* generated =
      compare
          ->add_option("--generate", a->generated,
                       "Instead of a file: workloads that generate would make, "
                       "e.g. preset=small,load=0.85,days=2")
          ->excludes(file);
  CLI::Option* nodes = AddTraceInput(compare, a);
  nodes->excludes(file)->excludes(generated);
  compare
      ->add_option("--variant", a->compare.variants,
                   "What is compared, twice or more; the first is the base: "
                   "NAME:KEY=VALUE,KEY=VALUE, or NAME for the input as it is, "
                   "e.g. spread:placement.policy=least-allocated")
      ->allow_extra_args(false)
      ->required();
  compare
      ->add_option("--seeds", a->compare.seeds,
                   "How many seeds (default: 10, where they matter)")
      ->check(CLI::Range(1, 1000));
  compare->add_option("--until", a->until, "Stop each run at this time")
      ->check(IsSpan());
  compare->add_option("--json", a->compare.json,
                      "Write the results as JSON to this file (-: stdout, "
                      "instead of the table)");
  compare->add_option("--page", a->compare.page,
                      "Write a page (HTML) that shows them to this file");
  compare->callback([file, generated, nodes] {
    if (file->empty() && generated->empty() && nodes->empty()) {
      throw CLI::RequiredError("FILE, --generate or --nodes");
    }
  });
}

void AddOthers(CLI::App* app, Arguments* a) {
  CLI::App* explain =
      app->add_subcommand("explain", "Say why a gang is where it is");
  explain->add_option("FILE", a->file, "The scenario, YAML")->required();
  explain->add_option("GANG", a->gang, "Its key")->required();
  explain->add_option("--at", a->at, "When (default: how it went)")
      ->check(IsSpan());

  CLI::App* replay =
      app->add_subcommand("replay", "Decide a journal again, and compare");
  replay->add_option("FILE", a->file, "The journal")->required();
  replay->add_flag("--follow", a->follow,
                   "Take the decisions as they are recorded");

  CLI::App* demo = app->add_subcommand("demo", "Show Muster at work");
  demo->add_option("--scenarios", a->scenarios, "The folder of the stories");
}

// Options with a value, and switches, are those of ParseGenerateOptions.
void AddGenerate(CLI::App* app, Arguments* a) {
  CLI::App* generate = app->add_subcommand(
      "generate", "Make up a cluster and a workload from published figures");
  const auto option = [&](const char* key, const char* help) {
    generate->add_option_function<std::string>(
        std::string("--") + key,
        [a, key](const std::string& value) {
          const absl::Status s = SetGenerateOption(key, value, &a->generate);
          if (!s.ok())
            throw CLI::ValidationError("--" + std::string(s.message()));
        },
        help);
  };
  option("preset",
         "small (64 GPUs, the default), medium (6,212), large (100,000)");
  option("load", "Work asked for / capacity, e.g. 0.7, 0.85 (default), 0.95");
  option("seed", "Equal seeds, equal workloads (default: 1)");
  option("days", "How long jobs arrive (default: 7)");
  const auto no = [&](const char* key, const char* help) {
    generate->add_flag_callback(
        std::string("--") + key,
        [a, key] { (void)SetGenerateOption(key, "", &a->generate); }, help);
  };
  no("no-failures", "Nodes never fail");
  no("no-spot", "No node is taken back at short notice");
  no("no-elastic", "No job runs with fewer tasks");
  no("no-quotas", "Queues have neither guarantees nor limits");
  no("no-rhythm", "Jobs arrive at an even rate");
  no("no-warm-start", "The cluster is idle at time 0");
  generate->add_flag("--json", a->flags.json, "Print the statistics as JSON");
  generate->add_option("-o,--output", a->output,
                       "Write it as a scenario to this file (-: stdout)");
}

void AddFgd(CLI::App* app, Arguments* a) {
  CLI::App* fgd = app->add_subcommand(
      "fgd", "Repeat the experiment published with FGD, and compare policies");
  fgd->add_option("--data", a->fgd.data, "The folder with the openb lists")
      ->required();
  fgd->add_option("--list", a->fgd.list,
                  "Which pods: openb_pod_list_<NAME>.csv, or .csv.gz")
      ->required();
  fgd->add_option("--nodes", a->fgd.nodes,
                  "Which nodes (default: openb_node_list_gpu_node.csv)");
  fgd->add_option("--policy", a->fgd.policies,
                  "Only these policies (may be given several times)")
      ->check(CLI::IsMember(FgdPolicyNames()));
  fgd->add_option("--seeds", a->fgd.seeds, "How many")
      ->check(CLI::Range(1, 1000));
  fgd->add_option("--first-seed", a->fgd.first_seed, "The first of them");
  fgd->add_flag("--json", a->fgd.json, "Print the results as JSON");
  fgd->add_option("--plot", a->fgd.plot, "Draw the curve into this SVG file");
}

bool IsMuri(const Arguments& a) { return a.format == "muri"; }

TracePolicy TracePolicyOf(const Arguments& a) {
  return FromName<TracePolicy>(a.policy).value_or(TracePolicy::kFifo);
}

absl::StatusOr<Trace> LoadTrace(const Arguments& a, TracePolicy policy) {
  const bool muri = IsMuri(a);
  const std::string& work = muri ? a.jobs : a.pods;
  if (work.empty()) {
    return absl::InvalidArgumentError(
        std::string("trace: ") + (muri ? "--jobs" : "--pods") + " is missing");
  }
  if (muri) {
    return LoadMuri({.nodes = a.nodes,
                     .jobs = work,
                     .overhead = a.overhead,
                     .policy = policy,
                     .checkpoint_every = SpanOr(a.checkpoint_every, kHour)});
  }
  return LoadOpenb({.nodes = a.nodes,
                    .pods = work,
                    .copies = a.copies,
                    .shift = SpanOr(a.shift, kHour),
                    .policy = policy,
                    .checkpoint_every = SpanOr(a.checkpoint_every, 0)});
}

std::string TraceTitle(const Arguments& a) {
  if (IsMuri(a)) return "muri: " + a.jobs;
  return "openb: " + a.pods + ", copies " + std::to_string(a.copies);
}

int RunCompareCommand(const Arguments& a, const Console& console) {
  CompareFlags flags = a.compare;
  flags.file = a.file;
  flags.generated = a.generated;
  flags.until = a.flags.until;
  if (!a.nodes.empty()) {
    flags.trace = [&a](TracePolicy policy) { return LoadTrace(a, policy); };
    flags.trace_title = TraceTitle(a);
    flags.policy = TracePolicyOf(a);
  }
  return RunCompare(flags, console);
}

// A first argument that is neither an option nor a subcommand; else empty.
std::string UnknownSubcommand(const CLI::App& app, int argc,
                              const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == argv[1]) return "";
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  return "'" + std::string(argv[1]) + "' is none of the subcommands: " + known;
}

int RunSubcommand(const CLI::App& app, Arguments a, const Console& console) {
  a.flags.until = SpanOr(a.until, kForever);
  if (app.got_subcommand("run")) {
    return a.file.empty() ? RunGenerated(a.generated, a.flags, console)
                          : RunScenario(a.file, a.flags, console);
  }
  if (app.got_subcommand("trace")) {
    return RunTrace(TraceTitle(a) + ", " + a.policy,
                    LoadTrace(a, TracePolicyOf(a)), a.flags, console);
  }
  if (app.got_subcommand("compare")) return RunCompareCommand(a, console);
  if (app.got_subcommand("generate")) {
    return RunGenerate(a.generate, a.output, a.flags.json, console);
  }
  if (app.got_subcommand("fgd")) return RunFgdCommand(a.fgd, console);
  if (app.got_subcommand("explain")) {
    std::optional<Time> at;
    if (!a.at.empty()) at = SpanOr(a.at, 0);
    return RunExplain(a.file, a.gang, at, console);
  }
  if (app.got_subcommand("replay")) {
    return RunReplay(a.file, a.follow, console);
  }
  return RunDemo(a.scenarios, console);
}

}  // namespace

int SimMain(int argc, const char* const* argv, const Console& console) {
  CLI::App app("Simulates a cluster under Muster.", "muster-sim");
  app.set_version_flag("--version", "muster-sim " MUSTER_VERSION);
  app.require_subcommand(1);
  Arguments a;
  AddRun(&app, &a);
  AddTrace(&app, &a);
  AddCompare(&app, &a);
  AddFgd(&app, &a);
  AddGenerate(&app, &a);
  AddOthers(&app, &a);
  const std::string unknown = UnknownSubcommand(app, argc, argv);
  if (!unknown.empty()) {
    return Fail(console, absl::InvalidArgumentError(unknown));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e, console.out, console.err);
    return code == 0 ? kOk : kBadInput;
  }
  const int code = RunSubcommand(app, a, console);
  if (console.out.flush().good()) return code;
  return Fail(console,
              absl::InvalidArgumentError("standard output cannot be written"));
}

}  // namespace muster::inprocess
