// Api: what is asked of musterd over its socket, in step with its loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/controller.h"
#include "adapters/local/model/other_process.h"
#include "adapters/local/model/task_key.h"
#include "adapters/local/store/history.h"
#include "adapters/serve/http_server.h"
#include "muster/device.h"
#include "muster/ids.h"

namespace muster::local {

struct ApiOptions {
  std::string state{};  // As ControllerConfig::state.
  uint32_t owner = 0;   // The user whose daemon it is: he may do everything.
  // Whether tasks run as who submits them. Else they run as the owner, and
  // nobody but him and root submits.
  bool as_submitter = true;
  // Where an attempt, whose folder this is, writes its output or its error
  // output: the name of a file there, or an absolute path. Null: to the files
  // "output" and "error".
  std::function<std::string(const std::string& folder, bool error)> output_of{};
  // Who else computes on the GPUs; null: nobody. On the loop's thread.
  std::function<std::vector<OtherProcess>()> others{};
  // What CUDA_VISIBLE_DEVICES of a task calls this; "": it is not there. Null:
  // by its number. On the loop's thread.
  std::function<std::string(const DeviceShare&)> visible{};
  // What a task reads next, and with `end` nothing behind it: how much of it
  // was taken. Null: nothing can be sent. On the loop's thread.
  std::function<absl::StatusOr<size_t>(const TaskKey& task,
                                       std::string_view bytes, bool end)>
      send{};
  // Where its page is, "http://127.0.0.1:8750"; null, or empty: nowhere. On the
  // loop's thread.
  std::function<std::string()> web_address{};
  // The token by which a user is known there, and an end of it, both as
  // WebUsers has them; null: there is no page. On the loop's thread.
  std::function<absl::StatusOr<std::string>(uint32_t uid, uint32_t gid)>
      web_token{};
  std::function<absl::Status(uint32_t uid)> forget_web_token{};
  size_t most_waiting = 4096;            // Requests between two turns.
  Duration longest_wait = 60 * kSecond;  // Of ?wait=.
};

// docs/local-api.yaml has the routes. A turn: Turn, the controller's Step, the
// store's Commit, and then Kept; or Refuse, if it could not be kept, and Kept
// with a controller that was made of what is. So nothing is told before it is
// kept.
class Api {
 public:
  // `wake` makes the loop turn; it is called on any thread.
  Api(ApiOptions options, std::function<void()> wake);
  // Its server has gone before.
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Any thread: takes a request in. 503 if too many wait.
  void Handle(serve::HttpRequest request, const serve::Reply& reply);

  // All others: the loop's thread. Carries out what is to be changed. Neither
  // is owned or kept. The price of the requests.
  void Turn(Controller* controller, History* history, Time now);
  // Tells what came of it, answers all else, and those who waited for jobs that
  // have finished. O(requests + those who wait).
  void Kept(Controller* controller, History* history, Time now);
  // What happened in the turn, for those who follow it; after Kept. O(news).
  void Tell(const std::vector<JobNews>& news, Time now);
  // The turn was not kept: who changed something in it is told why. 503. Who
  // asks something waits for the next Kept.
  void Refuse(const absl::Status& why);
  // The same, to all that wait: nobody can be answered.
  void RefuseAll(const absl::Status& why);
  // In place of Turn, or before it, while little or nothing can be kept: what
  // is asked is for Kept to answer, changes wait for the next Turn. Unless
  // `why` is OK, all but the cancelling of jobs is refused with it.
  void Rest(Controller* controller, History* history, Time now,
            const absl::Status& why);
  // When Turn and Kept are due though nobody asks; kForever: not.
  Time wake_at() const;

 private:
  struct Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace muster::local
