#include "adapters/text/yaml_reader.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "adapters/text/quantity.h"
#include "yaml-cpp/eventhandler.h"

namespace muster::inprocess {

namespace {

// Control characters, of which a key may have any, are told by their numbers: a
// message is one line, and tells a terminal nothing else.
std::string OneLine(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::iscntrl(byte) == 0) {
      line += c;
    } else {
      line += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return line;
}

}  // namespace

absl::Status At(const std::string& file, const Mark& mark,
                std::string_view what) {
  std::string text = file;
  if (mark.line > 0) {
    text += ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
  }
  if (!mark.field.empty()) text += ": " + mark.field;
  return absl::InvalidArgumentError(OneLine(text + ": " + std::string(what)));
}

void Problems::Report(const Mark& mark, std::string_view what) {
  if (!status_.ok() && std::tie(where_.line, where_.column) <=
                           std::tie(mark.line, mark.column)) {
    return;
  }
  where_ = mark;
  status_ = At(file_, mark, what);
}

namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxAliased = 1'000'000;

// Counts the values that a reader comes upon: what aliases stand for counts
// wherever it stands. A file without any has at most three for each byte.
class Extent {
 public:
  Extent(const std::string& file, size_t bytes)
      : file_(file), left_(3 * bytes + kMaxAliased) {}

