#include "adapters/local/api/api.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/route.h"
#include "adapters/serve/mailbox.h"

namespace muster::local {

using serve::HttpRequest;
using serve::HttpResponse;
using serve::Reply;

struct Api::Rooms {
  struct Call {
    HttpRequest request{};
    Reply reply{};
  };
  struct Question {
    Asked asked{};
    Reply reply{};
  };
  struct Answer {
    HttpResponse response{};
    Reply reply{};
  };
  // One who waits for the end of a job.
  struct Waiter {
    Asked asked{};
    Reply reply{};
    Time until = 0;
  };

  Rooms(ApiOptions of, std::function<void()> wake)
      : options(std::move(of)),
        mailbox(options.most_waiting, std::move(wake)) {}

  ApiContext Context(Controller* controller, History* history, Time now) {
    return {.controller = *controller,
            .history = *history,
            .logs = logs,
            .events = events,
            .followers = followers,
            .options = options,
            .now = now};
  }
  void Begin(const ApiContext& context, Call call);
  void Ask(const ApiContext& context, Question question);
  void EndWaits(const ApiContext& context);
  void EndFollowing(const ApiContext& context);

  const ApiOptions options;
  LogReader logs{};
  EventLog events{};
  std::vector<Call> calls{};          // Taken out of the mailbox.
  std::vector<Answer> answers{};      // To be told when the turn is kept.
  std::vector<Question> questions{};  // To be answered then.
  std::vector<Waiter> waiters{};
  std::vector<Follower> followers{};
  Time look_at = 0;  // When it is looked whether their tasks have ended.
  serve::Mailbox mailbox;
};

namespace {

constexpr Duration kLookEvery = 100 * kMillisecond;

HttpResponse RefusalOf(const absl::Status& why) {
  return ErrorAnswer(absl::UnavailableError(why.message()));
}

// Finished, or not there any more.
bool HasEnded(const ApiContext& context, uint64_t job) {
  const JobRow* row = context.controller.Find(job);
  return row == nullptr || row->finished != kForever;
}

}  // namespace

Api::Api(ApiOptions options, std::function<void()> wake)
    : rooms_(std::make_unique<Rooms>(std::move(options), std::move(wake))) {}

Api::~Api() { rooms_->mailbox.Close(); }

void Api::Handle(HttpRequest request, const Reply& reply) {
  const bool put = rooms_->mailbox.Put(
      [rooms = rooms_.get(), request = std::move(request), reply]() mutable {
        rooms->calls.push_back({std::move(request), reply});
      });
  if (!put) {
    reply(ErrorAnswer(absl::UnavailableError("too many requests wait")));
  }
}

void Api::Rooms::Begin(const ApiContext& context, Call call) {
  auto asked = ParseRequest(call.request, options.owner);
  if (!asked.ok()) {
    const bool method =
        asked.status().code() == absl::StatusCode::kUnimplemented;
    answers.push_back({method ? MethodErrorAnswer(asked.status())
                              : ErrorAnswer(asked.status()),
                       std::move(call.reply)});
  } else if (IsChange(asked->route)) {
    answers.push_back({Change(context, *asked), std::move(call.reply)});
  } else {
    questions.push_back({*std::move(asked), std::move(call.reply)});
  }
}

void Api::Turn(Controller* controller, History* history, Time now) {
  for (const serve::Mailbox::Question& put : rooms_->mailbox.Take()) put();
  const ApiContext context = rooms_->Context(controller, history, now);
  for (Rooms::Call& call : std::exchange(rooms_->calls, {})) {
    rooms_->Begin(context, std::move(call));
  }
}

void Api::Rooms::Ask(const ApiContext& context, Question question) {
  const Asked& asked = question.asked;
  if (asked.route == Route::kJob && asked.parameters.contains("wait")) {
    const uint64_t most = static_cast<uint64_t>(options.longest_wait / kSecond);
    const auto wait = asked.Number("wait", 0, most);
    if (!wait.ok()) return question.reply(ErrorAnswer(wait.status()));
    if (!HasEnded(context, asked.job)) {
      const Time until = context.now + static_cast<Time>(*wait) * kSecond;
      waiters.push_back(
          {std::move(question.asked), std::move(question.reply), until});
      return;
    }
  }
  question.reply(Read(context, asked));
}

void Api::Rooms::EndWaits(const ApiContext& context) {
  std::erase_if(waiters, [&](const Waiter& waiter) {
    const uint64_t job = waiter.asked.job;
    if (context.now < waiter.until && !HasEnded(context, job)) return false;
    waiter.reply(JobAnswer(context, waiter.asked.viewer, job));
    return true;
  });
}

void Api::Rooms::EndFollowing(const ApiContext& context) {
  if (context.now < look_at && context.now >= look_at - kLookEvery) return;
  look_at = context.now + kLookEvery;
  std::erase_if(followers, [&](const Follower& follower) {
    const auto over = follower.over.lock();
    if (over == nullptr) return true;
    const auto tasks = context.history.Tasks(follower.task.job);
    if (!tasks.ok()) return false;  // It may be over at the next turn.
    const auto it = std::ranges::find(*tasks, follower.task, &TaskRow::key);
    if (it != tasks->end() && it->state != "ended") return false;
    *over = true;
    return true;
  });
}

void Api::Kept(Controller* controller, History* history, Time now) {
  Rooms& r = *rooms_;
  for (const Rooms::Answer& answer : std::exchange(r.answers, {})) {
    answer.reply(answer.response);
  }
  const ApiContext context = r.Context(controller, history, now);
  for (Rooms::Question& question : std::exchange(r.questions, {})) {
    r.Ask(context, std::move(question));
  }
  r.EndWaits(context);
  r.EndFollowing(context);
}

void Api::Tell(const std::vector<JobNews>& news, Time now) {
  rooms_->events.Add(news, now);
}

void Api::Refuse(const absl::Status& why) {
  const HttpResponse refusal = RefusalOf(why);
  for (const auto& answer : std::exchange(rooms_->answers, {})) {
    answer.reply(refusal);
  }
}

void Api::Rest(Controller* controller, History* history, Time now,
               const absl::Status& why) {
  Rooms& r = *rooms_;
  for (const serve::Mailbox::Question& put : r.mailbox.Take()) put();
  const ApiContext context = r.Context(controller, history, now);
  for (Rooms::Call& call : std::exchange(r.calls, {})) {
    const auto asked = ParseRequest(call.request, r.options.owner);
    if (!asked.ok() || !IsChange(asked->route)) {
      r.Begin(context, std::move(call));
    } else if (!why.ok() && asked->route != Route::kCancel) {
      r.answers.push_back({RefusalOf(why), std::move(call.reply)});
    } else {
      r.calls.push_back(std::move(call));
    }
  }
}

void Api::RefuseAll(const absl::Status& why) {
  Rooms& r = *rooms_;
  for (const serve::Mailbox::Question& put : r.mailbox.Take()) put();
  const HttpResponse refusal = RefusalOf(why);
  for (const auto& call : std::exchange(r.calls, {})) call.reply(refusal);
  for (const auto& answer : std::exchange(r.answers, {})) answer.reply(refusal);
  for (const auto& asked : std::exchange(r.questions, {})) asked.reply(refusal);
  for (const auto& waiter : std::exchange(r.waiters, {})) waiter.reply(refusal);
}

Time Api::wake_at() const {
  Time at = rooms_->followers.empty() ? kForever : rooms_->look_at;
  for (const auto& waiter : rooms_->waiters) at = std::min(at, waiter.until);
  return at;
}

}  // namespace muster::local
