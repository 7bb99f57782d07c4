#include "adapters/kubernetes/client/curl_transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

constexpr size_t kLongestRefusal = size_t{64} << 10;

struct UrlFree {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string Part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

curl_blob Blob(const std::string& text) {
  return {.data = const_cast<char*>(text.data()),
          .len = text.size(),
          .flags = CURL_BLOB_COPY};
}

absl::StatusCode CodeOf(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return absl::StatusCode::kOk;
    case CURLE_OPERATION_TIMEDOUT:
      return absl::StatusCode::kDeadlineExceeded;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      return absl::StatusCode::kUnauthenticated;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

absl::StatusOr<CurlTarget> MakeCurlTarget(const ClusterAccess& access,
                                          const CurlOptions& options) {
  if (!access.server.starts_with("https://")) {
    return absl::InvalidArgumentError("server: expected https://...");
  }
  const std::unique_ptr<CURLU, UrlFree> url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, access.server.c_str(), 0) !=
          CURLUE_OK ||
      !Part(url.get(), CURLUPART_QUERY).empty() ||
      !Part(url.get(), CURLUPART_USER).empty()) {
    return absl::InvalidArgumentError(
        "server: expected https://host:port, perhaps with a path");
  }
  CurlTarget target{.ca_pem = access.ca_pem,
                    .proxy_url = access.proxy_url,
                    .options = options};
  if (!access.tls_server_name.empty()) {
    // The URL has the certificate's name, the connection the server's.
    const std::string host = Part(url.get(), CURLUPART_HOST);
    const std::string port =
        Part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
    target.host = Concat(host, ":", port);
    target.connect_to = Concat("::", target.host);
    if (curl_url_set(url.get(), CURLUPART_HOST, access.tls_server_name.c_str(),
                     0) != CURLUE_OK) {
      return absl::InvalidArgumentError("tls-server-name: is no host name");
    }
  }
  target.url = Part(url.get(), CURLUPART_URL);
  while (target.url.ends_with('/')) target.url.pop_back();
  return target;
}

template <class T>
void CurlTransfer::Set(CURLoption option, T value) {
  curl_easy_setopt(easy_.get(), option, value);
}

void CurlTransfer::SetUp(CurlEasy easy, const CurlTarget& target,
                         const Credential& credential, bool* told) {
  easy_ = std::move(easy);
  told_ = told;
  generation_ = credential.generation;
  curl_easy_reset(easy_.get());
  Set(CURLOPT_PRIVATE, this);
  Set(CURLOPT_ERRORBUFFER, error_);
  Set(CURLOPT_HEADERFUNCTION, &OnHeader);
  Set(CURLOPT_HEADERDATA, this);
  Set(CURLOPT_WRITEFUNCTION, &OnBody);
  Set(CURLOPT_WRITEDATA, this);
  Set(CURLOPT_PREREQFUNCTION, &BeforeSending);
  Set(CURLOPT_PREREQDATA, this);
  Set(CURLOPT_SOCKOPTFUNCTION, &OnSocket);
  Set(CURLOPT_SOCKOPTDATA, this);
  SetRequest(target, credential);
  SetLimits(target.options);
  SetTls(target, credential);
}

void CurlTransfer::SetRequest(const CurlTarget& target,
                              const Credential& credential) {
  const CurlOptions& options = target.options;
  Set(CURLOPT_URL, Concat(target.url, request_.path).c_str());
  Set(CURLOPT_PATH_AS_IS, 1L);
  Set(CURLOPT_PROTOCOLS_STR, "https");
  Set(CURLOPT_FOLLOWLOCATION, 0L);
  Set(CURLOPT_PROXY, target.proxy_url.c_str());  // "" beats the environment.
  Set(CURLOPT_USERAGENT, options.user_agent.c_str());
  Set(CURLOPT_HTTP_VERSION, options.http2 ? long{CURL_HTTP_VERSION_2TLS}
                                          : long{CURL_HTTP_VERSION_1_1});
  Set(CURLOPT_PIPEWAIT, options.http2 ? 1L : 0L);
  curl_slist* list = nullptr;
  const auto header = [&](const std::string& line) {
    list = curl_slist_append(list, line.c_str());
  };
  header("Accept: application/json");
  header("Expect:");
  if (!target.host.empty()) header(Concat("Host: ", target.host));
  if (!credential.token.empty()) {
    header(Concat("Authorization: Bearer ", credential.token));
  }
  if (request_.method == "GET") {
    Set(CURLOPT_HTTPGET, 1L);
  } else {
    header(request_.content_type.empty()
               ? std::string("Content-Type:")
               : Concat("Content-Type: ", request_.content_type));
    Set(CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(request_.body.size()));
    Set(CURLOPT_POSTFIELDS, request_.body.data());
    Set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  headers_.reset(list);
  Set(CURLOPT_HTTPHEADER, headers_.get());
  if (!target.connect_to.empty()) {
    connect_to_.reset(curl_slist_append(nullptr, target.connect_to.c_str()));
    Set(CURLOPT_CONNECT_TO, connect_to_.get());
  }
}

void CurlTransfer::SetLimits(const CurlOptions& options) {
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout));
  longest_ = request_.streaming ? SIZE_MAX : options.longest_response;
  if (!request_.streaming) {
    Set(CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout));
    Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    Set(CURLOPT_LOW_SPEED_TIME,
        std::max(1L, static_cast<long>(options.longest_silence / 1000)));
  }
  dead_after_ = options.dead_after;
  const long seconds = std::max(1L, static_cast<long>(dead_after_ / 1000));
  Set(CURLOPT_TCP_KEEPALIVE, 1L);
  Set(CURLOPT_TCP_KEEPIDLE, std::max(1L, seconds / 2));
  Set(CURLOPT_TCP_KEEPINTVL, std::max(1L, seconds / 6));
}