  absl::Status Measure(const YAML::Node& node, int depth = 0) {
    if (depth > kMaxDepth) {
      return Wrong(node, "is more than " + std::to_string(kMaxDepth) +
                             " levels deep, or an alias of what it is in");
    }
    if (left_-- == 0) {
      return Wrong(node, "aliases stand for more than " +
                             std::to_string(kMaxAliased) + " values");
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
  absl::Status Wrong(const YAML::Node& node, const std::string& what) const {
    const YAML::Mark m = node.Mark();
    return At(file_, {m.line + 1, m.column + 1, ""}, what);
  }

  const std::string& file_;
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

// Whether there are 0, 1 or several. YAML::LoadAll never comes to the end of
// some damaged files: the parser finds one empty document after the other.
int CountDocuments(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentCount documents;
  while (documents.count < 2 && parser.HandleNextDocument(documents)) {
  }
  return documents.count;
}

}  // namespace

absl::StatusOr<YAML::Node> LoadYaml(const std::string& file) {
  if (std::error_code error; std::filesystem::is_directory(file, error)) {
    return At(file, {}, "is a folder");
  }
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) return At(file, {}, "cannot be read");
  try {
    const int documents = CountDocuments(text);
    if (documents != 1) {
      return At(file, {},
                documents == 0 ? "is empty" : "has several documents");
    }
    YAML::Node root = YAML::Load(text);
    const absl::Status status = Extent(file, text.size()).Measure(root);
    if (!status.ok()) return status;
    return root;
  } catch (const YAML::Exception& e) {
    return At(file, {e.mark.line + 1, e.mark.column + 1, ""}, e.msg);
  }
}

Mark Value::mark() const {
  const YAML::Mark m = node_.Mark();
  return {m.line + 1, m.column + 1, path_};
}

std::string Value::Text() const {
  if (node_.IsScalar()) return node_.Scalar();
  Wrong("expected a single value");
  return {};
}

bool Value::Bool() const {
  const std::string text = Text();
  if (text != "true" && text != "false") {
    Wrong("'" + text + "' is neither true nor false");
  }
  return text == "true";
}

int64_t Value::Integer(int64_t least, int64_t most) const {
  const std::string text = Text();
  const bool minus = !text.empty() && text[0] == '-';
  __int128 value = 0;
  bool digits = text.size() > (minus ? 1 : 0) && text.size() < 25;
  for (size_t i = minus ? 1 : 0; digits && i < text.size(); ++i) {
    digits = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    value = value * 10 + (text[i] - '0');
  }
  if (minus) value = -value;
  if (!digits) {
    Wrong("'" + text + "' is not an integer");
  } else if (value < least || value > most) {
    Wrong("'" + text + "' is not between " + std::to_string(least) + " and " +
          std::to_string(most));
  } else {
    return static_cast<int64_t>(value);
  }
  return least;
}

Duration Value::Span() const {
  const absl::StatusOr<Duration> d = ParseDuration(Text());
  if (d.ok()) return *d;
  Wrong(std::string(d.status().message()));
  return 0;
}

int64_t Value::Quantity(int64_t scale) const {
  const absl::StatusOr<int64_t> q = ParseQuantity(Text(), scale);
  if (q.ok()) return *q;
  Wrong(std::string(q.status().message()));
  return 0;
}

bool Value::Affords(int64_t count, int64_t each) const {
  const __int128 all = static_cast<__int128>(count) * each;
  if (all <= problems_->memory_left_) {
    problems_->memory_left_ -= static_cast<int64_t>(all);
    return true;
  }
  Wrong(std::to_string(count) + " of these take " +
        std::to_string(static_cast<int64_t>(all >> 20)) +
        " MiB: all nodes and gangs of a file may take " +
        std::to_string(problems_->memory_ >> 20) + " MiB");
  return false;
}

void Value::Each(const std::function<void(const Value&)>& f) const {
  if (!node_.IsSequence()) return Wrong("expected a list");
  for (size_t i = 0; i < node_.size(); ++i) {
    f(Value(node_[i], path_ + "[" + std::to_string(i) + "]", problems_));
  }
}

std::vector<std::string> Value::Texts() const {
  std::vector<std::string> texts;
  Each([&](const Value& v) { texts.push_back(v.Text()); });
  return texts;
}

void Value::EachEntry(
    const std::function<void(const std::string&, const Value&)>& f) const {
  if (!node_.IsMap()) return Wrong("expected a mapping of keys to values");
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const Value key(entry.first, path_, problems_);
    const std::string name = key.Text();
    const std::string path = path_.empty() ? name : path_ + "." + name;
    if (!seen.insert(name).second) {
      Value(entry.first, path, problems_).Wrong("appears twice");
    }
    f(name, Value(entry.second, path, problems_));
  }
}

Fields::Fields(const Value& value, const char* kind)
    : value_(value), kind_(kind) {
  value_.EachEntry(
      [&](const std::string& key, const Value&) { present_.insert(key); });
}

Fields::~Fields() {
  if (!value_.IsMap()) return;
  if (KeysRead* keys = value_.problems()->keys_; keys != nullptr) {
    for (const std::string& k : known_) {
      (*keys)[kind_][k] |= present_.contains(k);
    }
  }
  for (const auto& entry : value_.node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (known_.contains(key)) continue;
    std::string list;
    for (const std::string& k : known_) list += (list.empty() ? "" : ", ") + k;
    Value(entry.first, value_.path(), value_.problems())
        .Wrong("unknown key '" + key + "' (known here: " + list + ")");
  }
}

bool Fields::Has(const char* key) {
  known_.insert(key);
  return present_.contains(key);
}

void Fields::Optional(const char* key,
                      const std::function<void(const Value&)>& f) {
  if (!Has(key)) return;
  const std::string& path = value_.path();
  f(Value(value_.node_[key], path.empty() ? key : path + "." + key,
          value_.problems()));
}

void Fields::Required(const char* key,
                      const std::function<void(const Value&)>& f) {
  if (value_.IsMap() && !Has(key)) {
    value_.Wrong("lacks the key '" + std::string(key) + "'");
  }
  Optional(key, f);
}

void Fields::Text(const char* key, std::string* to) {
  Optional(key, [&](const Value& v) { *to = v.Text(); });
}

void Fields::Texts(const char* key, std::vector<std::string>* to) {
  Optional(key, [&](const Value& v) { *to = v.Texts(); });
}

void Fields::Bool(const char* key, bool* to) {
  Optional(key, [&](const Value& v) { *to = v.Bool(); });
}

void Fields::Span(const char* key, Duration* to) {
  Optional(key, [&](const Value& v) { *to = v.Span(); });
}

}  // namespace muster::inprocess
