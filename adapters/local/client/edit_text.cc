#include "adapters/local/client/edit_text.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/job_manifest.h"
#include "adapters/text/yaml_reader.h"

namespace muster::local {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMemory = int64_t{64} << 20;

std::string LimitText(int64_t seconds) {
  constexpr int64_t kMinute = 60, kHour = 3'600;
  if (seconds == 0) return "none";
  if (seconds % kHour == 0) return absl::StrCat(seconds / kHour, "h");
  if (seconds % kMinute == 0) return absl::StrCat(seconds / kMinute, "m");
  return absl::StrCat(seconds, "s");
}

void Write(const Json& role, YAML::Emitter* out) {
  *out << YAML::BeginMap << YAML::Key << "requests" << YAML::Value
       << YAML::BeginMap;
  for (const auto& [resource, quantity] : role["requests"].items()) {
    *out << YAML::Key << resource << YAML::Value << YAML::DoubleQuoted
         << quantity.get<std::string>();
  }
  *out << YAML::EndMap;
  if (role.contains("command")) {
    *out << YAML::Key << "command" << YAML::Value << YAML::BeginSeq;
    for (const Json& word : role["command"]) *out << word.get<std::string>();
    *out << YAML::EndSeq;
  }
  *out << YAML::EndMap;
}

// What is other in the file, of one role.
class RoleReader {
 public:
  RoleReader(const inprocess::Value& value, const Json& before)
      : fields_(value, "role"), before_(before) {}

  Json Read() {
    Json other = Json::object();
    fields_.Optional("requests", [&](const inprocess::Value& v) {
      Json requests = Requests(v);
      if (!requests.empty()) other["requests"] = std::move(requests);
    });
    std::vector<std::string> command;
    fields_.Texts("command", &command);
    if (!command.empty() && Json(command) != before_.value("command", Json())) {
      other["command"] = command;
    }
    return other;
  }

 private:
  Json Requests(const inprocess::Value& value) const {
    const Json before = before_.value("requests", Json::object());
    Json other = Json::object();
    for (const auto& [resource, quantity] : before.items()) {
      other[resource] = "0";
    }
    // "requests:" with nothing behind it is no mapping.
    if (value.IsMap()) {
      value.EachEntry(
          [&](const std::string& resource, const inprocess::Value& quantity) {
            other[resource] = quantity.Text();
          });
    }
    for (const auto& [resource, quantity] : before.items()) {
      if (other[resource] == quantity) other.erase(resource);
    }
    return other;
  }

  inprocess::Fields fields_;
  const Json& before_;
};

void ReadTime(const inprocess::Value& value, int64_t before, Json* other) {
  const std::string text = value.Text();
  const auto seconds =
      text == "none" ? absl::StatusOr<int64_t>(0) : ParseTime("time", text);
  if (!seconds.ok())
    return value.Wrong(std::string(seconds.status().message()));
  if (*seconds != before) (*other)["time"] = *seconds;
}

Json ReadFields(const inprocess::Value& value, const Json& editable) {
  Json other = Json::object();
  inprocess::Fields fields(value, "job");
  for (const char* name : {"name", "queue", "priority"}) {
    fields.Optional(name, [&](const inprocess::Value& v) {
      std::string text = v.Text();
      if (text != editable.value(name, "")) other[name] = std::move(text);
    });
  }
  fields.Optional("time", [&](const inprocess::Value& v) {
    ReadTime(v, editable.value("time", int64_t{0}), &other);
  });
  fields.Optional("roles", [&](const inprocess::Value& v) {
    const Json before = editable.value("roles", Json::object());
    v.EachEntry([&](const std::string& name, const inprocess::Value& role) {
      const Json of = before.value(name, Json::object());
      Json changed = RoleReader(role, of).Read();
      if (!changed.empty()) other["roles"][name] = std::move(changed);
    });
  });
  return other;
}

}  // namespace

std::string EditText(const Json& editable) {
  YAML::Emitter out;
  out.SetSeqFormat(YAML::Flow);
  out << YAML::BeginMap;
  for (const char* name : {"name", "queue", "priority"}) {
    out << YAML::Key << name << YAML::Value << editable.value(name, "");
  }
  out << YAML::Key << "time" << YAML::Value
      << LimitText(editable.value("time", int64_t{0}));
  if (editable.value("waits", false)) {
    out << YAML::Key << "roles" << YAML::Value << YAML::BeginMap;
    for (const auto& [name, role] : editable["roles"].items()) {
      out << YAML::Key << name << YAML::Value;
      Write(role, &out);
    }
    out << YAML::EndMap;
  }
  out << YAML::EndMap;
  return absl::StrCat(out.c_str(), "\n");
}

absl::StatusOr<Json> ReadEdited(const std::string& file, const Json& editable) {
  const auto root = inprocess::LoadYaml(file);
  if (!root.ok()) return root.status();
  inprocess::Problems problems(file, kMemory, nullptr);
  Json other = ReadFields(inprocess::Value(*root, "", &problems), editable);
  if (!problems.ok()) return problems.status();
  return other;
}

}  // namespace muster::local
