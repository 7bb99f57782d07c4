#include "adapters/local/slurm/job_view.h"

#include <pwd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "adapters/local/client/job_id.h"
#include "adapters/local/client/user_names.h"
#include "adapters/local/edit/job_edits.h"
#include "muster/workload/parse.h"

namespace muster::local::slurm {
namespace {

constexpr int kSignals = 128;  // A code above it: the signal's number.
constexpr int kLastSignal = 64;

struct StateRow {
  std::string_view name{};
  std::string_view code{};
  bool ended = false;
};
constexpr StateRow kStates[] = {
    {"PENDING", "PD"},         {"RUNNING", "R"},
    {"SUSPENDED", "S"},        {"COMPLETING", "CG"},
    {"REQUEUED", "RQ"},        {"COMPLETED", "CD", true},
    {"CANCELLED", "CA", true}, {"FAILED", "F", true},
    {"TIMEOUT", "TO", true},   {"OUT_OF_MEMORY", "OOM", true},
    {"PREEMPTED", "PR", true}, {"NODE_FAIL", "NF", true},
};

std::string_view FailureOf(const Json& job) {
  const std::string reason = job.value("reason", "");
  if (reason == "DeadlineExceeded") return "TIMEOUT";
  if (reason == "Preempted") return "PREEMPTED";
  const bool memory = reason.find("OutOfMemory") != std::string::npos ||
                      reason.find("memory") != std::string::npos;
  if (memory && job.value("exit_code", 0) == kSignals + 9) {
    return "OUT_OF_MEMORY";
  }
  return "FAILED";
}

}  // namespace

std::string_view StateOf(const Json& job) {
  const std::string phase = job.value("phase", "");
  if (phase == "running") return "RUNNING";
  if (phase == "checkpointing" || phase == "stopping") return "COMPLETING";
  if (phase == "backoff") return "REQUEUED";
  if (phase == "suspended") return "SUSPENDED";
  if (phase == "succeeded") return "COMPLETED";
  if (phase == "failed") return FailureOf(job);
  if (phase == "forgotten") {
    return job.value("reason", "") == "Preempted" ? "PREEMPTED" : "CANCELLED";
  }
  return "PENDING";
}

std::string_view ShortState(std::string_view state) {
  for (const StateRow& row : kStates) {
    if (row.name == state) return row.code;
  }
  return state;
}

absl::StatusOr<std::string_view> ReadState(std::string_view text) {
  const std::string upper = absl::AsciiStrToUpper(std::string(text));
  std::string names;
  for (const StateRow& row : kStates) {
    if (row.name == upper || row.code == upper) return row.name;
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(row.name));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "Invalid job state specified: ", std::string(text), "; known: ", names));
}

bool HasEnded(std::string_view state) {
  return std::ranges::any_of(kStates, [&](const StateRow& row) {
    return row.ended && row.name == state;
  });
}

std::string ReasonOf(const Json& job) {
  const std::string_view state = StateOf(job);
  if (state == "PENDING" && job.value("held", false)) return "JobHeldUser";
  const std::string why = job.value("why", "");
  const std::string reason = job.value("reason", "");
  if (state == "PENDING" && !why.empty()) return why;
  return reason.empty() || !HasEnded(state) ? "None" : reason;
}

std::string NameOfJob(const Json& job) {
  std::string name = job.value("name", "");
  if (!job.contains("array_index")) return name;
  // NAME_INDEX, or NAME-INDEX
  const std::string index = absl::StrCat(job.value("array_index", 0u));
  if (name.size() > index.size() + 1 &&
      std::string_view(name).ends_with(index)) {
    name.resize(name.size() - index.size() - 1);
  }
  return name;
}

ExitCode ExitCodeOf(const Json& job) {
  const int32_t code = job.value("exit_code", 0);
  if (code > kSignals && code <= kSignals + kLastSignal) {
    return {.signal = code - kSignals};
  }
  return {.code = code};
}

std::optional<Asked> AskedOf(const Json& job) {
  if (!job.contains("manifest")) return std::nullopt;
  const auto parsed = workload::Parse(job.value("manifest", ""));
  const size_t document = job.value("document", size_t{0});
  if (!parsed.ok() || document >= parsed->size()) return std::nullopt;
  workload::Job of = (*parsed)[document].job;
  const auto edits =
      JobEditsFromJson(job.contains("edits") ? job["edits"].dump() : "");
  if (edits.ok()) {
    EditRoles(*edits, &of);
    of.active_deadline = edits->limit.value_or(of.active_deadline);
  }
  Asked asked;
  int64_t milli = 0;
  for (const workload::Role& role : of.roles) {
    const int64_t n = role.replicas;
    const int64_t cpu = role.task.Requested("cpu");
    asked.tasks += n;
    milli += n * (cpu > 0 ? cpu : 1'000);  // What no task says counts as one.
    asked.memory += n * role.task.Requested("memory");
    asked.gpu_milli += n * (role.task.Requested("nvidia.com/gpu") * 1'000 +
                            role.task.Requested("muster.dev/gpu-milli"));
  }
  asked.cpus = (milli + 999) / 1'000;
  if (of.active_deadline > 0 && of.active_deadline != kForever) {
    asked.limit = of.active_deadline / kSecond;
  }
  if (!of.roles.empty()) {
    asked.output = of.roles[0].task.output;
    asked.error = of.roles[0].task.error;
  }
  return asked;
}

std::string MemoryText(int64_t bytes) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  const int64_t mib = (bytes + kMiB - 1) / kMiB;
  if (mib == 0) return "0";
  return mib % 1'024 == 0 ? absl::StrCat(mib / 1'024, "G")
                          : absl::StrCat(mib, "M");
}

