// JSON as readers of objects walk it: front to back, once, over simdjson's
// on-demand parser. The first mistake stops the reading of its object and is
// kept with its path; null is the same as absent. One thread at a time; O(bytes
// passed over).
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "muster/ids.h"

namespace muster::kubernetes::api::json {

// A place in a document, on the stack of who reads it.
struct Path {
  const Path* above = nullptr;
  std::string_view key{};  // Of an object's field,
  int64_t index = -1;      // or of an element.

  // "spec.containers[2].name"; "" for the whole document. Keys of which a label
  // could be made stand in brackets, bounded and escaped.
  std::string ToString() const;
};

// What went wrong in an object, if anything has.
struct Outcome {
  absl::Status status{};
  // The document itself is no JSON: nothing after this can be read.
  bool broken = false;
};

// The fields of one object, to find one that is there twice.
class FieldNames {  // NOLINT(cppcoreguidelines-pro-type-member-init): those
                    // that are set are read.
 public:
  static constexpr uint32_t kMost = 256;

  enum class Added { kNew, kTwice, kTooMany };
  // `name` lives as long as the document.
  Added Add(std::string_view name) {
    if (size_ == kMost) return Added::kTooMany;
    // Most names differ in this hash; the others are compared.
    const auto last =
        static_cast<unsigned char>(name.empty() ? 0 : name.back());
    const uint64_t bit = uint64_t{1} << ((name.size() * 7 + last) % 64);
    if ((seen_ & bit) != 0) {
      for (uint32_t i = 0; i < size_; ++i) {
        if (std::string_view(names_[i].data, names_[i].size) == name) {
          return Added::kTwice;
        }
      }
    }
    seen_ |= bit;
    names_[size_++] = {name.data(), static_cast<uint32_t>(name.size())};
    return Added::kNew;
  }

 private:
  struct Name {
    const char* data;
    uint32_t size;
  };
  uint64_t seen_ = 0;
  uint32_t size_ = 0;
  Name names_[kMost];  // The first size_ are set.
};

// A value of the document at the parser's position. What is not read is passed
// over. Functions return whether to go on; after `false` the outcome says why
// not.
class Value {
 public:
  Value(simdjson::ondemand::value value, const Path* path, Outcome* outcome)
      : value_(value), path_(path), outcome_(outcome) {}

  // Reports a mistake here: "spec.priority: must be ...". Always false.
  bool Fail(std::string_view why);
  // Likewise, of a field that is not there.
  bool FailAt(std::string_view field, std::string_view why);

  // The same value with paths that begin here.
  Value AsRoot() const {
    static constexpr Path kRoot;
    return Value(value_, &kRoot, outcome_);
  }

  std::string PathOf() const { return path_->ToString(); }
  // Of a field of this object.
  std::string PathOf(std::string_view field) const {
    return Path{path_, field, -1}.ToString();
  }

  // Is it null? Asked before anything else.
  bool IsNull() {
    bool null = false;
    return value_.is_null().get(null) == simdjson::SUCCESS && null;
  }

  // Likewise.
  bool IsString() {
    simdjson::ondemand::json_type type{};
    return value_.type().get(type) == simdjson::SUCCESS &&
           type == simdjson::ondemand::json_type::string;
  }

  // each(key, value) for every field, in the document's order; no field may be
  // there twice.
  template <typename Each>
  bool Object(Each&& each);
  // The same for an object whose keys are data: up to `most`, and the caller
  // finds what is there twice.
  template <typename Each>
  bool Members(Each&& each, size_t most = kMaxListLength);
  // each(value) for every element.
  template <typename Each>
  bool Array(Each&& each, size_t most = kMaxListLength);

  // A string that lives as long as the document; at most once.
  bool Read(std::string_view* out, size_t most = kMaxTextLength);
  bool Read(std::string* out, size_t most = kMaxTextLength) {
    std::string_view text;
    if (!Read(&text, most)) return false;
    out->assign(text);
    return true;
  }
  bool Read(bool* out);
  bool Read(int64_t* out);
  bool Read(int32_t* out);
  template <typename T>
  bool Read(std::optional<T>* out) {
    if (IsNull()) return true;
    return Read(&out->emplace());
  }
  bool Read(std::vector<std::string>* out) {
    return Array([&](Value v) { return v.Read(&out->emplace_back()); });
  }
  // A string, or a number as it stands there.
  bool ReadScalar(std::string_view* out);

  // Of an object or a list: is anything in it?
  bool ReadIsSet(bool* out);

 private:
  template <typename Each>
  bool Fields(size_t most, Each&& each);
  // null is no mistake.
  bool WrongType(std::string_view expected);
  bool Broken(simdjson::error_code error);
  // What a call of simdjson's says that wants an `expected`.
  bool Refused(simdjson::error_code error, std::string_view expected) {
    return error == simdjson::INCORRECT_TYPE ? WrongType(expected)
                                             : Broken(error);
  }

  simdjson::ondemand::value value_;
  const Path* path_;
  Outcome* outcome_;
};

// The key of a field, without a copy unless it has escapes.
inline simdjson::error_code KeyOf(simdjson::ondemand::field& field,
                                  std::string_view* key) {
  const char* begin = field.key().raw();
  for (const char* c = begin;; ++c) {
    if (*c == '"') {
      *key = {begin, static_cast<size_t>(c - begin)};
      return simdjson::SUCCESS;
    }
    if (*c == '\\') return field.unescaped_key().get(*key);
  }
}

template <typename Each>
bool Value::Fields(size_t most, Each&& each) {
  simdjson::ondemand::object object;
  if (const auto error = value_.get_object().get(object)) {
    return Refused(error, "an object");
  }
  size_t count = 0;
  for (auto next : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    if (const auto error = std::move(next).get(field)) return Broken(error);
    if (const auto error = KeyOf(field, &key)) return Broken(error);
    if (count++ == most) {
      return Fail("has more than " + std::to_string(most) + " fields");
    }
    const Path path{path_, key, -1};
    if (!each(key, Value(field.value(), &path, outcome_))) return false;
  }
  return true;
}

template <typename Each>
bool Value::Members(Each&& each, size_t most) {
  return Fields(most, std::forward<Each>(each));
}

template <typename Each>
bool Value::Object(Each&& each) {
  FieldNames names;
  return Fields(FieldNames::kMost, [&](std::string_view key, Value value) {
    if (names.Add(key) != FieldNames::Added::kNew) {
      return value.Fail("is there twice");
    }
    return static_cast<bool>(each(key, value));
  });
}

template <typename Each>
bool Value::Array(Each&& each, size_t most) {
  simdjson::ondemand::array array;
  if (const auto error = value_.get_array().get(array)) {
    return Refused(error, "a list");
  }
  size_t count = 0;
  for (auto next : array) {
    simdjson::ondemand::value element;
    if (const auto error = std::move(next).get(element)) return Broken(error);
    if (count == most) {
      return Fail("has more than " + std::to_string(most) + " elements");
    }
    const Path path{path_, {}, static_cast<int64_t>(count++)};
    if (!each(Value(element, &path, outcome_))) return false;
  }
  return true;
}

}  // namespace muster::kubernetes::api::json
