#include "adapters/workloads/generate.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "adapters/workloads/generate_cluster.h"
#include "adapters/workloads/generate_model.h"
#include "adapters/workloads/random.h"
#include "adapters/workloads/units.h"

namespace muster::inprocess {
namespace {

// How many tasks of an ask the nodes have room for that are no spot nodes.
struct Room {
  int64_t tasks = 0;
  int64_t in_one_block = 0;  // The roomiest.
};

int64_t TasksOn(const Node& node, const TaskAsk& ask) {
  int64_t tasks = std::min(node.capacity[0] / ask.cpu_milli,
                           node.capacity[1] / (ask.memory_mib * kMebi));
  const auto devices = static_cast<int64_t>(node.devices.size());
  if (ask.gpu_milli >= kWholeDevice) {
    tasks = std::min(tasks, devices / (ask.gpu_milli / kWholeDevice));
  } else if (ask.gpu_milli > 0) {
    tasks = std::min(tasks, devices * (kWholeDevice / ask.gpu_milli));
  }
  return tasks;
}

// `model`: empty for any.
Room RoomFor(const TaskAsk& ask, const std::string& model, const Setup& setup) {
  Room room;
  const std::string* block = nullptr;
  int64_t here = 0;
  for (const Node& node : setup.nodes) {
    const bool matches = model.empty() || node.devices[0].model == model;
    if (IsSpot(node) || !matches) continue;
    const std::string& in = node.labels[0].value;
    if (block == nullptr || *block != in) here = 0;
    block = &in;
    const int64_t tasks = TasksOn(node, ask);
    room.tasks += tasks;
    here += tasks;
    room.in_one_block = std::max(room.in_one_block, here);
  }
  return room;
}

// Draws jobs one by one.
class JobMaker {
 public:
  JobMaker(const GenerateOptions& options, Generated* g)
      : options_(options),
        g_(*g),
        most_gpus_(ModelOf(options.preset).most_gpus),
        draws_(options.seed),
        first_tenant_(FirstTenant(g->setup)) {
    for (const JobSize& size : JobSizes()) {
      sizes_.Add(size.gpus <= most_gpus_ ? size.per_100000 : 0);
      asks_.emplace_back();
      for (const TaskAsk& ask : size.asks) asks_.back().Add(ask.weight);
    }
    for (size_t t = first_tenant_; t < g_.setup.queues.size(); ++t) {
      tenants_.Add(PartOf(t - first_tenant_));
    }
    for (const std::string& model : g_.models) {
      int64_t gpus = 0;
      for (const Node& node : g_.setup.nodes) {
        if (node.devices[0].model != model) continue;
        gpus += static_cast<int64_t>(node.devices.size());
      }
      gpus_of_.push_back(gpus);
    }
    FindRoom();
    const int64_t before = options.warm_start ? kLongestRun / 3600 : 0;
    for (int64_t h = -before; h < options.hours; ++h) {
      const int64_t since_monday = h + kLongestRun / 3600;
      hours_.Add(
          options.rhythm
              ? kHourWeights[static_cast<size_t>(since_monday % 24)] *
                    kDayWeights[static_cast<size_t>(since_monday / 24 % 7)]
              : 1);
    }
    first_hour_ = -before;
  }

  // The time of submission and the time of the end if it runs at once, in
  // seconds; both may be negative.
  struct Span {
    int64_t from = 0;
    int64_t to = 0;
  };
  Span Draw(GeneratedJob* job) {
    const Span span = DrawSpan(job);
    Random own(draws_.Next());
    job->queue = static_cast<uint16_t>(first_tenant_ + tenants_.Draw(&own));
    const JobSize& size = JobSizes()[job->size];
    const int64_t rank = own.Below(1000);
    job->priority = rank < size.high_permille                       ? kHigh
                    : rank < size.high_permille + size.low_permille ? kLow
                                                                    : kNormal;
    const TaskAsk& ask = size.asks[job->ask];
    const bool elastic = own.Below(1000) < kElasticPermille;
    job->elastic =
        options_.elastic && elastic && size.gpus >= 8 && ask.tasks > 1;
    const bool one_block = own.Below(1000) < kOneBlockPermille;
    DrawModel(job, &own);
    const Room& room = RoomOf(*job, job->model);
    job->one_block = one_block && size.gpus > 8 &&
                     room.in_one_block >= 2 * int64_t{ask.tasks};
    return span;
  }

