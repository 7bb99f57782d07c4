#include "adapters/workloads/generate_stats.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "adapters/text/quantity.h"
#include "adapters/workloads/generate_cluster.h"
#include "adapters/workloads/generate_model.h"

namespace muster::inprocess {
namespace {

constexpr char kOpenb[] = "openb (ATC'23)";
constexpr char kHelios[] = "Helios (SC'21)";
constexpr char kPhilly[] = "Philly (with Muri)";

struct Row {
  const GeneratedJob* job;
  const JobSize* size;
  const TaskAsk* ask;

  double gpus() const { return ask->gpu_milli * ask->tasks / 1000.0; }
  double gpu_seconds() const { return gpus() * job->work; }
};

std::string Fixed(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  return buffer;
}

std::string Percent(double share) { return Fixed(100 * share, 1) + " %"; }

using Rows = std::vector<Row>;
using Test = std::function<bool(const Row&)>;

bool UsesGpu(const Row& r) { return r.size->gpus > 0; }
bool Small(const Row& r) { return r.size->gpus == 1; }
bool Large(const Row& r) { return r.size->gpus >= 8; }
bool Shares(const Row& r) { return r.size->shares; }
bool WholeOne(const Row& r) { return Small(r) && !Shares(r); }
bool Eight(const Row& r) { return r.size->gpus == 8; }

Row RowOf(const GeneratedJob& job) {
  const JobSize& size = JobSizes()[job.size];
  return {&job, &size, &size.asks[job.ask]};
}

Rows ArrivalsOf(const Generated& g) {
  Rows rows;
  for (const GeneratedJob& job : g.jobs) {
    if (job.submit > 0) rows.push_back(RowOf(job));
  }
  return rows;
}

double Count(const Rows& rows, const Test& test) {
  return static_cast<double>(std::ranges::count_if(rows, test));
}

double Ratio(double a, double b) { return b > 0 ? a / b : 0; }

double TimeOfUse(const Rows& rows, const Test& test) {
  double sum = 0;
  for (const Row& r : rows) sum += test(r) ? r.gpu_seconds() : 0;
  return sum;
}

double RunTime(const Rows& rows, const Test& test, double quantile) {
  std::vector<uint32_t> times;
  for (const Row& r : rows) {
    if (test(r)) times.push_back(r.job->work);
  }
  if (times.empty()) return 0;
  std::ranges::sort(times);
  return times[static_cast<size_t>(quantile *
                                   static_cast<double>(times.size()))];
}

double MeanOver(const Rows& rows, const Test& test,
                const std::function<double(const Row&)>& value) {
  double sum = 0;
  for (const Row& r : rows) sum += test(r) ? value(r) : 0;
  return Ratio(sum, Count(rows, test));
}

class Statistics {
 public:
  explicit Statistics(const Generated& g)
      : g_(g),
        rows_(ArrivalsOf(g)),
        days_(static_cast<double>(g.options.hours) / 24) {}

  std::vector<Statistic> All() {
    Cluster();
    Sizes();
    RunTimes();
    Arrivals();
    Tenants();
    Mishaps();
    return std::move(all_);
  }

 private:
  void Add(const char* key, const char* quantity, double value, Unit unit,
           std::string published = {}, std::string source = {}) {
    all_.push_back(
        {key, quantity, value, unit, std::move(published), std::move(source)});
  }

  void Cluster() {
    const bool openb = g_.options.preset == Preset::kMedium;
    Add("gpus", "GPUs", static_cast<double>(g_.gpus), Unit::kCount,
        openb ? "6212" : "", openb ? kOpenb : "");
    Add("nodes", "nodes", static_cast<double>(g_.setup.nodes.size()),
        Unit::kCount, openb ? "1213" : "", openb ? kOpenb : "");
    Add("jobs", "jobs", static_cast<double>(g_.jobs.size()), Unit::kCount);
    Add("jobs_at_start", "  there at time 0, at work",
        static_cast<double>(g_.jobs.size() - rows_.size()), Unit::kCount);
    Add("jobs_a_day", "  arrive a day",
        static_cast<double>(rows_.size()) / days_, Unit::kCount);
    const int64_t end = g_.options.hours * 3600;
    double asked = 0;
    for (const GeneratedJob& j : g_.jobs) {
      const int64_t seconds = std::min<int64_t>(j.work, end - j.submit);
      asked += RowOf(j).gpus() * static_cast<double>(seconds);
    }
    Add("load", "load: GPU time they ask / GPU time there is",
        asked / static_cast<double>(g_.gpus * end), Unit::kShare,
        Percent(static_cast<double>(g_.options.load_permille) / 1000),
        "asked for");
  }

