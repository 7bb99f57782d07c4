#include "test/workload/life_moves.h"

#include <algorithm>
#include <utility>

#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

class MoveList {
 public:
  MoveList(const LifeHost& host, bool all) : h_(host), all_(all) {}

  std::vector<Move> Collect() {
    const LifePhase phase = h_.phase();
    if (phase == LifePhase::kNew) {
      Add(Submitted{});
      return std::move(moves_);
    }
    OfTasks();
    OfPlaces();
    if (phase == LifePhase::kCheckpointing) {
      Add(CheckpointDone{h_.state().checkpoint_asked});
    }
    if (!h_.state().suspend && phase < LifePhase::kSucceeded) {
      Add(SuspendAsked{});
    }
    if (h_.state().suspend) Add(ResumeAsked{});
    if (phase != LifePhase::kForgotten) Add(DeletionAsked{});
    if (h_.output().wake_at != kForever) {
      moves_.push_back({TimePassed{}, std::max(h_.now(), h_.output().wake_at)});
    }
    if (all_) {
      if (h_.places() > 0) Add(Paused{});
      if (h_.state().paused) Add(Continued{});
      if (h_.now() % 5 == 0 && !h_.state().limit) {
        Add(LimitChanged{3'600 * kSecond});
      }
      std::vector<LiveTask> live;
      for (const TaskId id : h_.Live()) live.push_back({id, h_.attempt(id)});
      Add(TasksListed{live});
      if (!live.empty()) {
        live.pop_back();
        Add(TasksListed{live});
      }
    }
    return std::move(moves_);
  }

 private:
  void Add(LifeEvent event) { moves_.push_back({std::move(event), h_.now()}); }

  void OfTasks() {
    for (const TaskId id : h_.Live()) {
      const uint32_t attempt = h_.attempt(id);
      const TaskPhase phase = h_.state().tasks[PositionOf(h_.job(), id)].phase;
      if (phase == TaskPhase::kStarting) Add(TaskStarted{id, attempt});
      if (phase == TaskPhase::kRunning) Add(TaskReady{id, attempt});
      if (h_.IsStopping(id)) {
        Add(TaskExited{id, attempt, 143});
        if (!all_) continue;
      }
      Add(TaskExited{id, attempt, 0});
      Add(TaskExited{id, attempt, 1});
      Add(TaskExited{id, attempt, 0, ExitReason::kNodeLost});
      if (!all_) continue;
      Add(TaskExited{id, attempt, 137});
      Add(TaskExited{id, attempt, 137, ExitReason::kOutOfMemory});
      Add(TaskExited{id, attempt, 0, ExitReason::kNotStarted});
      Add(TaskExited{id, attempt, 0, ExitReason::kPreempted});
    }
  }

  void OfPlaces() {
    const LifePhase phase = h_.phase();
    const std::vector<TaskId> missing = h_.MissingPlaces();
    const bool wants = phase == LifePhase::kQueued || h_.state().lacking > 0 ||
                       h_.job().resize != ResizeMode::kFixed;
    if (!missing.empty() && wants && phase < LifePhase::kSuspended) {
      Add(Placed{missing});
      if (missing.size() > 1) Add(Placed{{missing.front()}});
    }
    if (phase >= LifePhase::kSuspended) return;
    for (uint32_t r = 0; r < h_.job().roles.size(); ++r) {
      for (uint32_t i = 0; i < 2; ++i) {
        if (std::ranges::find(missing, TaskId{r, i}) != missing.end() ||
            i >= h_.job().roles[r].replicas) {
          continue;
        }
        Add(PlacesTaken{{{r, i}}, 5 * kSecond, /*moved=*/true});
        const bool spare = h_.state().roles[r].held >
                           std::max(1u, h_.job().roles[r].min_replicas);
        if (h_.job().resize != ResizeMode::kFixed && spare) {
          Add(PlacesTaken{{{r, i}}, 5 * kSecond, /*moved=*/false});
        }
        if (!all_) break;
      }
    }
    if (h_.places() > 0) {
      Add(Preempted{5 * kSecond});
      if (all_) Add(Preempted{0});
    }
  }

  const LifeHost& h_;
  bool all_;
  std::vector<Move> moves_;
};

void SetSize(Role* role, uint32_t n) {
  role->replicas = role->min_replicas = role->max_replicas = n;
}

Job Small(std::string_view manifest, uint32_t workers) {
  Job job = JobOf(manifest);
  job.failure.backoff_limit = 1;
  for (Role& role : job.roles) {
    if (role.replicas <= 1) continue;
    SetSize(&role, workers);
    role.spot_replicas = 0;
  }
  job.scheduling = {};
  return job;
}

}  // namespace

std::vector<Move> Moves(const LifeHost& host, bool all) {
  return MoveList(host, all).Collect();
}

std::vector<Job> SmallJobs() {
  std::vector<Job> jobs;
  jobs.push_back(Small("pytorch-kubeflow", 2));
  jobs.push_back(Small("tf-kubedl", 2));
  jobs.back().active_deadline = 20 * kSecond;
  jobs.push_back(Small("mpi-kubedl", 2));
  jobs.push_back(Small("mars", 1));
  // Grown and shrunk in place.
  jobs.push_back(Small("pytorch-elastic", 2));
  jobs.back().roles[0].min_replicas = 1;
  // ... and by a restart at a checkpoint.
  jobs.push_back(Small("pytorch-kubedl", 2));
  jobs.back().roles[1].min_replicas = 1;
  // A pool of places.
  jobs.push_back(JobOf("batch"));
  Role& task = jobs.back().roles[0];
  task.completions = 3;
  task.replicas = task.max_replicas = 2;
  jobs.back().success = {{.roles = {0}}};
  jobs.back().failure.max_failed_indexes = 1;
  // Jobs of a set, which restart by themselves.
  jobs.push_back(JobOf("jobset"));
  Role& workers = jobs.back().roles[1];
  SetSize(&workers, 2);
  workers.group_size = 1;
  jobs.back().failure.max_restarts = 1;
  // Three roles of two, each after those before it.
  Job chain = Small("tf-kubeflow", 2);
  chain.roles.pop_back();
  for (uint32_t r = 0; r < chain.roles.size(); ++r) {
    Role& role = chain.roles[r];
    SetSize(&role, 2);
    role.restart = RestartPolicy::kExitCode;
    if (r > 0) role.start_after = {{r - 1, StartCondition::kReady, 1}};
  }
  chain.ttl = 5 * kSecond;
  jobs.push_back(std::move(chain));
  return jobs;
}

}  // namespace muster::workload