 private:
  Span DrawSpan(GeneratedJob* job) {
    job->size = static_cast<uint8_t>(sizes_.Draw(&draws_));
    job->ask = static_cast<uint8_t>(asks_[job->size].Draw(&draws_));
    const int64_t run = DrawSeconds(JobSizes()[job->size].run_times, &draws_);
    const auto hour = static_cast<int64_t>(hours_.Draw(&draws_)) + first_hour_;
    const int64_t from = hour * 3600 + draws_.Below(3600);
    return {from, from + std::max<int64_t>(1, run)};
  }

  // Room by size, ask and model, "any model" last; asks of all sizes in a row.
  void FindRoom() {
    for (const JobSize& size : JobSizes()) {
      first_ask_.push_back(room_.size());
      for (const TaskAsk& ask : size.asks) {
        room_.emplace_back();
        for (const std::string& model : g_.models) {
          room_.back().push_back(RoomFor(ask, model, g_.setup));
        }
        room_.back().push_back(RoomFor(ask, "", g_.setup));
      }
    }
  }
  const Room& RoomOf(const GeneratedJob& job, uint8_t model) const {
    return room_[first_ask_[job.size] + job.ask]
                [std::min<size_t>(model, g_.models.size())];
  }

  // A model is as likely as it has GPUs, among those with room for the job
  // twice over.
  void DrawModel(GeneratedJob* job, Random* own) {
    job->model = GeneratedJob::kAnyModel;
    const JobSize& size = JobSizes()[job->size];
    const bool names = own->Below(1000) < kNamesModelPermille || size.gpus > 8;
    WeightedDraw models;
    const int64_t tasks = size.asks[job->ask].tasks;
    for (size_t m = 0; m < g_.models.size(); ++m) {
      const Room& room = RoomOf(*job, static_cast<uint8_t>(m));
      models.Add(room.tasks >= 2 * tasks ? gpus_of_[m] : 0);
    }
    const bool can = names && size.gpus > 0 && g_.models.size() > 1;
    if (can && models.total() > 0) {
      job->model = static_cast<uint8_t>(models.Draw(own));
    }
  }

  const GenerateOptions& options_;
  const Generated& g_;
  const uint32_t most_gpus_;
  Random draws_;
  const size_t first_tenant_;
  int64_t first_hour_ = 0;
  WeightedDraw sizes_;
  std::vector<WeightedDraw> asks_;
  WeightedDraw tenants_;
  WeightedDraw hours_;
  std::vector<int64_t> gpus_of_;  // By model.
  std::vector<size_t> first_ask_;
  std::vector<std::vector<Room>> room_;
};

int64_t GpuMilli(const GeneratedJob& job) {
  const TaskAsk& ask = JobSizes()[job.size].asks[job.ask];
  return int64_t{ask.gpu_milli} * ask.tasks;
}

// Jobs are drawn until they would, each running from its submission on, keep
// the asked share of the GPUs at work in the time that jobs arrive; the last
// one drawn is cut to fit. Given how many there are, the times of a Poisson
// process are independent of each other. What ran before that time and is not
// done is there at 0, with the rest of its work.
void MakeJobs(const GenerateOptions& options, Generated* g) {
  JobMaker maker(options, g);
  const int64_t end = options.hours * 3600;
  // In thousandths of GPUs x seconds.
  __int128 missing = static_cast<__int128>(g->gpus) * kWholeDevice * end *
                     options.load_permille / 1000;
  while (missing > 0) {
    GeneratedJob job;
    JobMaker::Span span = maker.Draw(&job);
    if (span.to <= 0) continue;
    span.from = std::max<int64_t>(0, span.from);
    const int64_t gpus = GpuMilli(job);
    if (gpus > 0) {
      const auto most = static_cast<int64_t>((missing + gpus - 1) / gpus);
      if (std::min(span.to, end) - span.from > most) span.to = span.from + most;
      missing -=
          static_cast<__int128>(gpus) * (std::min(span.to, end) - span.from);
    }
    job.submit = static_cast<uint32_t>(span.from);
    job.work = static_cast<uint32_t>(span.to - span.from);
    g->jobs.push_back(job);
  }
  std::ranges::stable_sort(g->jobs, {}, &GeneratedJob::submit);
}

class GeneratedSource final : public JobSource {
 public:
  explicit GeneratedSource(std::shared_ptr<const Generated> workload)
      : workload_(std::move(workload)) {}
  bool Next(Job* job) override {
    if (next_ == workload_->jobs.size()) return false;
    *job = workload_->MakeJob(next_++);
    return true;
  }
  uint64_t size() const override { return workload_->jobs.size(); }