  void Sizes() {
    const double all = Count(rows_, UsesGpu);
    const double time = TimeOfUse(rows_, UsesGpu);
    Add("no_gpu", "jobs without a GPU", 1 - Ratio(all, Total()), Unit::kShare,
        "13.3 %", kOpenb);
    Add("small_jobs", "GPU jobs: one GPU or a part of one",
        Ratio(Count(rows_, Small), all), Unit::kShare, "> 50 %", kHelios);
    Add("sharing_jobs", "  of these, a part of one",
        Ratio(Count(rows_, Shares), Count(rows_, Small)), Unit::kShare,
        "44.0 %", kOpenb);
    Add("small_time", "  their part of the GPU time",
        Ratio(TimeOfUse(rows_, Small), time), Unit::kShare, "3 to 12 %",
        kHelios);
    Add("large_jobs", "GPU jobs: 8 GPUs or more",
        Ratio(Count(rows_, Large), all), Unit::kShare, "< 10 %", kHelios);
    Add("large_time", "  their part of the GPU time",
        Ratio(TimeOfUse(rows_, Large), time), Unit::kShare, "about 60 %",
        kHelios);
    Add("mean_gpus", "GPUs of a GPU job, mean, parts counted as one",
        MeanOver(rows_, UsesGpu, [](const Row& r) { return r.size->gpus; }),
        Unit::kNumber, "3.72", kHelios);
  }

  void RunTimes() {
    Add("run_mean", "run time of GPU jobs, mean",
        MeanOver(rows_, UsesGpu, [](const Row& r) { return r.job->work; }),
        Unit::kSeconds, "7.9 h; 1.8 h", "Philly (ATC'19); Helios (SC'21)");
    Add("run_p50_sharing", "  a part of a GPU: median",
        RunTime(rows_, Shares, 0.5), Unit::kSeconds, "6 min", kOpenb);
    Add("run_p90_sharing", "    90 % are below", RunTime(rows_, Shares, 0.9),
        Unit::kSeconds, "2 h", kOpenb);
    Add("run_p50_one", "  one GPU: median", RunTime(rows_, WholeOne, 0.5),
        Unit::kSeconds, "9.8 min", kOpenb);
    Add("run_p90_one", "    90 % are below", RunTime(rows_, WholeOne, 0.9),
        Unit::kSeconds, "1.5 h", kOpenb);
    Add("run_p99_one", "    99 % are below", RunTime(rows_, WholeOne, 0.99),
        Unit::kSeconds, "47.4 h", kOpenb);
    Add("run_p50_eight", "  8 GPUs: median", RunTime(rows_, Eight, 0.5),
        Unit::kSeconds, "2.1 h", kPhilly);
    Add("run_p90_eight", "    90 % are below", RunTime(rows_, Eight, 0.9),
        Unit::kSeconds, "3.6 d", kPhilly);
  }

