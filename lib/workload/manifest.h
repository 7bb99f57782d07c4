// Manifest: reading YAML so that each mistake is told with line and field, and
// each field that nobody asked for as ignored.
#ifndef MUSTER_LIB_WORKLOAD_MANIFEST_H_
#define MUSTER_LIB_WORKLOAD_MANIFEST_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/enum_names.h"
#include "muster/workload/parse.h"

namespace muster::workload {

// What is found wrong or without effect in one document; readers go on with
// default values after a mistake.
class Findings {
 public:
  explicit Findings(int first_line) : first_line_(first_line) {}

  // The mistake that stands first is kept.
  void Wrong(const YAML::Mark& mark, std::string_view path,
             std::string_view what,
             absl::StatusCode code = absl::StatusCode::kInvalidArgument);
  void Ignore(const YAML::Mark& mark, std::string path, std::string why);
  void Note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  const absl::Status& status() const { return status_; }
  // Those found, in the order of the document.
  std::vector<IgnoredField> TakeIgnored();
  std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  int Line(const YAML::Mark& mark) const {
    return first_line_ + (mark.line < 0 ? 0 : mark.line);
  }

  int first_line_;
  int wrong_line_ = 0;
  absl::Status status_ = absl::OkStatus();
  std::vector<std::pair<int, IgnoredField>> ignored_;  // By column.
  std::vector<std::string> notes_;
};

// A value of the document, with its path, or none: a field that is absent or
// null. Copies are cheap.
class Value {
 public:
  Value() = default;
  Value(const YAML::Node& node, std::string path, Findings* findings)
      : there_(!node.IsNull()),
        node_(node),
        path_(std::move(path)),
        findings_(findings) {}

  bool there() const { return there_; }
  bool IsMap() const { return there_ && node_.IsMap(); }
  const YAML::Node& node() const { return node_; }
  const std::string& path() const { return path_; }
  Findings* findings() const { return findings_; }
  YAML::Mark mark() const { return node_.Mark(); }

  void Wrong(std::string_view what) const {
    findings_->Wrong(mark(), path_, what);
  }
  void Unsupported(std::string_view what) const {
    findings_->Wrong(mark(), path_, what, absl::StatusCode::kUnimplemented);
  }
  void Ignore(std::string why) const {
    if (there_) findings_->Ignore(mark(), path_, std::move(why));
  }

  // Each of these leaves `to` as it is where there is no value.
  void Read(std::string* to) const;
  void Read(bool* to) const;
  void Read(std::vector<std::string>* to) const;
  // An integer of low..high.
  template <class I>
  void ReadInteger(I* to, int64_t low, int64_t high) const {
    int64_t i = 0;
    if (Integer(low, high, &i)) *to = static_cast<I>(i);
  }
  template <class E>
  void ReadEnum(E* to) const {
    std::string name;
    if (!Text(&name)) return;
    if (const auto e = FromName<E>(name)) {
      *to = *e;
      return;
    }
    std::string known;
    for (std::string_view n : EnumNames(E{})) {
      known += known.empty() ? "" : ", ";
      known += n;
    }
    Wrong("'" + name + "' is none of: " + known);
  }
  // A quantity of Kubernetes, times `scale`, rounded up; 0 or more.
  void ReadQuantity(int64_t* to, int64_t scale) const;
  // So many seconds, as a Duration; -1 and the like where `low` allows.
  void ReadSeconds(Duration* to, int64_t low) const;
  // Calls `f` for each element; a mistake if it is no list.
  void Each(const std::function<void(const Value&)>& f) const;
  // Calls `f` for each entry of a mapping, in the document's order.
  void EachEntry(
      const std::function<void(const std::string&, const Value&)>& f) const;
  // A mapping of texts to texts, sorted by key.
  void Read(Labels* to) const;

 private:
  friend class Object;
  bool Text(std::string* to) const;
  bool Integer(int64_t low, int64_t high, int64_t* to) const;

  bool there_ = false;
  YAML::Node node_{};
  std::string path_{};
  Findings* findings_ = nullptr;
};

// A mapping. Its destructor tells every entry that nobody asked for.
class Object {
 public:
  explicit Object(const Value& value);
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // The value under the key, or none.
  Value operator[](std::string_view key);
  // The same, and a mistake if there is none.
  Value Required(std::string_view key);
  bool Has(std::string_view key) const {
    return entries_.find(key) != entries_.end();
  }
  // An entry that is known and has no effect here.
  void Ignore(std::string_view key, std::string why);
  // All entries count as read.
  void Done() { entries_.clear(); }

 private:
  struct Entry {
    YAML::Mark mark{};
    Value value{};
    bool read = false;
  };
  Value value_;
  std::map<std::string, Entry, std::less<>> entries_;
};

// One document of a file.
struct Document {
  YAML::Node root{};
  int first_line = 1;
};

// The documents of a file; empty ones are left out. Bounded: their number,
// depth, and what stands behind aliases.
absl::StatusOr<std::vector<Document>> LoadDocuments(std::string_view bytes);

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_MANIFEST_H_
