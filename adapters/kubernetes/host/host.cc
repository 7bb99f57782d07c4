#include "adapters/kubernetes/host/host.h"

#include <algorithm>
#include <utility>

#include "adapters/kubernetes/client/error.h"

namespace muster::kubernetes {

using client::Millis;

absl::StatusOr<std::unique_ptr<Host>> Host::Create(client::Transport* transport,
                                                   HostOptions options,
                                                   Millis now, Millis wall,
                                                   Log log) {
  const auto controller = Controller::Create(options.controller);
  if (!controller.ok()) return controller.status();
  return std::unique_ptr<Host>(
      new Host(transport, std::move(options), wall - now, std::move(log)));
}

Host::Host(client::Transport* transport, HostOptions options, Millis offset,
           Log log)
    : transport_(transport),
      options_(std::move(options)),
      wall_offset_(offset),
      log_(std::move(log)),
      queue_(transport, options_.queue) {
  if (options_.election) election_.emplace(*options_.election);
}

Host::~Host() {
  if (request_ != 0) transport_->Cancel(request_);
}

absl::Status Host::Begin() {
  log_("leads");
  auto term = Term::Create(transport_, &queue_, options_.controller,
                           options_.writer, wall_offset_, log_, &metrics_);
  if (!term.ok()) return term.status();
  term_ = *std::move(term);
  return absl::OkStatus();
}

void Host::End() {
  if (term_ == nullptr) return;
  log_("does not lead any more");
  term_ = nullptr;
  queue_.DropWaiting();
}

void Host::TellElection(Millis now) {
  const absl::Status& error = election_->last_error();
  if (error.ok()) {
    if (election_->MayAct(now)) told_.clear();
    return;
  }
  // Another candidate was faster.
  if (absl::IsAborted(error) || absl::IsAlreadyExists(error)) return;
  if (told_ == error.ToString()) return;
  told_ = error.ToString();
  log_(client::PlainText(told_));
}

Millis Host::Elect(Millis now) {
  if (!election_) {
    if (term_ == nullptr && !resigning_) Begin().IgnoreError();
    return client::kNever;
  }
  if (request_ == 0) {
    auto request = election_->Step(now, now + wall_offset_);
    if (request) {
      status_ = 0;
      body_.clear();
      request_ = transport_->Start(*std::move(request), this);
    }
  }
  TellElection(now);
  const bool leads = election_->MayAct(now);
  if (leads && term_ == nullptr && !resigning_) Begin().IgnoreError();
  if (!leads) End();
  queue_.MayStartUntil(election_->MayActUntil());
  Millis next = election_->NextStep();
  if (term_ != nullptr) {
    next = std::min(next, election_->MayActUntil());
  } else if (election_->MayDecideFrom() > now) {
    next = std::min(next, election_->MayDecideFrom());
  }
  return next;
}

Millis Host::Advance(Millis now) {
  Millis next = Elect(now);
  if (term_ != nullptr) next = std::min(next, term_->Advance(now));
  return std::min(next, queue_.Advance(now));
}

void Host::Resign(Millis now) {
  resigning_ = true;
  End();
  if (election_) election_->Resign(now);
}

bool Host::ready() const {
  if (resigning_) return false;
  if (term_ != nullptr) return term_->synced();
  return election_ && election_->last_error().ok() &&
         !election_->holder().empty();
}

std::string Host::leader() const {
  return election_ ? election_->holder() : "";
}

bool Host::resigned() const {
  return resigning_ && (!election_ || election_->resigned());
}

void Host::OnHead(client::RequestId, const client::ResponseHead& head) {
  status_ = head.status;
}

void Host::OnData(client::RequestId, std::string_view data) {
  body_.append(data);
}

void Host::OnEnd(client::RequestId, const client::RequestEnd& end) {
  request_ = 0;
  const Millis now = options_.clock();
  if (end.status.ok() && status_ != 0) {
    election_->OnAnswer(now, status_, body_);
  } else {
    election_->OnNoAnswer(now);
  }
}

}  // namespace muster::kubernetes
