#include "lib/fabric/xml.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "lib/base/status_macros.h"

namespace muster {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// A Unicode code point as UTF-8.
void AppendUtf8(uint32_t point, std::string* out) {
  if (point < 0x80) {
    out->push_back(static_cast<char>(point));
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const uint32_t lead = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
  out->push_back(static_cast<char>(lead | (point >> (6 * more))));
  for (int i = more - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3f)));
  }
}

bool DecodeEntity(std::string_view name, std::string* out) {
  static constexpr std::pair<std::string_view, char> kNamed[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) {
      out->push_back(character);
      return true;
    }
  }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool hex = name[1] == 'x';
  const std::string_view digits = name.substr(hex ? 2 : 1);
  uint32_t point = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] =
      std::from_chars(digits.data(), end, point, hex ? 16 : 10);
  if (error != std::errc() || stop != end || point == 0 || point > 0x10ffff) {
    return false;
  }
  AppendUtf8(point, out);
  return true;
}

}  // namespace

absl::Status XmlReader::Bad(std::string_view message) const {
  const std::string_view before = text_.substr(0, at_);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return Invalid("line ", line, ": ", std::string(message));
}

absl::Status XmlReader::Until(std::string_view end, std::string_view* part) {
  const size_t stop = text_.find(end, at_);
  if (stop == text_.npos) {
    return Bad("the text ends before \"" + std::string(end) + "\"");
  }
  *part = text_.substr(at_, stop - at_);
  at_ = stop + end.size();
  return absl::OkStatus();
}

void XmlReader::SkipBlanks() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
}

std::string_view XmlReader::Name() {
  const size_t begin = at_;
  at_ = std::min(text_.find_first_of(" \t\r\n/>=<\"'&", at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

absl::Status XmlReader::Decode(std::string_view raw, std::string* out) const {
  while (!raw.empty()) {
    const size_t amp = std::min(raw.find('&'), raw.size());
    out->append(raw.substr(0, amp));
    raw.remove_prefix(amp);
    if (raw.empty()) break;
    const size_t end = raw.find(';');
    if (end == raw.npos || !DecodeEntity(raw.substr(1, end - 1), out)) {
      return Bad("'&' that begins no entity");
    }
    raw.remove_prefix(end + 1);
  }
  return absl::OkStatus();
}

absl::Status XmlReader::Attribute(XmlElement* element) {
  const std::string name(Name());
  SkipBlanks();
  if (name.empty() || !Take("=")) {
    return Bad("expected an attribute in <" + element->name + ">");
  }
  SkipBlanks();
  if (!Starts("\"") && !Starts("'")) {
    return Bad("the value of " + name + " has no quotes");
  }
  const std::string_view quote = text_.substr(at_++, 1);
  std::string_view raw;
  MUSTER_RETURN_IF_ERROR(Until(quote, &raw));
  std::string value;
  MUSTER_RETURN_IF_ERROR(Decode(raw, &value));
  const bool added = element->attributes.emplace(name, value).second;
  return added ? absl::OkStatus() : Bad(name + " is given twice");
}

absl::Status XmlReader::Open() {
  XmlElement element{.name = std::string(Name())};
  if (element.name.empty()) return Bad("'<' that begins no element");
  if (open_.empty() && had_root_) return Bad("a second root element");
  if (open_.size() == kMaxDepth) return Bad("elements too deep");
  had_root_ = true;
  for (SkipBlanks(); !Starts(">") && !Starts("/>"); SkipBlanks()) {
    MUSTER_RETURN_IF_ERROR(Attribute(&element));
  }
  closed_ = Take("/>");
  if (!closed_) Take(">");
  open_.push_back(std::move(element));
  return absl::OkStatus();
}

absl::Status XmlReader::Close() {
  const std::string_view name = Name();
  SkipBlanks();
  if (open_.empty() || open_.back().name != name || !Take(">")) {
    return Bad("</" + std::string(name.substr(0, 40)) + "> closes nothing");
  }
  closed_ = true;
  return absl::OkStatus();
}

// What begins with '<'.
absl::Status XmlReader::Markup() {
  std::string_view part;
  if (Take("<!--")) return Until("-->", &part);
  if (Starts("<?")) return Until("?>", &part);
  if (!open_.empty() && Take("<![CDATA[")) {
    MUSTER_RETURN_IF_ERROR(Until("]]>", &part));
    open_.back().text += part;
    return absl::OkStatus();
  }
  if (Starts("<!")) return Bad("document types are not read");
  if (Take("</")) return Close();
  ++at_;
  return Open();
}

absl::Status XmlReader::Text() {
  const size_t end = std::min(text_.find('<', at_), text_.size());
  const std::string_view part = text_.substr(at_, end - at_);
  std::string outside;
  MUSTER_RETURN_IF_ERROR(
      Decode(part, open_.empty() ? &outside : &open_.back().text));
  at_ = end;
  if (open_.empty() && part.find_first_not_of(kBlanks) != part.npos) {
    return Bad("text outside the root element");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const XmlElement>> XmlReader::Next() {
  if (std::exchange(closed_, false)) open_.pop_back();
  while (at_ < text_.size()) {
    MUSTER_RETURN_IF_ERROR(Starts("<") ? Markup() : Text());
    if (closed_) return open_;
  }
  if (!open_.empty()) return Bad("<" + open_.back().name + "> is never closed");
  if (!had_root_) return Bad("no element");
  return open_;
}

}  // namespace muster
