// Host: musterd's loop. It joins the controller, which decides, with the store,
// the processes of tasks, the GPUs and those who ask.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/api/api.h"
#include "adapters/local/controller/controller.h"
#include "adapters/local/host/clock.h"
#include "adapters/local/host/config.h"
#include "adapters/local/host/cpu_topology.h"
#include "adapters/local/host/gpu_watch.h"
#include "adapters/local/host/notifier.h"
#include "adapters/local/host/poller.h"
#include "adapters/local/host/task_runner.h"
#include "adapters/local/host/tidier.h"
#include "adapters/local/page/web_gate.h"
#include "adapters/local/page/web_users.h"
#include "adapters/local/store/store.h"
#include "adapters/serve/http_server.h"
#include "muster/ids.h"

namespace muster::local {

struct HostOptions {
  Config config{};
  std::string state{};   // A folder; absolute. It is made.
  std::string socket{};  // Where it is asked; absolute.
  std::string shim{};    // The program muster-shim.
  std::string exec{};    // muster-exec, for mpirun; empty: there is none.
  ClockSources clock = ClockSources::OfMachine();
  std::string nvml = "libnvidia-ml.so.1";  // The driver's library.
};

// One thread, beside those of the HTTP server and the notifier.
class Host {
 public:
  // Takes over what an earlier one has left: jobs, and tasks that run.
  // UNAVAILABLE: another has the state or the socket; errors of the store, the
  // configuration and the driver.
  static absl::StatusOr<std::unique_ptr<Host>> Open(HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Turns until Stop is called. Tasks run on; the next Host takes them over.
  absl::Status Run();
  // From any thread, and from handlers of signals.
  void Stop();

 private:
  explicit Host(HostOptions options);

  absl::Status OpenAll();
  absl::Status OpenClock();
  void KeepClock() const;
  absl::Status OpenCpus();
  absl::Status OpenRunner();
  absl::Status OpenGpus();
  absl::Status KeepGpus() const;
  absl::StatusOr<Node> MakeOwnNode() const;
  ControllerConfig MakeControllerConfig(Node node) const;
  absl::Status OpenController(Time now);
  absl::Status OpenServer();
  absl::Status OpenPage();
  void AskOverTcp(serve::HttpRequest request, const serve::Reply& reply);

  void Wait(Time until);
  // When a calendar may be due.
  Time CronAt();
  Time WakeAt();
  bool OneTurn(Time now);  // Whether it was kept.
  void CarryOut(const std::vector<TaskCommand>& commands);
  void Observe(const TaskEvent& event, Time now);
  void LookAtGpus(Time now);
  void SayOfGpus();
  absl::Status TellGpus(Time now);
  void TidyUp(Time now);

  // host_trouble.cc: the disk is full, or nothing can be kept for another
  // reason. What was kept is told all the same.
  void LookAtDisk(Time now);
  void GiveUp(const absl::Status& why, Time now);
  void BeginAgain(Time now);
  void Rest(Time now);
  void TryAgain(Time now);

  void Wake() const;
  static void Say(const std::string& text);

  const HostOptions options_;
  int wake_ = -1;  // An eventfd.
  std::optional<Clock> clock_{};
  std::unique_ptr<Poller> poller_;
  CpuTopology topology_{};  // Empty: tasks are not bound.
  CpuPool cpus_{};
  std::unique_ptr<GpuWatch> gpus_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Tidier> tidier_;
  std::unique_ptr<TaskRunner> runner_;
  std::unique_ptr<Notifier> notifier_;
  ControllerConfig controller_config_{};
  std::unique_ptr<Controller> controller_;  // Null: the store cannot be read.
  std::unique_ptr<Api> api_;
  std::unique_ptr<WebUsers> web_users_;        // Likewise.
  std::unique_ptr<WebGate> gate_;              // Null: there is no page.
  std::unique_ptr<serve::HttpServer> server_;  // These go first.
  std::unique_ptr<serve::HttpServer> page_server_;
  std::atomic<bool> stop_ = false;
  std::string said_{};       // Of the GPUs, last.
  std::string no_mounts_{};  // ControllerConfig::no_mounts
  ImageRules images_{};      // ControllerConfig::images
  Time wake_at_ = 0;
  Time wake_at_wall_ = kForever;  // By the wall clock.
  Time look_at_ = 0;              // At the GPUs.
  // Why only what ends is accepted: the disk is full.
  absl::Status full_ = absl::OkStatus();
  bool held_back_ = false;  // Starts were not carried out then.
  absl::Status trouble_ = absl::OkStatus();  // Why nothing can be kept.
  Time retry_at_ = 0;                        // When it is tried again.
};

}  // namespace muster::local