  void Arrivals() {
    std::array<double, 24> hours{};
    std::array<double, 7> days{};
    for (const Row& r : rows_) {
      ++hours[r.job->submit / 3600 % 24];
      ++days[r.job->submit / 86'400 % 7];
    }
    // Both only where each hour or day is there equally often.
    if (g_.options.hours % 24 == 0) {
      Add("busiest_hour", "busiest hour of the day / mean",
          24 * Ratio(std::ranges::max(hours), Total()), Unit::kNumber, "1.62",
          kOpenb);
      Add("quietest_hour", "quietest hour / mean",
          24 * Ratio(std::ranges::min(hours), Total()), Unit::kNumber, "0.40",
          kOpenb);
    }
    if (g_.options.hours % (7 * 24) == 0) {
      Add("busiest_day", "busiest day of the week / mean",
          7 * Ratio(std::ranges::max(days), Total()), Unit::kNumber, "1.41",
          kOpenb);
      Add("quietest_day", "quietest day / mean",
          7 * Ratio(std::ranges::min(days), Total()), Unit::kNumber, "0.55",
          kOpenb);
    }
  }

  void Tenants() {
    const bool medium = g_.options.preset == Preset::kMedium;
    const bool large = g_.options.preset == Preset::kLarge;
    const size_t first = FirstTenant(g_.setup);
    Add("tenants", "tenants",
        static_cast<double>(g_.setup.queues.size() - first), Unit::kCount,
        medium  ? "14"
        : large ? "105"
                : "",
        medium  ? "Philly (ATC'19)"
        : large ? kHelios
                : "");
    Add("first_tenant", "  the largest one's jobs",
        Ratio(Count(rows_, [&](const Row& r) { return r.job->queue == first; }),
              Total()),
        Unit::kShare);
    Add("high_one", "one-GPU jobs of class high",
        Ratio(Count(rows_,
                    [](const Row& r) {
                      return WholeOne(r) && r.job->priority == kHigh;
                    }),
              Count(rows_, WholeOne)),
        Unit::kShare, "82.0 %", kOpenb);
    if (g_.models.size() > 1) {
      const Test to_eight = [](const Row& r) {
        return UsesGpu(r) && r.size->gpus <= 8;
      };
      Add("names_model", "GPU jobs up to 8 GPUs that name a model",
          Ratio(Count(rows_,
                      [&](const Row& r) {
                        return to_eight(r) &&
                               r.job->model != GeneratedJob::kAnyModel;
                      }),
                Count(rows_, to_eight)),
          Unit::kShare, "33 %", kOpenb);
    }
    Add("elastic", "elastic jobs",
        Ratio(Count(rows_, [](const Row& r) { return r.job->elastic; }),
              Total()),
        Unit::kShare);
  }

  void Mishaps() {
    double down = 0, notices = 0, spot = 0;
    for (const WorldEvent& e : g_.events) {
      const EventBody& body = std::get<EventBody>(e.what);
      down += std::holds_alternative<NodeDown>(body) ? 1 : 0;
      notices += std::holds_alternative<SpotNotice>(body) ? 1 : 0;
    }
    for (const Node& n : g_.setup.nodes) spot += IsSpot(n) ? 1 : 0;
    const auto nodes = static_cast<double>(g_.setup.nodes.size());
    if (g_.options.failures) {
      Add("failures", "node failures", down - notices, Unit::kCount);
      Add("failure_rate", "  in 1,000 nodes and days",
          Ratio(1000 * (down - notices), nodes * days_), Unit::kNumber,
          "6.50; 3.79", "RSC-1 (HPCA'25); Llama 3");
    }
    if (g_.options.spot) {
      Add("spot_nodes", "spot nodes", spot, Unit::kCount);
      Add("spot_rate", "  taken back a node and day",
          Ratio(notices, spot * days_), Unit::kNumber);
    }
  }

  double Total() const { return static_cast<double>(rows_.size()); }

  const Generated& g_;
  const Rows rows_;
  const double days_;
  std::vector<Statistic> all_;
};

std::string Shown(const Statistic& s) {
  switch (s.unit) {
    case Unit::kCount:
      return Fixed(s.value, 0);
    case Unit::kNumber:
      return Fixed(s.value, 2);
    case Unit::kShare:
      return Percent(s.value);
    case Unit::kSeconds:
      return FormatSpan(static_cast<Duration>(s.value) * kSecond);
  }
  return {};
}

}  // namespace

std::vector<Statistic> StatisticsOf(const Generated& workload) {
  return Statistics(workload).All();
}

void PrintStatistics(const Generated& workload, std::ostream& out) {
  std::vector<std::array<std::string, 4>> rows = {
      {"", "here", "published", "source"}};
  for (const Statistic& s : StatisticsOf(workload)) {
    rows.push_back({s.quantity, Shown(s), s.published, s.source});
  }
  std::array<size_t, 4> width{};
  for (const auto& row : rows) {
    for (size_t c = 0; c < 4; ++c) width[c] = std::max(width[c], row[c].size());
  }
  out << ToText(workload.options) << "\n";
  for (const auto& row : rows) {
    const auto pad = [&](size_t c) {
      return std::string(width[c] - row[c].size(), ' ');
    };
    std::string line = "  " + row[0] + pad(0) + "  " + pad(1) + row[1];
    if (!row[2].empty()) line += "  " + pad(2) + row[2] + "  " + row[3];
    out << line << "\n";
  }
}

std::string StatisticsJson(const Generated& workload) {
  nlohmann::ordered_json j;
  j["options"] = ToText(workload.options);
  for (const Statistic& s : StatisticsOf(workload)) {
    auto& entry = j["statistics"][s.key];
    entry = {{"quantity", s.quantity.substr(s.quantity.find_first_not_of(' '))},
             {"value", s.value}};
    if (!s.published.empty()) {
      entry["published"] = s.published;
      entry["source"] = s.source;
    }
  }
  return j.dump(2);
}

}  // namespace muster::inprocess