void CurlTransfer::SetTls(const CurlTarget& target,
                          const Credential& credential) {
  Set(CURLOPT_SSL_VERIFYPEER, 1L);
  Set(CURLOPT_SSL_VERIFYHOST, 2L);
  Set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!target.ca_pem.empty()) {
    const curl_blob ca = Blob(target.ca_pem);
    Set(CURLOPT_CAINFO_BLOB, &ca);
    // Else the system's authorities would be trusted, too.
    Set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (credential.certificate_pem.empty()) return;
  const curl_blob certificate = Blob(credential.certificate_pem);
  const curl_blob key = Blob(credential.key_pem);
  Set(CURLOPT_SSLCERT_BLOB, &certificate);
  Set(CURLOPT_SSLKEY_BLOB, &key);
  Set(CURLOPT_SSLCERTTYPE, "PEM");
  Set(CURLOPT_SSLKEYTYPE, "PEM");
}

// Right before the request is written. libcurl writes it again by itself if a
// kept connection turns out to be dead.
int CurlTransfer::BeforeSending(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  if (transfer.sent_ && !transfer.request_.idempotent) {
    transfer.stopped_ = Stopped::kTwice;
  } else if (SteadyNow() >= transfer.request_.send_before) {
    transfer.stopped_ = Stopped::kTooLate;
  } else {
    transfer.sent_ = true;
    return CURL_PREREQFUNC_OK;
  }
  return CURL_PREREQFUNC_ABORT;
}

int CurlTransfer::OnSocket(void* self, curl_socket_t socket, curlsocktype) {
  const auto& transfer = *static_cast<CurlTransfer*>(self);
  const auto unconfirmed = static_cast<unsigned>(transfer.dead_after_);
  const int probes = 3;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unconfirmed,
             sizeof unconfirmed);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  return CURL_SOCKOPT_OK;
}

size_t CurlTransfer::OnHeader(char* data, size_t, size_t size, void* self) {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  if (transfer.head_ended_) return size;  // A trailer.
  const absl::string_view line(data, size);
  if (absl::StartsWith(line, "HTTP/")) {
    transfer.head_ = {};
    return size;
  }
  constexpr absl::string_view kRetryAfter = "retry-after:";
  int64_t seconds = 0;
  if (absl::StartsWithIgnoreCase(line, kRetryAfter) &&
      absl::SimpleAtoi(line.substr(kRetryAfter.size()), &seconds) &&
      seconds >= 0) {
    transfer.head_.retry_after =
        Millis{1000} * std::min(seconds, kMaxRetryAfterSeconds);
  }
  if (line == "\r\n" || line == "\n") transfer.OnHeadEnd();
  return size;
}

void CurlTransfer::OnHeadEnd() {
  constexpr int kUnauthorized = 401;
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return;  // "100 Continue": another head follows.
  head_.status = static_cast<int>(status);
  head_ended_ = true;
  if (head_.status == kUnauthorized && !asked_again_) {
    swallowing_ = true;
  } else if (receiver_ != nullptr) {
    *told_ = true;
    receiver_->OnHead(id_, head_);
  }
}

size_t CurlTransfer::OnBody(char* data, size_t, size_t size, void* self) {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  if (transfer.receiver_ == nullptr) return 0;
  if (transfer.swallowing_) {
    if (transfer.swallowed_.size() + size <= kLongestRefusal) {
      transfer.swallowed_.append(data, size);
    }
    return size;
  }
  transfer.received_ += size;
  if (transfer.received_ > transfer.longest_) {
    transfer.stopped_ = Stopped::kTooLong;
    return 0;
  }
  *transfer.told_ = true;
  transfer.receiver_->OnData(transfer.id_, {data, size});
  return size;
}

void CurlTransfer::AskAgain() {
  asked_again_ = true;
  swallowing_ = false;
  swallowed_.clear();
  head_ = {};
  head_ended_ = false;
  sent_ = false;  // A 401 did nothing.
  error_[0] = '\0';
}

void CurlTransfer::Finish(const RequestEnd& end) {
  const auto receiver = [this] {
    if (receiver_ != nullptr) *told_ = true;
    return receiver_;
  };
  if (swallowing_) {
    if (receiver()) receiver_->OnHead(id_, head_);
    if (!swallowed_.empty() && receiver()) receiver_->OnData(id_, swallowed_);
  }
  if (receiver()) receiver_->OnEnd(id_, end);
}

RequestEnd CurlTransfer::EndFrom(CURLcode code) const {
  if (code == CURLE_OK) return {.sent = true};
  const std::string_view what =
      error_[0] != '\0' ? std::string_view(error_)
                        : std::string_view(curl_easy_strerror(code));
  switch (stopped_) {
    case Stopped::kTooLong:
      return {absl::ResourceExhaustedError(
                  Concat("the response is longer than ", longest_, " bytes")),
              sent_};
    case Stopped::kTooLate:
      return {absl::DeadlineExceededError("too late to be sent"), sent_};
    case Stopped::kTwice:
      return {absl::UnavailableError("the connection broke after sending"),
              sent_};
    case Stopped::kNo:
      break;
  }
  return {absl::Status(CodeOf(code), PlainText(what)), sent_};
}

}  // namespace muster::kubernetes::client
