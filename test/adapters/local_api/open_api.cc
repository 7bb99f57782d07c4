#include "test/adapters/local_api/open_api.h"

#include <yaml-cpp/yaml.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace muster::local {

using Json = nlohmann::json;

namespace {

// Scalars are strings; what "<<" names is merged in.
Json ToJson(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& element : node) list.push_back(ToJson(element));
    return list;
  }
  Json map = Json::object();
  for (const auto& member : node) {
    Json value = ToJson(member.second);
    if (member.first.Scalar() == "<<") {
      map.update(value);
    } else {
      map[member.first.Scalar()] = std::move(value);
    }
  }
  return map;
}

}  // namespace

OpenApi::OpenApi() : root_(ToJson(YAML::LoadFile("docs/local-api.yaml"))) {}

std::set<std::string> OpenApi::Operations() const {
  std::set<std::string> operations;
  for (const auto& [path, methods] : root_["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      operations.insert(absl::StrCat(absl::AsciiStrToUpper(method), " ", path));
    }
  }
  return operations;
}

std::string OpenApi::Parameters(const std::string& method,
                                const std::string& path) const {
  std::string names;
  const Json& operation =
      root_["paths"].at(path).at(absl::AsciiStrToLower(method));
  for (const Json& parameter : operation.value("parameters", Json::array())) {
    absl::StrAppend(&names, names.empty() ? "" : " ",
                    parameter["name"].get<std::string>());
  }
  return names;
}

const Json& OpenApi::Resolved(const Json& node) const {
  if (!node.contains("$ref")) return node;
  const auto reference = node["$ref"].get<std::string>();  // "#/a/b".
  return Resolved(root_.at(Json::json_pointer(reference.substr(1))));
}

std::string OpenApi::CheckObject(const Json& schema, const Json& value,
                                 const std::string& at) const {
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>())) {
      return absl::StrCat(at, ": lacks ", name.get<std::string>());
    }
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, member] : value.items()) {
    const std::string here = absl::StrCat(at, ".", name);
    const char* others = "additionalProperties";
    if (!properties.contains(name) && !schema.contains(others)) {
      return here + ": is not in the document";
    }
    const Json& of =
        properties.contains(name) ? properties[name] : schema[others];
    const std::string problem = Check(of, member, here);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string OpenApi::Check(const Json& of, const Json& value,
                           const std::string& at) const {
  const Json& schema = Resolved(of);
  const auto type = schema.at("type").get<std::string>();
  const bool is = type == "object"    ? value.is_object()
                  : type == "array"   ? value.is_array()
                  : type == "string"  ? value.is_string()
                  : type == "integer" ? value.is_number_integer()
                  : type == "number"  ? value.is_number()
                                      : value.is_boolean();
  if (!is) return absl::StrCat(at, ": is no ", type, ": ", value.dump());
  if (type == "object") return CheckObject(schema, value, at);
  if (type != "array") return "";
  for (const Json& element : value) {
    const std::string problem = Check(schema["items"], element, at + "[]");
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string OpenApi::Problem(const std::string& method, const std::string& path,
                             int status, const std::string& body) const {
  const Json& responses =
      root_["paths"].at(path).at(absl::AsciiStrToLower(method))["responses"];
  const std::string code = absl::StrCat(status);
  if (!responses.contains(code)) return code + ": is not in the document";
  const Json& content = Resolved(responses[code])["content"];
  if (content.contains("text/plain") ||
      content.contains("application/x-ndjson")) {
    return "";
  }
  const Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) return absl::StrCat("no JSON: ", body);
  return Check(content["application/json"]["schema"], json, "answer");
}

std::string OpenApi::ProblemOf(const std::string& schema,
                               const Json& value) const {
  return Check(root_["components"]["schemas"].at(schema), value, schema);
}

}  // namespace muster::local
