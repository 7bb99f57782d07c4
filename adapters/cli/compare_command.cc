// muster-sim compare.
#include <fstream>
#include <memory>
#include <utility>

#include "adapters/cli/commands.h"
#include "adapters/cli/progress_bar.h"
#include "adapters/experiments/compare.h"
#include "adapters/report/page.h"

namespace muster::inprocess {
namespace {

absl::StatusOr<CompareInput> Applied(CompareInput input, const Variant& v) {
  const absl::Status status = ApplyVariant(v, {.config = &input.setup.config,
                                               .host = &input.host,
                                               .queues = &input.setup.queues});
  if (!status.ok()) return status;
  return input;
}

absl::StatusOr<CompareSource> FromFile(const std::string& file) {
  absl::StatusOr<Scenario> loaded = LoadScenario(file);
  if (!loaded.ok()) return loaded.status();
  auto s = std::make_shared<const Scenario>(*std::move(loaded));
  CompareSource source{.title = s->title.empty() ? file : s->title};
  source.make = [s](uint64_t, const Variant& v) {
    return Applied({.setup = s->setup,
                    .host = s->host,
                    .jobs = std::make_unique<VectorSource>(s->jobs),
                    .events = s->events},
                   v);
  };
  return source;
}

absl::StatusOr<CompareSource> FromGenerator(const std::string& text) {
  const absl::StatusOr<GenerateOptions> parsed = ParseGenerateOptions(text);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError("--generate: " +
                                      std::string(parsed.status().message()));
  }
  std::string title = ToText(*parsed);
  const std::string first = ",seed=" + std::to_string(parsed->seed);
  title.erase(title.find(first), first.size());
  CompareSource source{
      .title = title, .generated = true, .first_seed = parsed->seed};
  // All variants of a seed run before those of the next: one is kept.
  source.make = [options = *parsed, last = std::shared_ptr<const Generated>()](
                    uint64_t seed, const Variant& v) mutable {
    if (last == nullptr || last->options.seed != seed) {
      options.seed = seed;
      last = std::make_shared<const Generated>(Generate(options));
    }
    return Applied({.setup = last->setup,
                    .jobs = MakeSource(last),
                    .events = last->events},
                   v);
  };
  return source;
}

// A trace is read again for each run: its classes follow from the policy.
CompareSource FromTrace(const CompareFlags& flags) {
  CompareSource source{.title = flags.trace_title};
  source.make = [load = flags.trace, usual = flags.policy](
                    uint64_t,
                    const Variant& v) -> absl::StatusOr<CompareInput> {
    TracePolicy policy = usual;
    CompareInput input;
    const auto apply = [&] {
      return ApplyVariant(v, {.config = &input.setup.config,
                              .host = &input.host,
                              .queues = &input.setup.queues,
                              .policy = &policy});
    };
    if (absl::Status status = apply(); !status.ok()) return status;
    absl::StatusOr<Trace> trace = load(policy);
    if (!trace.ok()) return trace.status();
    input.setup = std::move(trace->setup);
    input.jobs = std::move(trace->jobs);
    input.events = std::move(trace->events);
    if (absl::Status status = apply(); !status.ok()) return status;
    return input;
  };
  return source;
}

absl::StatusOr<CompareSource> SourceOf(const CompareFlags& flags) {
  if (!flags.file.empty()) return FromFile(flags.file);
  if (flags.trace) return FromTrace(flags);
  return FromGenerator(flags.generated);
}

absl::Status CannotWrite(const std::string& file) {
  return absl::InvalidArgumentError(file + ": cannot be written");
}

// Before runs that may take long.
absl::Status CheckOutputs(const CompareFlags& flags) {
  if (!flags.page.empty()) {
    if (absl::Status s = CheckWebBundle("compare", "--page"); !s.ok()) return s;
  }
  for (const std::string& file : {flags.page, flags.json}) {
    if (file.empty() || file == "-") continue;
    if (!std::ofstream(file, std::ios::app).good()) return CannotWrite(file);
  }
  return absl::OkStatus();
}

absl::Status Write(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return out.good() ? absl::OkStatus() : CannotWrite(file);
}

absl::Status WriteResults(const CompareFlags& flags, const Comparison& c,
                          std::ostream& out) {
  const std::string json = ComparisonJson(c);
  if (flags.json == "-") {
    out << json << "\n";
  } else {
    PrintComparison(c, out);
    if (!flags.json.empty()) {
      if (absl::Status s = Write(flags.json, json + "\n"); !s.ok()) return s;
    }
  }
  if (flags.page.empty()) return absl::OkStatus();
  return Write(flags.page, HtmlPage(*FindWebBundle("compare"), c.title, json));
}

}  // namespace

int RunCompare(const CompareFlags& flags, const Console& console) {
  CompareOptions options{.seeds = flags.seeds, .until = flags.until};
  for (const std::string& text : flags.variants) {
    absl::StatusOr<Variant> variant = ParseVariant(text);
    if (!variant.ok()) return Fail(console, variant.status());
    options.variants.push_back(*std::move(variant));
  }
  if (absl::Status status = CheckOutputs(flags); !status.ok()) {
    return Fail(console, status);
  }
  absl::StatusOr<CompareSource> source = SourceOf(flags);
  if (!source.ok()) return Fail(console, source.status());
  absl::StatusOr<Comparison> comparison;
  uint64_t refused = 0;
  {
    ProgressBar bar("comparing");
    options.progress = [&](uint64_t done, uint64_t all) {
      bar.Update(done, all);
    };
    comparison = RunComparison(*source, options, &refused);
  }
  if (!comparison.ok()) return Fail(console, comparison.status());
  if (absl::Status s = WriteResults(flags, *comparison, console.out); !s.ok()) {
    return Fail(console, s);
  }
  if (refused == 0) return kOk;
  console.err << "muster-sim: " << source->title << ": " << refused
              << " gangs were refused, in all runs together\n";
  return kBadInput;
}

}  // namespace muster::inprocess
