// Strict reading of YAML: every mistake is one line with file, line, column and
// field; what is not known is a mistake.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/enum_names.h"
#include "muster/ids.h"

namespace muster::inprocess {

// Where in a file something stands, for later messages.
struct Mark {
  int line = 0;  // From 1.
  int column = 0;
  std::string field{};
};

// By kind of mapping ("gang"), every key that was asked for, and whether it was
// there.
using KeysRead = std::map<std::string, std::map<std::string, bool>>;

// The mistake that stands first in the file; readers go on with default values
// after one.
class Problems {
 public:
  // What is written once and stands for many may take so many bytes in all.
  Problems(std::string file, int64_t memory, KeysRead* keys)
      : file_(std::move(file)),
        memory_(memory),
        memory_left_(memory),
        keys_(keys) {}
  void Report(const Mark& mark, std::string_view what);
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  const std::string& file() const { return file_; }

 private:
  friend class Fields;
  friend class Value;
  std::string file_;
  int64_t memory_;
  int64_t memory_left_;
  KeysRead* keys_;  // Or null.
  Mark where_{};
  absl::Status status_ = absl::OkStatus();
};

// "file:3:5: nodes[0].capacity: <what>".
absl::Status At(const std::string& file, const Mark& mark,
                std::string_view what);

// The file's only document; its mistakes in syntax are reported likewise. What
// stands behind aliases is bounded, so that reading takes time and memory in
// proportion to the file.
absl::StatusOr<YAML::Node> LoadYaml(const std::string& file);

// A value of the document, with its path. Copies are cheap.
class Value {
 public:
  Value(const YAML::Node& node, std::string path, Problems* problems)
      : node_(node), path_(std::move(path)), problems_(problems) {}

  Mark mark() const;
  void Wrong(std::string_view what) const { problems_->Report(mark(), what); }
  Problems* problems() const { return problems_; }
  const std::string& path() const { return path_; }

  std::string Text() const;
  bool Bool() const;
  int64_t Integer(int64_t least, int64_t most) const;
  Duration Span() const;
  int64_t Quantity(int64_t scale) const;
  template <class E>
  E Enum() const {
    const std::string text = Text();
    if (std::optional<E> e = FromName<E>(text)) return *e;
    std::string known;
    for (std::string_view name : EnumNames(E{})) {
      known += known.empty() ? "" : ", ";
      known += name;
    }
    Wrong("'" + text + "' is none of: " + known);
    return E{};
  }
  // Whether `count` copies of something that takes `each` bytes may be made; it
  // is a mistake of the file if not.
  bool Affords(int64_t count, int64_t each) const;
  // Calls `f` for each element of a sequence.
  void Each(const std::function<void(const Value&)>& f) const;
  std::vector<std::string> Texts() const;
  bool IsMap() const { return node_.IsMap(); }
  bool IsSequence() const { return node_.IsSequence(); }
  // Calls `f` for each entry of a mapping, in the order of the file.
  void EachEntry(
      const std::function<void(const std::string&, const Value&)>& f) const;

 private:
  friend class Fields;
  YAML::Node node_;
  std::string path_;
  Problems* problems_;
};

// A mapping with a fixed set of keys: those that were asked for. Its destructor
// reports any other key, and keys that appear twice.
class Fields {
 public:
  // `kind` is the noun under which the keys are described.
  Fields(const Value& value, const char* kind);
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  bool Has(const char* key);
  // Calls `f` with the value if the key is there.
  void Optional(const char* key, const std::function<void(const Value&)>& f);
  // Reports the key if it is missing.
  void Required(const char* key, const std::function<void(const Value&)>& f);

  void Text(const char* key, std::string* to);
  void Texts(const char* key, std::vector<std::string>* to);
  void Bool(const char* key, bool* to);
  void Span(const char* key, Duration* to);
  template <class I>
  void Integer(const char* key, I* to, int64_t least, int64_t most) {
    Optional(key, [&](const Value& v) {
      *to = static_cast<I>(v.Integer(least, most));
    });
  }
  template <class I>
  void Integer(const char* key, std::optional<I>* to, int64_t least,
               int64_t most) {
    Optional(key, [&](const Value& v) {
      *to = static_cast<I>(v.Integer(least, most));
    });
  }
  template <class E>
  void Enum(const char* key, E* to) {
    Optional(key, [&](const Value& v) { *to = v.Enum<E>(); });
  }
  template <class E>
  void Enum(const char* key, std::optional<E>* to) {
    Optional(key, [&](const Value& v) { *to = v.Enum<E>(); });
  }
  const Value& value() const { return value_; }

 private:
  Value value_;
  const char* kind_;
  std::set<std::string> known_;
  std::set<std::string> present_;
};

}  // namespace muster::inprocess
