// Reads the members of JSON objects by name and type, and keeps account of
// those that were not asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace muster::conformance {

using Json = nlohmann::json;

// What reading one file found: the first field of a wrong type, and every
// field that was there and not read.
struct ReadLog {
  std::string error;  // "gangs[0].order: expected an integer"; empty: none.
  std::vector<std::string> unread;

  void Fail(const std::string& path, std::string_view expected) {
    if (error.empty()) error = path + ": expected " + std::string(expected);
  }
};

// Reads one value. A value of another type is an error, and leaves *out.
void ReadJson(const Json&, const std::string& path, ReadLog*, std::string*);
void ReadJson(const Json&, const std::string& path, ReadLog*, bool*);
void ReadJson(const Json&, const std::string& path, ReadLog*, int64_t*);
void ReadJson(const Json&, const std::string& path, ReadLog*, double*);
template <class T>
void ReadJson(const Json& value, const std::string& path, ReadLog* log,
              std::vector<T>* out) {
  if (!value.is_array()) return log->Fail(path, "a list");
  for (size_t i = 0; i < value.size(); ++i) {
    ReadJson(value[i], path + "[" + std::to_string(i) + "]", log,
             &out->emplace_back());
  }
}
template <class T, class Less>
void ReadJson(const Json& value, const std::string& path, ReadLog* log,
              std::map<std::string, T, Less>* out) {
  if (!value.is_object()) return log->Fail(path, "an object");
  for (const auto& [key, member] : value.items()) {
    ReadJson(member, path + "." + key, log, &(*out)[key]);
  }
}

// The members of one object. Not reading a member leaves it for Done().
class JsonFields {
 public:
  // A value that is no object is an error, and reads as an empty object.
  JsonFields(const Json& value, std::string path, ReadLog* log);

  bool Has(const char* name) const { return object_->contains(name); }

  // Leaves *out as it is where the member is absent. T as ReadJson has it.
  template <class T>
  void Read(const char* name, T* out) {
    if (const Json* v = Raw(name)) ReadJson(*v, Path(name), log_, out);
  }
  template <class T>
  void Read(const char* name, std::optional<T>* out) {
    if (!Has(name)) return;
    Read(name, &out->emplace());
  }
  // As Read, but the member must be there.
  template <class T>
  void Require(const char* name, T* out) {
    if (!Has(name)) log_->Fail(Path(name), "the field to be there");
    Read(name, out);
  }

  // Calls `read` with the member, with each element of it, with each member of
  // it; not at all where it is absent.
  using Reader = std::function<void(JsonFields&)>;
  using NamedReader = std::function<void(const std::string&, const Json&,
                                         const std::string& path)>;
  void Object(const char* name, const Reader& read);
  void Each(const char* name, const Reader& read);
  void Members(const char* name, const NamedReader& read);
  // The member as it is, or null.
  const Json* Raw(const char* name);
  // The same, and it counts as not read.
  const Json* Peek(const char* name) const;

  // Known, and of no consequence.
  void Ignore(std::initializer_list<const char*> names);
  // Reports the members that were not read. Object and Each call it.
  void Done();

  // The status begins with the name of the member that is wrong.
  void Fail(const absl::Status& status) const {
    if (log_->error.empty()) log_->error = Path(std::string(status.message()));
  }
  ReadLog* log() const { return log_; }
  std::string Path(std::string_view name) const;

 private:
  const Json* object_;
  std::string path_;
  ReadLog* log_;
  std::set<std::string> read_;
};

}  // namespace muster::conformance
