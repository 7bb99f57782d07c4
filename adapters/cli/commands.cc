#include "adapters/cli/commands.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>

#include "adapters/cli/progress_bar.h"
#include "adapters/experiments/variant.h"
#include "adapters/inprocess/timeline.h"
#include "adapters/report/page.h"
#include "adapters/report/recorder.h"
#include "adapters/scenario/expectations.h"
#include "adapters/text/quantity.h"
#include "muster/wire/journal.h"
#include "muster/wire/replay.h"

namespace muster::inprocess {
namespace {

// More gangs than this make no readable picture.
constexpr size_t kMaxPicture = 40;

std::string Hex(uint64_t hash) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%016llx",
                static_cast<unsigned long long>(hash));
  return buffer;
}

// Runs to the end with a journal, if one is asked for, and audits.
absl::Status RunJournalled(Simulator* simulator, const RunFlags& flags) {
  std::unique_ptr<wire::JournalWriter> journal;
  if (!flags.journal.empty()) {
    absl::StatusOr<std::unique_ptr<wire::JournalWriter>> created =
        wire::JournalWriter::Create(flags.journal,
                                    simulator->scheduler().State());
    if (!created.ok()) {
      return absl::InvalidArgumentError(created.status().message());
    }
    journal = *std::move(created);
    simulator->SetJournal(journal.get());
  }
  absl::Status status = simulator->Run(flags.until);
  simulator->SetJournal(nullptr);
  if (journal != nullptr && status.ok()) status = journal->Flush();
  return status.ok() ? simulator->Audit() : status;
}

void Print(const Report& report, bool json, std::ostream& out) {
  if (json) {
    out << ReportJson(report) << "\n";
  } else {
    PrintReport(report, out);
  }
}

// Gangs that can never run and events that were refused are bad input, unless
// the scenario says that it is about them.
int JudgeInput(const Scenario& s, const Report& report,
               const Console& console) {
  int code = kOk;
  for (const Refusal& r : report.refusals) {
    code = kBadInput;
    console.err << At(s.file, {.line = r.line, .column = 1},
                      r.what + ": " + r.error)
                       .message()
                << "\n";
  }
  for (const std::string& gang : report.never) {
    if (std::ranges::find(s.expect.waiting, gang, &ExpectedWaiting::gang) !=
        s.expect.waiting.end()) {
      continue;
    }
    code = kBadInput;
    std::string why = "can never run";
    const auto left =
        std::ranges::find(report.left_over_first, gang, &LeftOver::gang);
    if (left != report.left_over_first.end()) why = left->reason;
    const auto mark = s.gang_marks.find(gang);
    console.err << At(s.file,
                      mark == s.gang_marks.end() ? Mark{} : mark->second,
                      "gang " + gang + ": " + why)
                       .message()
                << "\n";
  }
  return code;
}

// Before a run that may take long: can its page be written?
absl::Status CheckPage(const RunFlags& flags) {
  if (flags.report.empty()) return absl::OkStatus();
  if (absl::Status s = CheckWebBundle("report"); !s.ok()) return s;
  if (std::ofstream(flags.report, std::ios::app).good()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(flags.report + ": cannot be written");
}

absl::Status WritePage(const RunFlags& flags, const Report& report,
                       std::string_view story, const Simulator& simulator,
                       Recorder* recorder) {
  if (flags.report.empty()) return absl::OkStatus();
  const std::string json =
      ReportPageJson(report, recorder->Finish(simulator), story);
  std::ofstream out(flags.report, std::ios::binary);
  out << HtmlPage(*FindWebBundle("report"), report.title, json);
  out.close();
  if (out.good()) return absl::OkStatus();
  return absl::InvalidArgumentError(flags.report + ": cannot be written");
}

absl::Status ApplyFlags(const RunFlags& flags, HostModel* host, Setup* setup) {
  const absl::StatusOr<Settings> settings =
      ParseSettings("--set", flags.settings);
  if (!settings.ok()) return settings.status();
  return ApplySettings(
      "--set", *settings,
      {.config = &setup->config, .host = host, .queues = &setup->queues});
}

absl::StatusOr<Simulator> MakeSimulator(const Scenario& s, JobSource* jobs,
                                        SimulatorOptions options) {
  options.host = s.host;
  return Simulator::Create(s.setup, jobs, s.events, std::move(options));
}

}  // namespace

int Fail(const Console& console, const absl::Status& status) {
  console.err << "muster-sim: " << status.message() << "\n";
  return absl::IsInternal(status) ? kUnexpected : kBadInput;
}

