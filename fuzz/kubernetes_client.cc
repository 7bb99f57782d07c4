#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/exec_credentials.h"
#include "adapters/kubernetes/client/kubeconfig.h"
#include "adapters/kubernetes/client/lease.h"
#include "adapters/kubernetes/client/line_splitter.h"
#include "adapters/kubernetes/client/watch_event.h"
#include "fuzz/targets.h"

namespace muster::fuzz {
namespace {

namespace client = kubernetes::client;

constexpr size_t kLongestLine = 4096;

// A copy with no more readable bytes behind it than were promised.
class Padded {
 public:
  explicit Padded(std::string_view text)
      : bytes_(new char[text.size() + client::kPadding]), size_(text.size()) {
    if (size_ > 0) std::memcpy(bytes_.get(), text.data(), size_);
    std::memset(bytes_.get() + size_, 0, client::kPadding);
  }
  std::string_view text() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

std::string Refusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) && !status.message().empty()
             ? ""
             : "refused by " + status.ToString();
}

std::string ReadEvent(client::WatchReader* reader, std::string_view line) {
  const auto event = reader->ReadEvent(line);
  if (!event.ok()) return Refusal(event.status());
  const char* const begin = event->object.data();
  if (begin < line.data() ||
      begin + event->object.size() > line.data() + line.size()) {
    return "an object outside its line";
  }
  const client::ApiError error = client::ParseApiError(event->object);
  for (const char c : error.reason + error.message) {
    if (c < 0x20 || c > 0x7e) return "an error that is not plain";
  }
  return "";
}

// The lines of `text` fed in pieces of one size: joined again, or a complaint.
std::string Lines(std::string_view text, size_t piece, std::string* joined) {
  client::LineSplitter splitter(kLongestLine);
  client::WatchReader reader;
  while (!text.empty()) {
    const absl::Status fed = splitter.Feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    std::string_view line;
    while (splitter.Next(&line)) {
      joined->append(line).push_back('\n');
      std::string wrong = ReadEvent(&reader, line);
      if (!wrong.empty()) return wrong;
    }
    if (!fed.ok()) break;  // Too long: nothing else is to be had.
  }
  return "";
}

}  // namespace

std::string Watch(std::string_view input) {
  if (input.empty()) return "";
  const size_t piece = 1 + static_cast<uint8_t>(input[0]);
  const Padded rest(input.substr(1));
  std::string whole, pieces;
  std::string wrong = Lines(rest.text(), rest.text().size(), &whole);
  if (wrong.empty()) wrong = Lines(rest.text(), piece, &pieces);
  if (!wrong.empty()) return wrong;
  // In pieces, a line that is too long ends it before those that follow.
  if (!whole.starts_with(pieces)) return "lines that depend on the pieces";
  client::WatchReader reader;
  const auto list = reader.ReadListMetadata(rest.text());
  return list.ok() ? "" : Refusal(list.status());
}

std::string Kubeconfig(std::string_view input) {
  const auto config = client::ParseKubeconfig(input, "config", "");
  if (!config.ok()) {
    const std::string message(config.status().message());
    if (!message.starts_with("config:")) {
      return "an error without its file";
    }
    const std::string wrong = Refusal(config.status());
    if (!wrong.empty()) return wrong;
  } else if (!config->server.starts_with("https://")) {
    return "a server without TLS";
  }
  const auto lease = client::ReadLease(input);
  if (lease.ok()) {
    const auto again =
        client::ReadLease(client::WriteLease(*lease, "namespace", "name"));
    if (!again.ok()) return "a lease that cannot be read again";
    if (again->transitions != lease->transitions) return "another lease";
  }
  const auto exec =
      client::ReadExecCredential(input, "client.authentication.k8s.io/v1");
  return exec.ok() || absl::IsUnauthenticated(exec.status())
             ? ""
             : exec.status().ToString();
}

}  // namespace muster::fuzz