 private:
  std::shared_ptr<const Generated> workload_;
  size_t next_ = 0;
};

// The narrowest level with room for that many GPUs where nodes have eight.
std::string NearLevel(uint32_t gpus, const ClusterModel& model) {
  if (gpus <= 8) return kHostLevel;
  const uint32_t rack = 8 * model.nodes_per_rack;
  if (gpus <= rack) return "rack";
  return gpus <= rack * model.racks_per_block ? "block" : "zone";
}

Role MakeRole(const TaskAsk& ask) {
  Role role;
  role.min_tasks = role.desired_tasks = ask.tasks;
  role.shape.resources = {ask.cpu_milli, ask.memory_mib * kMebi};
  if (ask.gpu_milli >= kWholeDevice) {
    role.shape.devices.count =
        static_cast<uint32_t>(ask.gpu_milli / kWholeDevice);
  } else if (ask.gpu_milli > 0) {
    role.shape.devices.count = 1;
    role.shape.devices.milli = ask.gpu_milli;
  }
  return role;
}

}  // namespace

Job Generated::MakeJob(size_t i) const {
  const GeneratedJob& j = jobs[i];
  const JobSize& size = JobSizes()[j.size];
  const TaskAsk& ask = size.asks[j.ask];
  Job job{.work = j.work * kSecond};
  Gang& gang = job.gang;
  gang.key = Numbered("job-", i, 7);
  gang.queue = setup.queues[j.queue].key;
  gang.priority_class = setup.priority_classes[j.priority].key;
  gang.submitted = j.submit * kSecond;
  Role& role = gang.roles.emplace_back(MakeRole(ask));
  if (j.elastic) role.min_tasks = ask.tasks / 2;
  if (j.model != GeneratedJob::kAnyModel) {
    role.shape.devices.models = {models[j.model]};
  }
  if (options.spot && (j.priority == kLow || j.elastic)) {
    role.tolerations = {{.key = kSpotTaint, .op = TolerationOp::kExists}};
  }
  if (ask.gpu_milli >= kWholeDevice) {
    job.checkpoint_every = kCheckpointEvery;
    gang.restart_cost = kRestartCost;
  }
  if (ask.tasks > 1) {
    TopologyConstraint& near = gang.groups.emplace_back().topology;
    near.preferred = NearLevel(size.gpus, ModelOf(options.preset));
    if (j.one_block) near.required = "block";
    if (near.preferred == near.required) near.preferred.clear();
  }
  return job;
}

Generated Generate(const GenerateOptions& options) {
  Generated g{.options = options, .setup = MakeSetup(options)};
  for (const Node& node : g.setup.nodes) {
    g.gpus += static_cast<int64_t>(node.devices.size());
    const std::string& model = node.devices[0].model;
    if (std::ranges::find(g.models, model) == g.models.end()) {
      g.models.push_back(model);
    }
  }
  MakeJobs(options, &g);
  g.events = MakeEvents(options, g.setup);
  return g;
}

std::unique_ptr<JobSource> MakeSource(
    std::shared_ptr<const Generated> workload) {
  return std::make_unique<GeneratedSource>(std::move(workload));
}

}  // namespace muster::inprocess
