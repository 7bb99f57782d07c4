// docs/local-api.yaml, to hold answers to. For tests.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace muster::local {

class OpenApi {
 public:
  // Of the file; errors end the test.
  OpenApi();

  // "GET /v1/jobs" and so on.
  std::set<std::string> Operations() const;
  // Names of the query's parameters, with spaces between them.
  std::string Parameters(const std::string& method,
                         const std::string& path) const;
  // What is wrong with an answer; "": nothing.
  std::string Problem(const std::string& method, const std::string& path,
                      int status, const std::string& body) const;
  // The same of a value and a schema by its name.
  std::string ProblemOf(const std::string& schema,
                        const nlohmann::json& value) const;

 private:
  const nlohmann::json& Resolved(const nlohmann::json& node) const;
  std::string Check(const nlohmann::json& schema, const nlohmann::json& value,
                    const std::string& at) const;
  std::string CheckObject(const nlohmann::json& schema,
                          const nlohmann::json& value,
                          const std::string& at) const;

  nlohmann::json root_;
};

}  // namespace muster::local
