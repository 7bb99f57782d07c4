#include "adapters/local/api/submission_json.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster::local {
namespace {

constexpr int64_t kMax32 = std::numeric_limits<uint32_t>::max();
constexpr int kMostDepth = 6;

// Reads the members of one object; the first mistake stays.
class Body {
 public:
  explicit Body(std::string_view text) {
    // What lies deeper than any body is not gone into.
    const nlohmann::json::parser_callback_t shallow =
        [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
          return depth <= kMostDepth;
        };
    json_ = nlohmann::json::parse(text, shallow, /*allow_exceptions=*/false);
    if (!json_.is_object()) {
      status_ = absl::InvalidArgumentError("body: expected a JSON object");
      json_ = nlohmann::json::object();
    }
  }

  void Text(const char* name, std::string* to) {
    if (const nlohmann::json* v = Take(name)) {
      if (!v->is_string()) return Wrong(name, "a string");
      *to = v->get<std::string>();
    }
  }
  void Text(const char* name, std::optional<std::string>* to) {
    if (json_.contains(name)) Text(name, &to->emplace());
  }
  void Bool(const char* name, bool* to) {
    if (const nlohmann::json* v = Take(name)) {
      if (!v->is_boolean()) return Wrong(name, "true or false");
      *to = v->get<bool>();
    }
  }
  void Integer(const char* name, uint32_t* to) {
    if (const nlohmann::json* v = Take(name)) ReadInteger(name, *v, to);
  }
  void Integer(const char* name, std::optional<uint32_t>* to) {
    if (json_.contains(name)) Integer(name, &to->emplace());
    asked_.insert(name);
  }
  void Texts(const char* name, std::vector<std::string>* to) {
    Each(name, "a list of strings", [&](const nlohmann::json& v) {
      if (!v.is_string()) return Wrong(name, "a list of strings");
      to->push_back(v.get<std::string>());
    });
  }
  void Integers(const char* name, std::vector<uint32_t>* to) {
    Each(name, "a list of integers", [&](const nlohmann::json& v) {
      ReadInteger(name, v, &to->emplace_back());
    });
  }
  void Parameters(const char* name, ParameterGrid* to) {
    const nlohmann::json* v = Take(name);
    if (v == nullptr) return;
    auto grid = ParameterGrid::FromJson(
        v->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (!grid.ok()) return Fail(std::string(grid.status().message()));
    *to = *std::move(grid);
  }
  void Edits(JobEdits* to) {
    nlohmann::json edits = nlohmann::json::object();
    for (const char* name : {"time", "roles"}) {
      if (const nlohmann::json* v = Take(name)) edits[name] = *v;
    }
    auto read = JobEditsFromJson(
        edits.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (!read.ok()) return Fail(std::string(read.status().message()));
    *to = *std::move(read);
  }
  // In octal digits, as people write the rights of files.
  void Octal(const char* name, uint32_t most, uint32_t* to) {
    const nlohmann::json* v = Take(name);
    if (v == nullptr) return;
    const std::string text = v->is_string() ? v->get<std::string>() : "";
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, *to, 8);
    if (read.ec != std::errc() || read.ptr != end || *to > most) {
      Wrong(name, "octal digits in a string, such as \"0027\"; at most 0777");
    }
  }
  void Id(const char* name, uint64_t* to) {
    const nlohmann::json* v = Take(name);
    if (v == nullptr) return;
    if (!v->is_number_unsigned()) return Wrong(name, "the id of a job");
    *to = v->get<uint64_t>();
  }
  void Require(const char* name) {
    if (!json_.contains(name)) Fail(absl::StrCat(name, ": is missing"));
  }
  // Members that nobody has taken are mistakes.
  absl::Status End() {
    for (const auto& [name, value] : json_.items()) {
      if (asked_.contains(name)) continue;
      Fail(absl::StrCat("'", name, "' is not known here; known: ",
                        absl::StrJoin(asked_, ", ")));
    }
    return status_;
  }

 private:
  const nlohmann::json* Take(const char* name) {
    asked_.insert(name);
    const auto it = json_.find(name);
    return it == json_.end() ? nullptr : &*it;
  }
  template <class F>
  void Each(const char* name, const char* expected, const F& read) {
    const nlohmann::json* v = Take(name);
    if (v == nullptr) return;
    if (!v->is_array()) return Wrong(name, expected);
    for (const nlohmann::json& element : *v) read(element);
  }
  void ReadInteger(const char* name, const nlohmann::json& v, uint32_t* to) {
    if (!v.is_number_unsigned() || v.get<uint64_t>() > kMax32) {
      return Wrong(name, "integers from 0 to 4294967295");
    }
    *to = v.get<uint32_t>();
  }
  void Wrong(const char* name, const char* expected) {
    Fail(absl::StrCat(name, ": expected ", expected));
  }
  void Fail(const std::string& text) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(text);
  }

