#include "test/conformance/json_fields.h"

#include <cmath>
#include <utility>

namespace muster::conformance {
namespace {

const Json& EmptyObject() {
  static const Json empty = Json::object();
  return empty;
}

}  // namespace

void ReadJson(const Json& value, const std::string& path, ReadLog* log,
              std::string* out) {
  if (!value.is_string()) return log->Fail(path, "a string");
  *out = value.get<std::string>();
}

void ReadJson(const Json& value, const std::string& path, ReadLog* log,
              bool* out) {
  if (!value.is_boolean()) return log->Fail(path, "true or false");
  *out = value.get<bool>();
}

void ReadJson(const Json& value, const std::string& path, ReadLog* log,
              double* out) {
  if (!value.is_number()) return log->Fail(path, "a number");
  *out = value.get<double>();
}

void ReadJson(const Json& value, const std::string& path, ReadLog* log,
              int64_t* out) {
  const double number = value.is_number() ? value.get<double>() : 0.5;
  if (number != std::floor(number) || std::abs(number) > 9e18) {
    return log->Fail(path, "an integer");
  }
  *out = value.is_number_integer() ? value.get<int64_t>()
                                   : static_cast<int64_t>(number);
}

JsonFields::JsonFields(const Json& value, std::string path, ReadLog* log)
    : object_(&value), path_(std::move(path)), log_(log) {
  if (value.is_object()) return;
  log_->Fail(path_.empty() ? "the file" : path_, "an object");
  object_ = &EmptyObject();
}

std::string JsonFields::Path(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

const Json* JsonFields::Peek(const char* name) const {
  const auto it = object_->find(name);
  return it == object_->end() ? nullptr : &*it;
}

const Json* JsonFields::Raw(const char* name) {
  const Json* member = Peek(name);
  if (member != nullptr) read_.insert(name);
  return member;
}

void JsonFields::Object(const char* name, const Reader& read) {
  const Json* v = Raw(name);
  if (v == nullptr) return;
  JsonFields fields(*v, Path(name), log_);
  read(fields);
  fields.Done();
}

void JsonFields::Each(const char* name, const Reader& read) {
  const Json* v = Raw(name);
  if (v == nullptr) return;
  if (!v->is_array()) return log_->Fail(Path(name), "a list");
  for (size_t i = 0; i < v->size(); ++i) {
    JsonFields fields((*v)[i], Path(name) + "[" + std::to_string(i) + "]",
                      log_);
    read(fields);
    fields.Done();
  }
}

void JsonFields::Members(const char* name, const NamedReader& read) {
  const Json* v = Raw(name);
  if (v == nullptr) return;
  if (!v->is_object()) return log_->Fail(Path(name), "an object");
  for (const auto& [key, member] : v->items()) {
    read(key, member, Path(name) + "." + key);
  }
}

void JsonFields::Ignore(std::initializer_list<const char*> names) {
  for (const char* name : names) read_.insert(name);
}

void JsonFields::Done() {
  for (const auto& [key, member] : object_->items()) {
    if (!read_.contains(key)) log_->unread.push_back(Path(key));
  }
}

}  // namespace muster::conformance
