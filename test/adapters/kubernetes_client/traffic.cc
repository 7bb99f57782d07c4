#include "test/adapters/kubernetes_client/traffic.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace muster::kubernetes::client {
namespace {

// False: the line is none of the format's, or stands where it may not.
bool TakeLine(const std::string& line, std::vector<Exchange>* exchanges) {
  const size_t space = line.find(' ');
  if (space == std::string::npos) return false;
  const std::string word = line.substr(0, space);
  const std::string rest = line.substr(space + 1);
  if (word == "REQUEST") {
    const size_t path = rest.find(" /");
    if (path == std::string::npos) return false;
    exchanges->push_back(
        {.method = rest.substr(0, path), .path = rest.substr(path + 1)});
    return true;
  }
  if (exchanges->empty()) return false;
  Exchange& last = exchanges->back();
  if (word == "BODY") {
    last.body = rest;
    return last.status == 0;
  }
  if (word == "ANSWER") return absl::SimpleAtoi(rest, &last.status);
  if (last.status == 0) return false;
  if (word == "RETRY-AFTER") {
    Millis seconds = 0;
    if (!absl::SimpleAtoi(rest, &seconds)) return false;
    last.retry_after = seconds * 1'000;
    return true;
  }
  if (word != "LINE") return false;
  last.answer.append(rest).append("\n");
  return true;
}

}  // namespace

absl::StatusOr<std::vector<Exchange>> ReadTraffic(const std::string& file) {
  std::ifstream in(file);
  if (!in) return absl::NotFoundError(file);
  std::vector<Exchange> exchanges;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    if (!TakeLine(line, &exchanges)) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ":", number, ": ", line.substr(0, 80)));
    }
  }
  return exchanges;
}

Recording ToRecording(const Exchange& exchange, size_t piece) {
  Recording recording{.status = exchange.status,
                      .retry_after = exchange.retry_after};
  for (size_t at = 0; at < exchange.answer.size(); at += piece) {
    recording.chunks.push_back(exchange.answer.substr(at, piece));
  }
  return recording;
}

std::string Asked(const std::string& method, const std::string& path) {
  std::string asked = absl::StrCat(method, " ", path);
  const size_t begin = asked.find("&timeoutSeconds=");
  if (begin == std::string::npos) return asked;
  const size_t end = std::min(asked.find('&', begin + 1), asked.size());
  return asked.erase(begin, end - begin);
}

}  // namespace muster::kubernetes::client
