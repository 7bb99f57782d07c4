#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/client/job_files.h"

namespace muster::local {
namespace {

// A line that begins a document.
bool IsMarker(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || line[3] == ' ' ||
                                     line[3] == '\t' || line[3] == '\r');
}

// The documents with their first lines; together they are all of the text.
std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (at > begin && IsMarker(text.substr(at, end - at))) {
      parts.push_back(text.substr(begin, at - begin));
      begin = at;
    }
    at = end + 1;
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

bool IsBlank(std::string_view part) {
  size_t begin = 0;
  while (begin < part.size()) {
    const size_t end = std::min(part.find('\n', begin), part.size());
    std::string_view line = part.substr(begin, end - begin);
    begin = end + 1;
    if (IsMarker(line)) line.remove_prefix(3);
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

// Comments, as many lines.
std::string Blank(std::string_view part) {
  std::string blank;
  bool first = true;
  for (size_t begin = 0; begin < part.size();) {
    const size_t end = part.find('\n', begin);
    const bool marker = first && part.starts_with("---");
    absl::StrAppend(&blank, marker ? "---" : "#");
    first = false;
    if (end == std::string_view::npos) break;
    blank += '\n';
    begin = end + 1;
  }
  return blank;
}

std::string TextOf(const YAML::Node& node) {
  return node.IsDefined() && node.IsScalar() ? node.Scalar() : "";
}

// As Kubernetes has it.
bool IsKey(const std::string& key) {
  return !key.empty() && key.size() <= 253 && !key.starts_with("..") &&
         key != "." && std::ranges::all_of(key, [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '-' || c == '_' || c == '.';
         });
}

absl::Status ReadFiles(const YAML::Node& root, const char* field, bool base64,
                       ConfigDocument* to) {
  const YAML::Node map = root[field];
  if (!map.IsDefined() || map.IsNull()) return absl::OkStatus();
  const auto wrong = [&](const std::string& key, const char* what) {
    return absl::InvalidArgumentError(
        absl::StrCat(to->secret ? "Secret" : "ConfigMap", " '", to->name,
                     "': ", field, key.empty() ? "" : ".", key, ": ", what));
  };
  if (!map.IsMap()) return wrong("", "expected a mapping");
  for (const auto& entry : map) {
    const std::string key = TextOf(entry.first);
    if (!IsKey(key)) {
      return wrong("", "a key has letters, digits, '-', '_' and '.'");
    }
    if (!entry.second.IsScalar()) return wrong(key, "expected a text");
    std::string bytes = entry.second.Scalar();
    if (base64) {
      std::string packed = bytes;
      std::erase_if(packed, [](unsigned char c) { return c <= ' '; });
      if (!absl::Base64Unescape(packed, &bytes)) {
        return wrong(key, "expected base64");
      }
    }
    to->files[key] = std::move(bytes);
  }
  return absl::OkStatus();
}

// Nothing: it is something else.
absl::StatusOr<std::optional<ConfigDocument>> ReadDocument(
    const YAML::Node& root) {
  if (!root.IsMap() || TextOf(root["apiVersion"]) != "v1") return std::nullopt;
  const std::string kind = TextOf(root["kind"]);
  if (kind != "ConfigMap" && kind != "Secret") return std::nullopt;
  ConfigDocument document{.secret = kind == "Secret"};
  const YAML::Node metadata = root["metadata"];
  if (metadata.IsDefined() && metadata.IsMap()) {
    document.name = TextOf(metadata["name"]);
  }
  if (!IsKey(document.name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        kind, ": metadata.name: '", document.name,
        "': a name has letters, digits, '-' and '.', and is not empty"));
  }
  absl::Status read;
  if (document.secret) {
    read = ReadFiles(root, "data", /*base64=*/true, &document);
    if (read.ok()) read = ReadFiles(root, "stringData", false, &document);
  } else {
    read = ReadFiles(root, "data", /*base64=*/false, &document);
    if (read.ok()) read = ReadFiles(root, "binaryData", true, &document);
  }
  if (!read.ok()) return read;
  return document;
}

}  // namespace

absl::StatusOr<SplitManifest> TakeConfigDocuments(std::string_view manifest) {
  SplitManifest split;
  if (manifest.starts_with("#!")) {
    split.rest = manifest;
    split.has_rest = true;
    return split;
  }
  for (const std::string_view part : Split(manifest)) {
    const bool may_be = part.find("ConfigMap") != std::string_view::npos ||
                        part.find("Secret") != std::string_view::npos;
    absl::StatusOr<std::optional<ConfigDocument>> document = std::nullopt;
    try {
      if (may_be) document = ReadDocument(YAML::Load(std::string(part)));
    } catch (const YAML::Exception&) {
      document = std::nullopt;  // The daemon tells what is wrong with it.
    }
    if (!document.ok()) return document.status();
    if (*document) {
      split.documents.push_back(**std::move(document));
      split.rest += Blank(part);
    } else {
      split.rest += part;
      split.has_rest |= !IsBlank(part);
    }
  }
  return split;
}

}  // namespace muster::local
