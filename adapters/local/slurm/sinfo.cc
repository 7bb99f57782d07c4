// sinfo: the machine, as the one node of every partition.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/client/json_list.h"
#include "adapters/local/slurm/command.h"
#include "adapters/local/slurm/format.h"
#include "adapters/local/slurm/job_view.h"
#include "adapters/local/slurm/programs.h"

namespace muster::local::slurm {
namespace {

constexpr char kUsual[] = "%9P %.5a %.10l %.6D %.6t %N";
constexpr char kLong[] = "%9P %.5a %.10l %.6D %.11T %N";
constexpr char kNodes[] = "%9N %.6D %9P %6t";
constexpr char kLongNodes[] = "%9N %.6D %9P %.11T %.4c %.8m %20G";
constexpr char kSummary[] = "%9P %.5a %.10l %.16F %N";

struct Row {
  const Json& node;
  const Json& queue;
};

int64_t Amount(const Json& node, const char* of, const char* resource) {
  const auto it = node.find(of);
  return it == node.end() ? 0 : it->value(resource, int64_t{0});
}

std::string_view StateOfNode(const Json& node) {
  const Json used = node.value("used", Json::object());
  const bool idle = std::ranges::all_of(used, [](const Json& amount) {
    return !amount.is_number_integer() || amount.get<int64_t>() == 0;
  });
  if (node.contains("drained")) return idle ? "drained" : "draining";
  const int64_t cpu = Amount(node, "used", "cpu");
  if (cpu > 0 && cpu >= Amount(node, "capacity", "cpu")) return "allocated";
  return idle ? "idle" : "mixed";
}

std::string ShortStateOfNode(const Row& r) {
  const std::string_view state = StateOfNode(r.node);
  for (const auto& [of, text] :
       {std::pair("allocated", "alloc"), std::pair("mixed", "mix"),
        std::pair("drained", "drain"), std::pair("draining", "drng")}) {
    if (state == of) return text;
  }
  return "idle";
}

std::string Available(const Row& r) {
  if (r.queue.value("closed", false)) return "down";
  return r.queue.value("held", false) ? "inact" : "up";
}

// Allocated, idle, other, all.
std::string Cpus(const Row& r) {
  const int64_t all = Amount(r.node, "capacity", "cpu") / 1'000;
  const int64_t used =
      std::min(all, (Amount(r.node, "used", "cpu") + 999) / 1'000);
  return absl::StrCat(used, "/", all - used, "/0/", all);
}

std::string Nodes(const Row& r) {
  const std::string_view state = StateOfNode(r.node);
  if (state == "drained") return "0/0/1/1";
  return state == "idle" ? "0/1/0/1" : "1/0/0/1";
}

std::string Gres(const Row& r) {
  std::map<std::string, int> models;
  for (const Json& device : ListOf(r.node, "devices")) {
    std::string model = device.value("model", "");
    std::ranges::replace(model, ' ', '_');
    ++models[model];
  }
  std::vector<std::string> texts;
  for (const auto& [model, count] : models) {
    texts.push_back(model.empty() ? absl::StrCat("gpu:", count)
                                  : absl::StrCat("gpu:", model, ":", count));
  }
  return texts.empty() ? "(null)" : absl::StrJoin(texts, ",");
}

struct Field {
  char letter = 0;
  const char* head = "";
  std::string (*text)(const Row& row) = nullptr;
};

// NOLINTBEGIN: one line a field.
// clang-format off
const Field kFields[] = {
    {'P', "PARTITION", [](const Row& r) { return r.queue.value("name", ""); }},
    {'R', "PARTITION", [](const Row& r) { return r.queue.value("name", ""); }},
    {'a', "AVAIL", Available},
    {'l', "TIMELIMIT", [](const Row&) { return std::string("infinite"); }},
    {'D', "NODES", [](const Row&) { return std::string("1"); }},
    {'t', "STATE", ShortStateOfNode},
    {'T', "STATE", [](const Row& r) { return std::string(StateOfNode(r.node)); }},
    {'N', "NODELIST", [](const Row& r) { return r.node.value("name", ""); }},
    {'n', "HOSTNAMES", [](const Row& r) { return r.node.value("name", ""); }},
    {'c', "CPUS", [](const Row& r) { return absl::StrCat(Amount(r.node, "capacity", "cpu") / 1'000); }},
    {'C', "CPUS(A/I/O/T)", Cpus},
    {'m', "MEMORY", [](const Row& r) { return absl::StrCat(Amount(r.node, "capacity", "memory") >> 20); }},
    {'e', "FREE_MEM", [](const Row& r) { return absl::StrCat((Amount(r.node, "capacity", "memory") - Amount(r.node, "used", "memory")) >> 20); }},
    {'G', "GRES", Gres},
    {'F', "NODES(A/I/O/T)", Nodes},
    {'A', "NODES(A/I)", [](const Row& r) { return Nodes(r).substr(0, 3); }},
    {'E', "REASON", [](const Row&) { return std::string("none"); }},
};
// clang-format on
// NOLINTEND

const OtherOption kOthers[] = {
    {"-a,--all", Value::kNone, false, "all partitions are seen"},
    {"-e,--exact", Value::kNone, false, "there is one node"},
    {"-r,--responding", Value::kNone, false, "the node responds"},
    {"-n,--nodes", Value::kSome, true, "there is one node"},
    {"-d,--dead", Value::kNone, true, "there is one node, and it answers"},
    {"-M,--clusters", Value::kSome, true, "there is one cluster"},
    {"-R,--list-reasons", Value::kNone, true, "no node is out of order"},
    {"-O,--Format", Value::kSome, true, "use --format"},
    {"-S,--sort", Value::kSome, true, "lines are in the order of names"},
    {"-i,--iterate", Value::kSome, true, "use watch(1)"},
    {"-t,--states", Value::kSome, true, "there is one node"},
    {"-T,--reservation", Value::kNone, true, "there are no reservations"},
    {"--json", Value::kMaybe, true, "use muster --json nodes"},
    {"--yaml", Value::kMaybe, true, "use muster --json nodes"},
};

struct Options {
  std::string format{}, partitions{};
  bool nodes = false, no_header = false, is_long = false, summary = false;
};

void AddOptions(Command* command, Options* o) {
  CLI::App& app = command->app();
  app.add_flag("-N,--Node", o->nodes, "Lines of nodes");
  app.add_flag("-l,--long", o->is_long, "More fields");
  app.add_flag("-s,--summarize", o->summary, "Fewer lines");
  app.add_flag("-h,--noheader", o->no_header, "No line of headings");
  app.add_option("-p,--partition", o->partitions, "These queues");
  app.add_option("-o,--format", o->format,
                 "Fields: %P %R %a %l %D %t %T %N %n %c %C %m %e %G %F %A %E")
      ->envname("SINFO_FORMAT");
  command->Add(kOthers);
}

absl::StatusOr<Format> FormatOf(const Options& o) {
  std::string text = o.format;
  if (text.empty() && o.nodes) text = o.is_long ? kLongNodes : kNodes;
  if (text.empty() && o.summary) text = kSummary;
  if (text.empty()) text = o.is_long ? kLong : kUsual;
  std::string letters;
  for (const Field& field : kFields) letters += field.letter;
  return Format::Parse(text, letters);
}

const Field& FieldOf(char letter) {
  return *std::ranges::find(kFields, letter, &Field::letter);
}

}  // namespace

int Sinfo(const Start& start) {
  Command command("sinfo", "The machine and its queues.");
  Options o;
  AddOptions(&command, &o);
  int code = 0;
  if (!command.Parse(start.arguments, start.to, nullptr, &code)) return code;
  const auto format = FormatOf(o);
  if (!format.ok()) return command.Fail(start.to, format.status());
  Session session = start.Open();
  const auto machine = session.Ask("GET", "/v1/nodes");
  if (!machine.ok()) return command.Fail(start.to, machine.status());
  const auto queues = session.Ask("GET", "/v1/queues");
  if (!queues.ok()) return command.Fail(start.to, queues.status());
  if (!o.no_header) {
    start.to.out << format->Line(
        [](char letter) { return std::string(FieldOf(letter).head); });
  }
  const std::vector<std::string> wanted = Parts(o.partitions);
  for (const Json& queue : ListOf(*queues, "queues")) {
    const std::string name = queue.value("name", "");
    if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end()) {
      continue;
    }
    for (const Json& node : ListOf(*machine, "nodes")) {
      const Row row{node, queue};
      start.to.out << format->Line(
          [&](char letter) { return FieldOf(letter).text(row); });
    }
  }
  return kDone;
}

}  // namespace muster::local::slurm
