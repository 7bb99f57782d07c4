// The commands of `muster`. Each returns what the program ends with (session.h)
// and tells results and errors by the session.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/client/job_manifest.h"
#include "adapters/local/client/session.h"

namespace muster::local {

struct SubmitMode {
  bool wait = false;  // And end with the job's code; the highest of several.
  bool dry_run =
      false;  // Tell the manifest, after the daemon has looked at it.
};
int Submit(Session* session, SubmitOptions options, SubmitMode mode);
// "-": the standard input.
int Apply(Session* session, const std::string& file,
          const SubmitOptions& options, SubmitMode mode);
int WhatIf(Session* session, const SubmitOptions& options);

// The jobs' own code; kRefused for one that ended without.
int Wait(Session* session, const std::vector<std::string>& jobs);

// cancel, hold, release, suspend, resume.
int Change(Session* session, std::string_view command,
           const std::vector<std::string>& jobs);
// `command`: priority, queue; `value`: a class, a queue.
int ChangeTo(Session* session, const std::string& command,
             const std::vector<std::string>& jobs, const std::string& value);
int Resize(Session* session, const std::string& job, uint32_t size,
           const std::string& role);

// `action`: list, or suspend, resume, remove of calendars by number or name.
int Cron(Session* session, const std::string& action,
         const std::vector<std::string>& calendars, bool all);

// `action`: drain, resume. `device`: empty: the node.
int ChangeNode(Session* session, const std::string& action,
               const std::string& node, std::optional<uint32_t> device,
               const std::string& reason);

// What the options and the command say; without either, what is changed in
// one's editor.
int Edit(Session* session, const std::string& job, const std::string& role,
         const SubmitOptions& options);
// Among one's own jobs that wait; one of all is said.
struct PlaceOptions {
  bool first = false;
  bool last = false;
  std::string before{};
  std::string after{};
};
// Into another queue, if one is named, else to another place in its own.
int Move(Session* session, const std::string& job, const std::string& queue,
         const PlaceOptions& place);

struct LogOptions {
  std::string job{};  // "7", "7.worker-1"
  bool follow = false;
  bool error = false;
  uint32_t attempt = 0;  // 0: the last.
};
int Logs(Session* session, const LogOptions& options);

struct SendOptions {
  std::string job{};                 // As of LogOptions.
  std::vector<std::string> words{};  // None: what the standard input has.
  bool end = false;
};
int Send(Session* session, const SendOptions& options);

int ShowQueue(Session* session, bool all);
int Describe(Session* session, const std::vector<std::string>& jobs);
int Explain(Session* session, const std::vector<std::string>& jobs);
struct HistoryOptions {
  bool all = false;  // Of all users.
  uint32_t limit = 20;
  std::string name{};
  std::string queue{};
  std::string phase{};
  bool removed = false;  // Those that are kept no more.
};
int ShowHistory(Session* session, const HistoryOptions& options);
int ShowNodes(Session* session);
int ShowQueues(Session* session);
int ShowVersion(Session* session);
// The address of the page, with the token by which one is oneself there;
// `renew`: another token, and those who came in by the old one are out.
int ShowWeb(Session* session, bool renew);

// Queue and devices, drawn anew each second until q is typed; once if the
// output is no terminal.
int Top(Session* session, bool all);

// A job that has ended: what the program ends with.
int CodeOf(const Session::Json& job);

}  // namespace muster::local
