#include "lib/workload/manifest.h"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "absl/strings/numbers.h"
#include "lib/workload/cat.h"
#include "muster/ids.h"
#include "muster/quantity.h"
#include "yaml-cpp/eventhandler.h"

namespace muster::workload {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxAliased = 1'000'000;
constexpr size_t kMaxDocuments = 1000;

absl::Status At(int line, std::string_view what) {
  return absl::InvalidArgumentError(Cat("line ", line, ": ", what));
}

// Counts the values that a reader comes upon: what aliases stand for counts
// wherever it stands.
class Extent {
 public:
  Extent(int first_line, size_t bytes)
      : first_line_(first_line), left_(3 * bytes + kMaxAliased) {}

  absl::Status Measure(const YAML::Node& node, int depth = 0) {
    const int line = first_line_ + std::max(0, node.Mark().line);
    if (depth > kMaxDepth) {
      return At(line, Cat("more than ", kMaxDepth,
                          " levels deep, or an alias of what it is "
                          "in"));
    }
    if (left_-- == 0) {
      return At(line,
                Cat("aliases stand for more than ", kMaxAliased, " values"));
    }
    for (const auto& entry : node) {
      absl::Status s =
          node.IsMap() ? Measure(entry.first, depth + 1) : absl::OkStatus();
      if (s.ok()) s = Measure(node.IsMap() ? entry.second : entry, depth + 1);
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  int first_line_;
  size_t left_;
};

// Hears of the beginnings of documents alone.
class DocumentCount final : public YAML::EventHandler {
 public:
  int count = 0;

  void OnDocumentStart(const YAML::Mark&) override { ++count; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// A piece of the file between two lines "---".
struct Piece {
  std::string text{};
  int first_line = 1;
};

std::vector<Piece> Split(std::string_view bytes) {
  std::vector<Piece> pieces{{}};
  int line = 1;
  for (size_t at = 0; at < bytes.size(); ++line) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
    const std::string_view text = bytes.substr(at, end - at);
    at = end;
    const bool marker = text.starts_with("---") &&
                        (text.size() == 3 || text[3] == ' ' ||
                         text[3] == '\n' || text[3] == '\r' || text[3] == '\t');
    if (marker) pieces.push_back({{}, line});
    pieces.back().text += text;
  }
  return pieces;
}

// Its document, if it has one, goes to `documents`.
absl::Status LoadPiece(const Piece& piece, std::vector<Document>* documents) {
  try {
    // YAML::LoadAll never comes to the end of some damaged files.
    std::istringstream in(piece.text);
    YAML::Parser parser(in);
    DocumentCount count;
    while (count.count < 2 && parser.HandleNextDocument(count)) {
    }
    if (count.count == 0) return absl::OkStatus();
    if (count.count > 1) {
      return At(piece.first_line, "documents are parted by lines \"---\"");
    }
    YAML::Node root = YAML::Load(piece.text);
    if (root.IsNull()) return absl::OkStatus();
    absl::Status s = Extent(piece.first_line, piece.text.size()).Measure(root);
    if (s.ok()) documents->push_back({root, piece.first_line});
    return s;
  } catch (const YAML::Exception& e) {
    return At(piece.first_line + std::max(0, e.mark.line), e.msg);
  }
}

}  // namespace

void Findings::Wrong(const YAML::Mark& mark, std::string_view path,
                     std::string_view what, absl::StatusCode code) {
  const int line = Line(mark);
  if (!status_.ok() && wrong_line_ <= line) return;
  wrong_line_ = line;
  status_ = absl::Status(
      code, Cat("line ", line, ": ", path, path.empty() ? "" : ": ", what));
}

void Findings::Ignore(const YAML::Mark& mark, std::string path,
                      std::string why) {
  ignored_.push_back(
      {mark.column, {std::move(path), Line(mark), std::move(why)}});
}

std::vector<IgnoredField> Findings::TakeIgnored() {
  std::stable_sort(ignored_.begin(), ignored_.end(),
                   [](const auto& a, const auto& b) {
                     return std::pair(a.second.line, a.first) <
                            std::pair(b.second.line, b.first);
                   });
  std::vector<IgnoredField> fields;
  for (auto& [column, field] : ignored_) fields.push_back(std::move(field));
  ignored_.clear();
  return fields;
}

bool Value::Text(std::string* to) const {
  if (!there_) return false;
  if (!node_.IsScalar()) {
    Wrong("expected a single value");
    return false;
  }
  if (node_.Scalar().find('\0') != std::string::npos) {
    Wrong("has a byte 0");
    return false;
  }
  *to = node_.Scalar();
  return true;
}

bool Value::Integer(int64_t low, int64_t high, int64_t* to) const {
  std::string text;
  if (!Text(&text)) return false;
  if (!absl::SimpleAtoi(text, to)) {
    Wrong("'" + text + "' is not an integer");
    return false;
  }
  if (*to < low || *to > high) {
    Wrong(Cat("'", text, "' is not between ", low, " and ", high));
    return false;
  }
  return true;
}

void Value::Read(std::string* to) const { Text(to); }

void Value::Read(bool* to) const {
  std::string text;
  if (!Text(&text)) return;
  if (text != "true" && text != "false") {
    return Wrong("'" + text + "' is neither true nor false");
  }
  *to = text == "true";
}

void Value::Read(std::vector<std::string>* to) const {
  if (there_) to->clear();
  Each([&](const Value& v) {
    std::string text;
    if (v.there() && v.Text(&text)) to->push_back(std::move(text));
    if (!v.there()) v.Wrong("expected a single value");
  });
}

void Value::ReadQuantity(int64_t* to, int64_t scale) const {
  std::string text;
  if (!Text(&text)) return;
  const auto q = ParseQuantityRoundedUp(text, scale);
  if (!q.ok()) return Wrong(std::string(q.status().message()));
  constexpr int64_t kMost = int64_t{1} << 53;
  if (*q < 0 || *q > kMost) {
    return Wrong("'" + text + "' is negative or too large");
  }
  *to = *q;
}

void Value::ReadSeconds(Duration* to, int64_t low) const {
  int64_t seconds = 0;
  constexpr int64_t kMost = kMaxDuration / kSecond;
  if (Integer(low, kMost, &seconds)) *to = seconds * kSecond;
}

void Value::Each(const std::function<void(const Value&)>& f) const {
  if (!there_) return;
  if (!node_.IsSequence()) return Wrong("expected a list");
  size_t i = 0;
  for (const auto& element : node_) {
    f(Value(element, Cat(path_, "[", i, "]"), findings_));
    ++i;
  }
}

void Value::EachEntry(
    const std::function<void(const std::string&, const Value&)>& f) const {
  if (!there_) return;
  if (!node_.IsMap()) return Wrong("expected a mapping of keys to values");
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    std::string name;
    const Value key(entry.first, path_, findings_);
    if (!key.Text(&name)) {
      if (!key.there()) key.Wrong("expected a key");
      continue;
    }
    std::string path = path_.empty() ? name : path_ + "." + name;
    if (!seen.insert(name).second) {
      findings_->Wrong(entry.first.Mark(), path, "is there twice");
      continue;
    }
    f(name, Value(entry.second, std::move(path), findings_));
  }
}

void Value::Read(Labels* to) const {
  if (there_) to->clear();
  EachEntry([&](const std::string& key, const Value& v) {
    std::string text;
    v.Read(&text);
    if (key.empty() || key.size() > kMaxKeyLength ||
        text.size() > kMaxTextLength) {
      return v.Wrong("key or value is empty or too long");
    }
    to->push_back({key, std::move(text)});
  });
  std::ranges::sort(*to, {}, &Label::key);
}

Object::Object(const Value& value) : value_(value) {
  value_.EachEntry([&](const std::string& key, const Value& v) {
    entries_[key] = {v.mark(), v, false};
  });
}

Object::~Object() {
  for (const auto& [key, entry] : entries_) {
    if (entry.read) continue;
    value_.findings_->Ignore(entry.mark, entry.value.path(), "has no effect");
  }
}

Value Object::operator[](std::string_view key) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) {
    return Value(YAML::Node(YAML::NodeType::Null),
                 Cat(value_.path(), value_.path().empty() ? "" : ".", key),
                 value_.findings());
  }
  it->second.read = true;
  return it->second.value;
}

Value Object::Required(std::string_view key) {
  Value v = (*this)[key];
  if (!v.there() && value_.IsMap()) {
    value_.Wrong(Cat("lacks '", key, "'"));
  }
  return v;
}

void Object::Ignore(std::string_view key, std::string why) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return;
  it->second.read = true;
  it->second.value.findings()->Ignore(it->second.mark, it->second.value.path(),
                                      std::move(why));
}

absl::StatusOr<std::vector<Document>> LoadDocuments(std::string_view bytes) {
  std::vector<Document> documents;
  for (const Piece& piece : Split(bytes)) {
    const absl::Status s = LoadPiece(piece, &documents);
    if (!s.ok()) return s;
    if (documents.size() > kMaxDocuments) {
      return absl::InvalidArgumentError(
          Cat("more than ", kMaxDocuments, " documents"));
    }
  }
  return documents;
}

}  // namespace muster::workload