int RunScenario(const std::string& file, const RunFlags& flags,
                const Console& console) {
  if (absl::Status status = CheckPage(flags); !status.ok()) {
    return Fail(console, status);
  }
  absl::StatusOr<Scenario> s = LoadScenario(file);
  if (!s.ok()) return Fail(console, s.status());
  if (absl::Status status = ApplyFlags(flags, &s->host, &s->setup);
      !status.ok()) {
    return Fail(console, status);
  }
  VectorSource jobs(s->jobs);
  Timeline timeline;
  ProgressBar bar("simulating");
  const bool picture = s->jobs.size() <= kMaxPicture;
  const bool expects = !s->expect.intervals.empty() ||
                       !s->expect.together.empty() ||
                       s->expect.stopped.has_value();
  Observer* observer = picture || expects ? &timeline : nullptr;
  Recorder recorder(s->setup.config, observer);
  if (!flags.report.empty()) observer = &recorder;
  absl::StatusOr<Simulator> simulator = MakeSimulator(
      *s, &jobs,
      {.observer = observer,
       .allocations = console.allocations,
       .progress = [&](uint64_t done, uint64_t all) { bar.Update(done, all); },
       .validate = flags.validate});
  if (!simulator.ok())
    return Fail(console,
                At(file, {}, std::string(simulator.status().message())));
  if (absl::Status status = RunJournalled(&*simulator, flags); !status.ok()) {
    return Fail(console, status);
  }
  const Report report =
      MakeReport(s->title, *simulator, console.allocations != nullptr);
  if (picture && !flags.json) {
    Print(timeline, simulator->now(), 50, console.out);
  }
  Print(report, flags.json, console.out);
  if (absl::Status status =
          WritePage(flags, report, s->story, *simulator, &recorder);
      !status.ok()) {
    return Fail(console, status);
  }
  const CheckReport checks = Check(*s, timeline, simulator->scheduler());
  for (const std::string& failure : checks.failures) {
    console.err << failure << "\n";
  }
  if (!checks.failures.empty()) return kUnexpected;
  return JudgeInput(*s, report, console);
}

int RunTrace(const std::string& title, absl::StatusOr<Trace> trace,
             const RunFlags& flags, const Console& console) {
  if (!trace.ok()) return Fail(console, trace.status());
  HostModel host;
  if (absl::Status status = ApplyFlags(flags, &host, &trace->setup);
      !status.ok()) {
    return Fail(console, status);
  }
  if (absl::Status status = CheckPage(flags); !status.ok()) {
    return Fail(console, status);
  }
  ProgressBar bar("simulating");
  Recorder recorder(trace->setup.config);
  absl::StatusOr<Simulator> simulator = Simulator::Create(
      trace->setup, trace->jobs.get(), std::move(trace->events),
      {.host = host,
       .observer = flags.report.empty() ? nullptr : &recorder,
       .allocations = console.allocations,
       .progress = [&](uint64_t done, uint64_t all) { bar.Update(done, all); },
       .validate = flags.validate});
  if (!simulator.ok()) return Fail(console, simulator.status());
  if (absl::Status status = RunJournalled(&*simulator, flags); !status.ok()) {
    return Fail(console, status);
  }
  const Report report =
      MakeReport(title, *simulator, console.allocations != nullptr);
  Print(report, flags.json, console.out);
  if (absl::Status status = WritePage(flags, report, {}, *simulator, &recorder);
      !status.ok()) {
    return Fail(console, status);
  }
  if (report.counts.refused == 0 && report.never.empty()) return kOk;
  console.err << "muster-sim: " << title << ": " << report.counts.refused
              << " gangs were refused, " << report.never.size()
              << " can never run here\n";
  return kBadInput;
}

int RunReplay(const std::string& file, bool follow, const Console& console) {
  absl::StatusOr<wire::JournalReader> reader = wire::JournalReader::Open(file);
  if (!reader.ok()) return Fail(console, reader.status());
  const absl::StatusOr<wire::Replayed> replayed = wire::Replay(
      &*reader, follow ? wire::ReplayMode::kFollow : wire::ReplayMode::kVerify);
  if (!replayed.ok()) {
    console.err << "muster-sim: " << replayed.status().message() << "\n";
    // A plan that comes out otherwise is no fault of the file.
    return !follow && absl::IsFailedPrecondition(replayed.status())
               ? kUnexpected
               : kBadInput;
  }
  const wire::ReplayStats& stats = replayed->stats;
  console.out << stats.events << " events, " << stats.plans << " plans, "
              << stats.decisions << " decisions, "
              << (follow ? "taken as they are recorded"
                         : "decided again: all equal")
              << "\nstate hash  " << Hex(replayed->scheduler.StateHash())
              << "\n";
  if (!reader->torn_tail().has_value()) return kOk;
  console.err << "muster-sim: " << file << ": record " << reader->number() + 1
              << " at byte " << reader->torn_tail()->offset
              << " is torn: " << reader->torn_tail()->bytes
              << " bytes are left out, everything before is replayed\n";
  return kBadInput;
}

}  // namespace muster::inprocess
