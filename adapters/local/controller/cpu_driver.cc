#include "adapters/local/controller/cpu_driver.h"

#include <algorithm>
#include <set>
#include <utility>

namespace muster::local {

size_t OwnCpusOf(const workload::Role& role, uint32_t alternative) {
  constexpr int64_t kMilliOfCpu = 1000;
  const int64_t milli = role.task.Requested("cpu", alternative);
  const bool whole = milli > 0 && milli % kMilliOfCpu == 0;
  return whole ? static_cast<size_t>(milli / kMilliOfCpu) : 0;
}

PlaceCpus CpusOf(const ControllerState& state, const JobRecord& job,
                 TaskId place) {
  PlaceCpus of;
  if (state.cores.empty()) return of;
  std::set<uint32_t> cpus;
  const auto add = [&](TaskId id) {
    const auto own = job.cpus.find(id);
    of.shared = of.shared || own == job.cpus.end();
    if (own != job.cpus.end()) {
      cpus.insert(own->second.begin(), own->second.end());
    }
  };
  add(place);
  for (const auto& [id, held] : job.places) {
    if (id != place && job.job().roles[id.role].passive) add(id);
  }
  if (of.shared) {
    const std::vector<uint32_t> free = state.cores.Free();
    cpus.insert(free.begin(), free.end());
  }
  of.cpus.assign(cpus.begin(), cpus.end());
  // Where others have all, as after a change of the configuration.
  if (of.cpus.empty()) of.cpus = state.cores.all();
  return of;
}

void CpuDriver::Give(JobRecord* job, TaskId place) {
  const auto held = job->places.find(place);
  if (s_.cores.empty() || held == job->places.end() ||
      job->cpus.contains(place)) {
    return;
  }
  changed_ = true;
  const size_t count =
      OwnCpusOf(job->job().roles[place.role], held->second.alternative);
  std::vector<int32_t> near;
  const std::vector<Device>& devices = s_.config.node.devices;
  for (const uint32_t d : held->second.devices) {
    if (d < devices.size() && devices[d].numa >= 0) {
      near.push_back(devices[d].numa);
    }
  }
  std::vector<uint32_t> cpus = s_.cores.Take(count, near);
  if (cpus.empty()) return;
  job->cpus[place] = std::move(cpus);
  s_.jobs.Change(*job);
}

void CpuDriver::TakeBack(JobRecord* job, TaskId place) {
  changed_ = true;
  const auto own = job->cpus.find(place);
  if (own == job->cpus.end()) return;
  s_.cores.Return(own->second);
  job->cpus.erase(own);
  s_.jobs.Change(*job);
}

std::vector<uint32_t> CpuDriver::Launch(const JobRecord& job,
                                        LiveTask* task) const {
  task->bound = CpusOf(s_, job, {task->row.key.role, task->slot}).cpus;
  return task->bound;
}

void CpuDriver::Settle() {
  if (s_.cores.empty() || !std::exchange(changed_, false)) return;
  for (const auto& [id, job] : s_.jobs.all()) {
    for (auto& [task_id, task] : job->tasks) {
      if (task.deferred) continue;
      const TaskId place{task.row.key.role, task.slot};
      PlaceCpus of = CpusOf(s_, *job, place);
      if (of.cpus == task.bound) continue;
      task.bound = std::move(of.cpus);
      TaskCommand bind{.kind = CommandKind::kBind, .task = task.row.key};
      bind.start.cpus = task.bound;
      s_.Command(std::move(bind));
    }
  }
}

}  // namespace muster::local
