#include "adapters/kubernetes/plugin/local_call.h"

#include <curl/curl.h>

#include <charconv>
#include <memory>
#include <string_view>

#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::plugin {
namespace {

using client::Concat;

constexpr size_t kLongestAnswer = size_t{64} << 20;

struct EasyFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, ListFree>;

void Add(const std::string& header, Headers* headers) {
  headers->reset(curl_slist_append(headers->release(), header.c_str()));
}

size_t OnBody(const char* data, size_t size, size_t count, void* body) {
  auto* text = static_cast<std::string*>(body);
  if (text->size() + size * count > kLongestAnswer) return 0;
  text->append(data, size * count);
  return size * count;
}

// "http://127.0.0.1:PORT" or "http://[::1]:PORT", and nothing behind it.
bool IsLocal(std::string_view server) {
  for (const std::string_view host : {"http://127.0.0.1:", "http://[::1]:"}) {
    if (!server.starts_with(host)) continue;
    server.remove_prefix(host.size());
    int port = 0;
    const char* end = server.data() + server.size();
    const auto read = std::from_chars(server.data(), end, port);
    return read.ec == std::errc() && read.ptr == end && port > 0 &&
           port < 65536;
  }
  return false;
}

}  // namespace

absl::StatusOr<LocalAnswer> Call(const LocalCall& call) {
  if (!IsLocal(call.server)) {
    return absl::InvalidArgumentError(Concat(
        call.server, ": expected http://127.0.0.1:PORT or http://[::1]:PORT"));
  }
  const std::unique_ptr<CURL, EasyFree> easy(curl_easy_init());
  if (easy == nullptr) return absl::UnavailableError("libcurl: no handle");
  LocalAnswer answer;
  Headers headers;
  Add(Concat("Authorization: Bearer ", call.token), &headers);
  const auto set = [&](CURLoption option, auto value) {
    curl_easy_setopt(easy.get(), option, value);
  };
  char error[CURL_ERROR_SIZE] = {};
  set(CURLOPT_ERRORBUFFER, error);
  set(CURLOPT_URL, Concat(call.server, call.path).c_str());
  set(CURLOPT_PROTOCOLS_STR, "http");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout));
  set(CURLOPT_WRITEFUNCTION, &OnBody);
  set(CURLOPT_WRITEDATA, &answer.body);
  if (!call.body.empty()) {
    Add("Content-Type: application/json", &headers);
    set(CURLOPT_POSTFIELDSIZE, static_cast<long>(call.body.size()));
    set(CURLOPT_POSTFIELDS, call.body.c_str());
  }
  set(CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(easy.get());
  if (code == CURLE_WRITE_ERROR) {
    return absl::ResourceExhaustedError("the answer is too long");
  }
  if (code != CURLE_OK) {
    return absl::UnavailableError(
        Concat(call.server, ": ",
               error[0] != '\0' ? error : curl_easy_strerror(code)));
  }
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  return answer;
}

}  // namespace muster::kubernetes::plugin
