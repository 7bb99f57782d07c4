#include "adapters/inprocess/metrics.h"

#include <algorithm>

namespace muster::inprocess {
namespace {

double Seconds(Duration d) { return static_cast<double>(d) / kSecond; }

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

Quantiles QuantilesOf(std::vector<Duration>* spans) {
  Quantiles q;
  q.count = spans->size();
  if (spans->empty()) return q;
  std::sort(spans->begin(), spans->end());
  double sum = 0;
  for (Duration d : *spans) sum += Seconds(d);
  q.mean = sum / static_cast<double>(q.count);
  auto at = [&](uint64_t percent) {
    return Seconds((*spans)[std::min(q.count - 1, q.count * percent / 100)]);
  };
  q.p50 = at(50);
  q.p90 = at(90);
  q.p99 = at(99);
  q.max = Seconds(spans->back());
  return q;
}

uint8_t SizeOf(int64_t device_milli) {
  if (device_milli == 0) return 0;
  if (device_milli < 1000) return 1;
  static constexpr int64_t kUpTo[] = {1, 4, 8, 16, 32, 64};
  const int64_t devices = (device_milli + 999) / 1000;
  uint8_t size = 2;
  for (int64_t limit : kUpTo) {
    if (devices <= limit) return size;
    ++size;
  }
  return size;
}

template <class F>
void Metrics::EachDay(Time from, Time to, F f) {
  constexpr Duration kDay = 24 * kHour;
  while (from < to) {
    const Time day = (from - first_submission) / kDay;
    const Time end = std::min(to, first_submission + (day + 1) * kDay);
    if (static_cast<size_t>(day) >= days_.size()) {
      days_.resize(static_cast<size_t>(day) + 1);
    }
    f(days_[static_cast<size_t>(day)], Seconds(end - from));
    from = end;
  }
}

void Metrics::Advance(Time now, const UsageTotals& totals) {
  const Time since = std::max(since_, std::min(now, first_submission));
  since_ = std::max(since_, now);
  if (now <= since) return;
  const double seconds = Seconds(now - since);
  used_.resize(totals.used.size());
  capacity_.resize(totals.used.size());
  for (size_t k = 0; k < used_.size(); ++k) {
    used_[k] += seconds * static_cast<double>(totals.used[k]);
    capacity_[k] += seconds * static_cast<double>(totals.capacity[k]);
  }
  if (device_kind_ >= totals.used.size()) return;
  const double used = static_cast<double>(totals.used[device_kind_]);
  const double capacity = static_cast<double>(totals.capacity[device_kind_]);
  EachDay(since, now, [&](Day& d, double s) {
    d.used += s * used / kWholeDevice;
    d.capacity += s * capacity / kWholeDevice;
    d.free += s * static_cast<double>(totals.free_milli);
    d.partly += s * static_cast<double>(totals.partly_free_milli);
    d.whole += s * static_cast<double>(totals.whole_free);
    d.scattered +=
        s * static_cast<double>(totals.whole_free - totals.whole_on_free_node);
  });
}

void Metrics::Submitted(Time at, int64_t device_milli, Duration work) {
  ++counts.submitted;
  if (first_submission == kForever) {
    first_submission = at;
    last_end = std::max(last_end, at);
  }
  if (device_milli == 0) return;
  const double devices = static_cast<double>(device_milli) / kWholeDevice;
  EachDay(at, at + work, [&](Day& d, double s) { d.offered += s * devices; });
}

void Metrics::Ended(Time at, const Finished& f) {
  ++counts.finished;
  finished.push_back(f);
  last_end = std::max(last_end, at);
}

void Metrics::Planned(const Plan& plan, double seconds, uint64_t allocations) {
  ++counts.passes;
  counts.decisions += plan.decisions.size();
  counts.steps += plan.steps;
  counts.budget_exhausted += plan.budget_exhausted ? 1 : 0;
  counts.pass_allocations += allocations;
  if (plan.decisions.empty()) {
    ++counts.quiet_passes;
    counts.quiet_pass_allocations += allocations;
  }
  for (const Decision& d : plan.decisions) {
    ++counts.by_kind[static_cast<size_t>(d.kind)];
  }
  for (const Preemption& p : plan.preemptions) {
    ++counts.preemptions;
    counts.cheapest += p.gap() == 0 ? 1 : 0;
    counts.preempted_gpu_s += static_cast<double>(p.cost) / 1e3;
    counts.preempted_least_gpu_s += static_cast<double>(p.bound) / 1e3;
  }
  pass_seconds += seconds;
  worst_pass_seconds = std::max(worst_pass_seconds, seconds);
}

uint16_t Metrics::ClassOf(const std::string& key) {
  const auto [it, fresh] =
      class_index_.try_emplace(key, static_cast<uint16_t>(classes.size()));
  if (fresh) classes.push_back(key);
  return it->second;
}

double Metrics::Utilisation(ResourceKind kind) const {
  return kind < used_.size() ? Ratio(used_[kind], capacity_[kind]) : 0;
}

Day Metrics::Sum() const {
  Day sum;
  for (const Day& d : days_) {
    sum.used += d.used;
    sum.capacity += d.capacity;
    sum.offered += d.offered;
    sum.free += d.free;
    sum.partly += d.partly;
    sum.whole += d.whole;
    sum.scattered += d.scattered;
  }
  return sum;
}

double Metrics::OfferedLoad() const {
  const Day sum = Sum();
  return Ratio(sum.offered, sum.capacity);
}

double Metrics::PartlyUsedShare() const {
  const Day sum = Sum();
  return Ratio(sum.partly, sum.free);
}

double Metrics::ScatteredShare() const {
  const Day sum = Sum();
  return Ratio(sum.scattered, sum.whole);
}

Duration Metrics::makespan() const {
  return first_submission == kForever ? 0 : last_end - first_submission;
}

}  // namespace muster::inprocess
