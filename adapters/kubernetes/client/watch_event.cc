#include "adapters/kubernetes/client/watch_event.h"

#include <simdjson.h>

#include "adapters/kubernetes/client/line_splitter.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(kPadding >= simdjson::SIMDJSON_PADDING);

absl::Status Wrong(std::string_view what, simdjson::error_code code) {
  return absl::InvalidArgumentError(
      Concat(what, ": ", simdjson::error_message(code)));
}

std::optional<EventType> TypeOf(std::string_view name) {
  if (name == "ADDED") return EventType::kAdded;
  if (name == "MODIFIED") return EventType::kModified;
  if (name == "DELETED") return EventType::kDeleted;
  if (name == "BOOKMARK") return EventType::kBookmark;
  if (name == "ERROR") return EventType::kError;
  return std::nullopt;
}

// A string that may be missing.
simdjson::error_code Optional(ondemand::object& object, std::string_view key,
                              std::string* to) {
  std::string_view text;
  const auto code = object[key].get_string().get(text);
  if (code == simdjson::NO_SUCH_FIELD) return simdjson::SUCCESS;
  if (code == simdjson::SUCCESS) *to = text;
  return code;
}

}  // namespace

struct WatchReader::Parser {
  // `text` has kPadding bytes behind it.
  simdjson::error_code Begin(std::string_view text,
                             ondemand::document* document) {
    return json
        .iterate(simdjson::padded_string_view(text.data(), text.size(),
                                              text.size() + kPadding))
        .get(*document);
  }

  ondemand::parser json;
};

WatchReader::WatchReader() : parser_(std::make_unique<Parser>()) {}
WatchReader::~WatchReader() = default;
WatchReader::WatchReader(WatchReader&&) noexcept = default;
WatchReader& WatchReader::operator=(WatchReader&&) noexcept = default;

absl::StatusOr<WatchEvent> WatchReader::ReadEvent(std::string_view line) {
  ondemand::document document;
  ondemand::object root;
  auto code = parser_->Begin(line, &document);
  if (code == simdjson::SUCCESS) code = document.get_object().get(root);
  if (code != simdjson::SUCCESS) return Wrong("watch event", code);
  std::string_view name;
  code = root["type"].get_string().get(name);
  if (code != simdjson::SUCCESS) return Wrong("watch event: type", code);
  const auto type = TypeOf(name);
  if (!type) {
    return absl::InvalidArgumentError(
        Concat("watch event: type: '", PlainText(name, 32),
               "' is none of: ADDED, MODIFIED, DELETED, BOOKMARK, ERROR"));
  }
  WatchEvent event{.type = *type};
  ondemand::object object;
  code = root["object"].get_object().get(object);
  if (code == simdjson::SUCCESS) code = object.raw_json().get(event.object);
  if (code != simdjson::SUCCESS) return Wrong("watch event: object", code);
  if (*type == EventType::kError) return event;
  bool empty = false;
  code = object.reset().get(empty);
  if (code == simdjson::SUCCESS) {
    code = object["metadata"]["resourceVersion"].get_string().get(
        event.resource_version);
  }
  if (code != simdjson::SUCCESS) {
    return Wrong("watch event: object.metadata.resourceVersion", code);
  }
  if (event.resource_version.empty()) {
    return absl::InvalidArgumentError(
        "watch event: object.metadata.resourceVersion: is empty");
  }
  return event;
}

absl::StatusOr<ListMetadata> WatchReader::ReadListMetadata(
    std::string_view body) {
  ondemand::document document;
  ondemand::object metadata;
  auto code = parser_->Begin(body, &document);
  if (code != simdjson::SUCCESS) return Wrong("list", code);
  code = document["metadata"].get_object().get(metadata);
  if (code != simdjson::SUCCESS) return Wrong("list: metadata", code);
  ListMetadata read;
  code = Optional(metadata, "resourceVersion", &read.resource_version);
  if (code != simdjson::SUCCESS) {
    return Wrong("list: metadata.resourceVersion", code);
  }
  code = Optional(metadata, "continue", &read.continue_token);
  if (code != simdjson::SUCCESS) return Wrong("list: metadata.continue", code);
  if (read.resource_version.empty()) {
    return absl::InvalidArgumentError(
        "list: metadata.resourceVersion: is missing");
  }
  return read;
}

}  // namespace muster::kubernetes::client