  nlohmann::json json_;
  std::set<std::string> asked_{};  // Members.
  absl::Status status_ = absl::OkStatus();
};

}  // namespace

absl::StatusOr<Submission> ReadSubmission(std::string_view body) {
  Submission submission;
  Body b(body);
  b.Require("manifest");
  b.Text("manifest", &submission.manifest);
  b.Text("directory", &submission.directory);
  b.Texts("environment", &submission.environment);
  b.Octal("umask", kMostUmask, &submission.umask);
  b.Text("name", &submission.name);
  b.Text("queue", &submission.queue);
  b.Text("priority", &submission.priority);
  b.Bool("hold", &submission.held);
  b.Integers("array", &submission.array);
  b.Integer("array_limit", &submission.array_limit);
  b.Parameters("parameters", &submission.parameters);
  const absl::Status status = b.End();
  if (!status.ok()) return status;
  return submission;
}

absl::StatusOr<std::string> ReadText(std::string_view body,
                                     const std::string& name) {
  std::string text;
  Body b(body);
  b.Require(name.c_str());
  b.Text(name.c_str(), &text);
  const absl::Status status = b.End();
  if (!status.ok()) return status;
  return text;
}

absl::StatusOr<ResizeBody> ReadResize(std::string_view body) {
  ResizeBody resize;
  Body b(body);
  b.Require("size");
  b.Integer("size", &resize.size);
  b.Text("role", &resize.role);
  const absl::Status status = b.End();
  if (!status.ok()) return status;
  return resize;
}

absl::StatusOr<NodeBody> ReadNodeBody(std::string_view body) {
  NodeBody node;
  Body b(body);
  b.Require("node");
  b.Text("node", &node.node);
  b.Integer("device", &node.device);
  b.Text("reason", &node.reason);
  const absl::Status status = b.End();
  if (!status.ok()) return status;
  return node;
}

absl::StatusOr<JobChange> ReadChange(std::string_view body) {
  JobChange change;
  Body b(body);
  b.Text("name", &change.name);
  b.Text("queue", &change.queue);
  b.Text("priority", &change.priority);
  b.Edits(&change.edits);
  const absl::Status status = b.End();
  if (!status.ok()) return status;
  return change;
}

absl::StatusOr<OrderBody> ReadOrder(std::string_view body) {
  OrderBody order;
  std::string to;
  Body b(body);
  b.Require("to");
  b.Text("to", &to);
  b.Id("job", &order.job);
  const absl::Status status = b.End();
  if (!status.ok()) return status;
  const auto place = FromName<MoveTo>(to);
  if (!place) {
    return absl::InvalidArgumentError(
        "to: expected first, last, before or after");
  }
  order.to = *place;
  const bool beside = *place == MoveTo::kBefore || *place == MoveTo::kAfter;
  if (beside == (order.job != 0)) return order;
  return absl::InvalidArgumentError(
      "job: expected with before and after, and not else");
}

absl::Status ExpectNoContent(std::string_view body) {
  return body.empty() ? absl::OkStatus() : Body(body).End();
}

}  // namespace muster::local