std::string GpuText(int64_t milli) {
  if (milli % 1'000 == 0) return absl::StrCat(milli / 1'000);
  return absl::StrFormat("%.3g", static_cast<double>(milli) / 1'000);
}

std::string TresText(const Asked& asked) {
  std::string text = absl::StrCat("cpu=", asked.cpus);
  if (asked.memory > 0) {
    absl::StrAppend(&text, ",mem=", MemoryText(asked.memory));
  }
  absl::StrAppend(&text, ",node=1");
  if (asked.gpu_milli > 0) {
    absl::StrAppend(&text, ",gres/gpu=", GpuText(asked.gpu_milli));
  }
  return text;
}

std::string UserName(uint32_t uid) {
  static UserNames* const names = new UserNames;  // Of the program's thread.
  return names->Of(uid);
}

absl::StatusOr<uint32_t> ReadUser(const std::string& name) {
  const passwd* user = getpwnam(name.c_str());
  if (user != nullptr) return user->pw_uid;
  uint32_t uid = 0;
  if (absl::SimpleAtoi(name, &uid)) return uid;
  return absl::InvalidArgumentError(absl::StrCat("Invalid user: ", name));
}

std::vector<std::string> Parts(std::string_view text) {
  return absl::StrSplit(std::string(text), ',', absl::SkipEmpty());
}

absl::StatusOr<JobIds> JobIds::Parse(std::string_view text) {
  JobIds ids;
  std::string part;
  bool inside = false;  // Of "[1,2]", whose comma parts no ids.
  const auto add = [&] {
    const absl::Status status = part.empty() ? absl::OkStatus() : ids.Add(part);
    part.clear();
    return status;
  };
  for (const char c : text) {
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (c != ',' || inside) {
      part += c;
      continue;
    }
    if (absl::Status s = add(); !s.ok()) return s;
  }
  if (absl::Status s = add(); !s.ok()) return s;
  return ids;
}

absl::Status JobIds::Add(std::string_view text) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid job id specified: ", std::string(text)));
  };
  Id id{.text = std::string(text)};
  const size_t bracket = text.find("_[");
  if (bracket != std::string_view::npos && text.ends_with(']')) {
    auto indices =
        ParseIndices(text.substr(bracket + 2, text.size() - bracket - 3));
    if (!indices.ok()) return wrong();
    id.element = true;
    id.indices = *std::move(indices);
    if (!absl::SimpleAtoi(std::string(text.substr(0, bracket)), &id.first)) {
      return wrong();
    }
    ids_.push_back(std::move(id));
    return absl::OkStatus();
  }
  const auto parsed = ParseJobId(text);
  if (!parsed.ok()) return wrong();
  id.first = parsed->first;
  id.last = parsed->first;
  switch (parsed->kind) {
    case JobId::Kind::kId:
      break;
    case JobId::Kind::kElement:
      id.element = true;
      if (parsed->index) id.indices.push_back(*parsed->index);
      break;
    case JobId::Kind::kRange:
      id.last = parsed->last;
      id.step = parsed->step;
      break;
    default:
      return wrong();
  }
  ids_.push_back(std::move(id));
  return absl::OkStatus();
}

bool JobIds::Has(size_t i, const Json& job) const {
  const Id& of = ids_[i];
  const uint64_t id = job.value("id", uint64_t{0});
  const uint64_t array = job.value("array", uint64_t{0});
  if (of.element) {
    return array == of.first &&
           (of.indices.empty() ||
            std::ranges::find(of.indices, job.value("array_index", 0u)) !=
                of.indices.end());
  }
  const auto in = [&](uint64_t n) {
    return n >= of.first && n <= of.last && (n - of.first) % of.step == 0;
  };
  // An array's id is all of it; an element has a number of its own, too.
  return in(id) || (array != 0 && in(array));
}

bool JobIds::Has(const Json& job) const {
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (Has(i, job)) return true;
  }
  return false;
}

}  // namespace muster::local::slurm
