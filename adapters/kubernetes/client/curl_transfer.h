// One request in libcurl's hands.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "adapters/kubernetes/client/credentials.h"
#include "adapters/kubernetes/client/curl_transport.h"
#include "adapters/kubernetes/client/transport.h"

namespace muster::kubernetes::client {

// CURL is void to C++.
struct EasyFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlEasy = std::unique_ptr<CURL, EasyFree>;
using CurlList = std::unique_ptr<curl_slist, ListFree>;

// What all requests to a server have in common.
struct CurlTarget {
  std::string url{};         // Without a slash at its end.
  std::string host{};        // For the header Host; "" for that of the URL.
  std::string connect_to{};  // "::host:port"; "" for that of the URL.
  std::string ca_pem{};
  std::string proxy_url{};
  CurlOptions options{};
};

// UNAVAILABLE, INVALID_ARGUMENT if the server's URL is none.
absl::StatusOr<CurlTarget> MakeCurlTarget(const ClusterAccess& access,
                                          const CurlOptions& options);

// Its callbacks run inside curl_multi_perform. Not moved once it is set up.
class CurlTransfer {
 public:
  CurlTransfer(RequestId id, HttpRequest request, Receiver* receiver)
      : id_(id), request_(std::move(request)), receiver_(receiver) {}
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // Sets `easy` up for this request; it is kept until TakeEasy. `told` becomes
  // true with each callback of the receiver.
  void SetUp(CurlEasy easy, const CurlTarget& target,
             const Credential& credential, bool* told);
  CURL* easy() const { return easy_.get(); }
  CurlEasy TakeEasy() { return std::move(easy_); }

  RequestId id() const { return id_; }
  bool streaming() const { return request_.streaming; }
  uint64_t generation() const { return generation_; }
  // The receiver hears no more.
  void Silence() { receiver_ = nullptr; }
  bool silenced() const { return receiver_ == nullptr; }

  // The answer is a 401 that was not told, and may be asked again.
  bool WasRefused() const { return swallowing_; }
  // Prepares another SetUp after a refusal; the next one is told.
  void AskAgain();
  // Tells the receiver the end, and a refusal that was kept from it.
  void Finish(const RequestEnd& end);
  RequestEnd EndFrom(CURLcode code) const;

 private:
  static size_t OnHeader(char* data, size_t, size_t size, void* self);
  static size_t OnBody(char* data, size_t, size_t size, void* self);
  static int BeforeSending(void* self, char*, char*, int, int);
  static int OnSocket(void* self, curl_socket_t socket, curlsocktype);
  void SetRequest(const CurlTarget& target, const Credential& credential);
  void SetLimits(const CurlOptions& options);
  void SetTls(const CurlTarget& target, const Credential& credential);
  void OnHeadEnd();
  template <class T>
  void Set(CURLoption option, T value);

  // Why the transfer was ended on this side.
  enum class Stopped { kNo, kTooLong, kTooLate, kTwice };

  const RequestId id_;
  const HttpRequest request_;
  Receiver* receiver_;
  CurlEasy easy_{};
  CurlList headers_{};
  CurlList connect_to_{};
  bool* told_ = nullptr;
  size_t longest_ = 0;
  Millis dead_after_ = 0;
  uint64_t generation_ = 0;
  ResponseHead head_{};
  bool head_ended_ = false;
  bool sent_ = false;
  bool asked_again_ = false;
  bool swallowing_ = false;
  std::string swallowed_{};  // The refusal's body.
  size_t received_ = 0;
  Stopped stopped_ = Stopped::kNo;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace muster::kubernetes::client
