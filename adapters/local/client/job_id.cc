#include "adapters/local/client/job_id.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::local {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Digits alone, as far as a number of SQLite's goes.
bool ReadNumber(std::string_view text, uint64_t* number) {
  return IsNumber(text) && absl::SimpleAtoi(std::string(text), number) &&
         *number <= uint64_t{std::numeric_limits<int64_t>::max()};
}

struct Range {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t step = 1;
};

// "2-10:2"; false: it is none.
bool ReadRange(std::string_view text, Range* range) {
  const size_t colon = text.find(':');
  const std::string_view ends = text.substr(0, colon);
  const size_t dash = ends.find('-');
  if (dash == std::string_view::npos ||
      !ReadNumber(ends.substr(0, dash), &range->first) ||
      !ReadNumber(ends.substr(dash + 1), &range->last)) {
    return false;
  }
  return colon == std::string_view::npos ||
         ReadNumber(text.substr(colon + 1), &range->step);
}

absl::Status CheckRange(std::string_view text, const Range& range) {
  const bool ok = range.step > 0 && range.first <= range.last &&
                  (range.last - range.first) / range.step < kMostOfRange;
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      std::string(text), ": expected a range such as 2-10:2 of at ", "most ",
      kMostOfRange, " numbers"));
}

bool ReadElement(std::string_view text, JobId* id) {
  const size_t score = text.find('_');
  if (score == std::string_view::npos ||
      !ReadNumber(text.substr(0, score), &id->first)) {
    return false;
  }
  const std::string_view index = text.substr(score + 1);
  if (index == "*") return true;
  uint64_t number = 0;
  if (!ReadNumber(index, &number) ||
      number > std::numeric_limits<uint32_t>::max()) {
    return false;
  }
  id->index = static_cast<uint32_t>(number);
  return true;
}

}  // namespace

absl::StatusOr<JobId> ParseJobId(std::string_view text) {
  JobId id;
  Range range;
  if (text == "last" || text == "@") {
    id.kind = JobId::Kind::kLast;
  } else if (text.starts_with("@~") && ReadNumber(text.substr(2), &id.first)) {
    id.kind = JobId::Kind::kLast;
  } else if (text == "all") {
    id.kind = JobId::Kind::kAll;
  } else if (ReadNumber(text, &id.first)) {
    id.kind = JobId::Kind::kId;
  } else if (ReadElement(text, &id)) {
    id.kind = JobId::Kind::kElement;
  } else if (ReadRange(text, &range)) {
    const absl::Status status = CheckRange(text, range);
    if (!status.ok()) return status;
    id = {.kind = JobId::Kind::kRange,
          .first = range.first,
          .last = range.last,
          .step = range.step};
  } else {
    id = {.kind = JobId::Kind::kName, .name = std::string(text)};
  }
  const bool numbered = id.kind != JobId::Kind::kLast &&
                        id.kind != JobId::Kind::kAll &&
                        id.kind != JobId::Kind::kName;
  const bool wrong_last =
      text.starts_with('@') && id.kind != JobId::Kind::kLast;
  if (text.empty() || wrong_last || (numbered && id.first == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text),
                     "': expected a job: 7, 7_3, 2-10:2, last, @~2, all or a "
                     "name"));
  }
  return id;
}

JobAndTask SplitTask(std::string_view text) {
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {.job = std::string(text)};
  const std::string_view task = text.substr(dot + 1);
  const size_t dash = task.rfind('-');
  const bool is_task =
      IsNumber(task) || (dash != std::string_view::npos && dash > 0 &&
                         IsNumber(task.substr(dash + 1)));
  if (dot == 0 || !is_task) return {.job = std::string(text)};
  return {.job = std::string(text.substr(0, dot)), .task = std::string(task)};
}

absl::StatusOr<std::vector<uint32_t>> ParseIndices(std::string_view text) {
  std::vector<uint32_t> indices;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(std::string(text), ','))) {
    Range range;
    if (ReadNumber(part, &range.first)) {
      range.last = range.first;
    } else if (!ReadRange(part, &range)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "array: '", part, "': expected indices such as 0-9:2,12"));
    }
    const absl::Status status = CheckRange(part, range);
    if (!status.ok()) return status;
    if (range.last > std::numeric_limits<uint32_t>::max() ||
        indices.size() > kMostOfRange) {
      return absl::InvalidArgumentError(
          absl::StrCat("array: at most ", kMostOfRange, " indices"));
    }
    for (uint64_t i = range.first; i <= range.last; i += range.step) {
      indices.push_back(static_cast<uint32_t>(i));
    }
  }
  std::ranges::sort(indices);
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

}  // namespace muster::local
