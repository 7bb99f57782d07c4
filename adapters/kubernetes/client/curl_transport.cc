#include "adapters/kubernetes/client/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "adapters/kubernetes/client/curl_transfer.h"

namespace muster::kubernetes::client {
namespace {

struct MultiFree {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

// Once a process; never undone, since others may use libcurl.
bool InitOnce() {
  static const bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ok;
}

}  // namespace

class CurlTransport::Impl {
 public:
  Impl(CurlTarget target, std::unique_ptr<Credentials> credentials)
      : target_(std::move(target)),
        credentials_(std::move(credentials)),
        multi_(curl_multi_init()) {
    const long kept = target_.options.most_requests + 32;  // And streams.
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kept);
    curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING,
                      long{CURLPIPE_MULTIPLEX});
  }
  ~Impl() {
    for (auto& [id, transfer] : transfers_) Remove(transfer.get());
  }

  RequestId Start(HttpRequest request, Receiver* receiver) {
    const RequestId id = next_++;
    (request.streaming ? streams_ : waiting_).push_back(id);
    transfers_[id] =
        std::make_unique<CurlTransfer>(id, std::move(request), receiver);
    return id;
  }

  void Cancel(RequestId id) {
    const auto it = transfers_.find(id);
    if (it == transfers_.end()) return;
    it->second->Silence();
    if (performing_) {
      silenced_.push_back(id);  // libcurl must not lose it under its feet.
    } else {
      Drop(it);
    }
  }

  void Poll(Millis max_wait) {
    const Millis until = Later(SteadyNow(), std::max<Millis>(max_wait, 0));
    told_ = false;
    for (;;) {
      Turn();
      const Millis left = until - SteadyNow();
      if (told_ || woken_.exchange(false) || left <= 0) return;
      constexpr Millis kLongest = 60'000;
      curl_multi_poll(multi_.get(), nullptr, 0,
                      static_cast<int>(std::min(left, kLongest)), nullptr);
    }
  }

  void Wake() {
    woken_ = true;
    curl_multi_wakeup(multi_.get());
  }

  const CurlCounts& counts() const { return counts_; }

 private:
  using Transfers = std::map<RequestId, std::unique_ptr<CurlTransfer>>;

  void Turn() {
    StartWaiting();
    performing_ = true;
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    performing_ = false;
    for (const RequestId id : std::exchange(silenced_, {})) {
      const auto it = transfers_.find(id);
      if (it != transfers_.end()) Drop(it);
    }
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CurlTransfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      OnDone(transfer, message->data.result);
    }
  }

  void StartWaiting() {
    for (const RequestId id : std::exchange(streams_, {})) StartOne(id);
    while (!waiting_.empty() && under_way_ < target_.options.most_requests) {
      const RequestId id = waiting_.front();
      waiting_.pop_front();
      StartOne(id);
    }
  }

  void StartOne(RequestId id) {
    const auto it = transfers_.find(id);
    if (it != transfers_.end()) Add(it->second.get());
  }

  void Add(CurlTransfer* transfer) {
    const auto credential = credentials_->Get(SteadyNow());
    if (!credential.ok()) {
      return Finish(transfer, {.status = credential.status()});
    }
    CurlEasy easy;
    if (idle_.empty()) {
      easy.reset(curl_easy_init());
    } else {
      easy = std::move(idle_.back());
      idle_.pop_back();
    }
    if (easy == nullptr) {
      return Finish(transfer,
                    {.status = absl::UnavailableError("libcurl: no handle")});
    }
    transfer->SetUp(std::move(easy), target_, *credential, &told_);
    curl_multi_add_handle(multi_.get(), transfer->easy());
    if (!transfer->streaming()) ++under_way_;
  }

  // Out of libcurl's hands.
  void Remove(CurlTransfer* transfer) {
    if (transfer->easy() == nullptr) return;
    curl_multi_remove_handle(multi_.get(), transfer->easy());
    if (!transfer->streaming()) --under_way_;
    CurlEasy easy = transfer->TakeEasy();
    if (idle_.size() < static_cast<size_t>(target_.options.most_requests)) {
      curl_easy_reset(easy.get());
      idle_.push_back(std::move(easy));
    }
  }

  void Drop(Transfers::iterator it) {
    Remove(it->second.get());
    transfers_.erase(it);
  }

  void OnDone(CurlTransfer* transfer, CURLcode code) {
    long connects = 0;
    curl_easy_getinfo(transfer->easy(), CURLINFO_NUM_CONNECTS, &connects);
    counts_.connections += static_cast<uint64_t>(std::max(connects, 0L));
    const RequestEnd end = transfer->EndFrom(code);
    Remove(transfer);
    if (transfer->WasRefused()) {
      credentials_->Refused(transfer->generation());
      const auto other = credentials_->Get(SteadyNow());
      if (other.ok() && other->generation != transfer->generation()) {
        ++counts_.refused;
        transfer->AskAgain();
        return Add(transfer);
      }
    }
    Finish(transfer, end);
  }

  void Finish(CurlTransfer* transfer, const RequestEnd& end) {
    ++counts_.requests;
    told_ = true;
    const auto node = transfers_.extract(transfer->id());
    transfer->Finish(end);
  }

  const CurlTarget target_;
  const std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<CURLM, MultiFree> multi_;
  RequestId next_ = 1;
  Transfers transfers_{};
  std::deque<RequestId> streams_{};  // To be started.
  std::deque<RequestId> waiting_{};
  std::vector<RequestId> silenced_{};
  std::vector<CurlEasy> idle_{};
  int under_way_ = 0;  // Without streams.
  bool performing_ = false;
  bool told_ = false;
  std::atomic<bool> woken_ = false;
  CurlCounts counts_{};
};

absl::StatusOr<std::unique_ptr<CurlTransport>> CurlTransport::Create(
    ClusterAccess access, const CurlOptions& options) {
  if (!InitOnce()) return absl::UnavailableError("libcurl cannot be started");
  if (access.credentials == nullptr) {
    return absl::InvalidArgumentError("credentials: are missing");
  }
  auto target = MakeCurlTarget(access, options);
  if (!target.ok()) return target.status();
  return std::unique_ptr<CurlTransport>(
      new CurlTransport(std::make_unique<Impl>(*std::move(target),
                                               std::move(access.credentials))));
}

CurlTransport::CurlTransport(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
CurlTransport::~CurlTransport() = default;

RequestId CurlTransport::Start(HttpRequest request, Receiver* receiver) {
  return impl_->Start(std::move(request), receiver);
}
void CurlTransport::Cancel(RequestId id) { impl_->Cancel(id); }
void CurlTransport::Poll(Millis max_wait) { impl_->Poll(max_wait); }
void CurlTransport::Wake() { impl_->Wake(); }
const CurlCounts& CurlTransport::counts() const { return impl_->counts(); }

}  // namespace muster::kubernetes::client
