// The text form of a fabric, one thing a line (docs/fabrics.md), and drawings.
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

using Words = std::vector<std::string_view>;

Words Split(std::string_view line) {
  Words words;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == line.npos || line[begin] == '#') break;
    const size_t end =
        std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

class TextReader {
 public:
  absl::StatusOr<FabricDescription> Read(std::string_view text) {
    for (size_t line = 1; !text.empty(); ++line) {
      const size_t end = text.find('\n');
      const Words words = Split(text.substr(0, end));
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
      if (words.empty()) continue;
      if (absl::Status status = Line(words); !status.ok()) {
        return Invalid("line ", line, ": ", std::string(status.message()));
      }
    }
    return Result();
  }

 private:
  absl::Status Line(const Words& words) {
    const std::string_view first = words[0];
    if (first == "torus" || first == "dragonfly" || first == "rails") {
      return Header(words);
    }
    if (first == "node" || first == "switch") {
      if (words.size() != 2)
        return Invalid("expected ", std::string(first), " KEY");
      MUSTER_RETURN_IF_ERROR(CheckFabricKey(words[1]));
      if (first == "switch" && !is_graph()) {
        return Invalid("the switches of this fabric follow from its sizes");
      }
      std::vector<std::string>& keys =
          first == "node" ? graph_.nodes : graph_.switches;
      keys.emplace_back(words[1]);
      return absl::OkStatus();
    }
    if (first == "link") {
      if (!is_graph())
        return Invalid("the links of this fabric follow from its sizes");
      FabricGraph::Link link;
      if (words.size() < 3 || words.size() > 4) {
        return Invalid("expected link A B [BANDWIDTH]");
      }
      link.a = words[1];
      link.b = words[2];
      if (words.size() == 4) {
        MUSTER_RETURN_IF_ERROR(Number(words[3], &link.bandwidth));
      }
      graph_.links.push_back(std::move(link));
      return absl::OkStatus();
    }
    return Invalid(
        "expected torus, dragonfly, rails, node, switch or link, not \"",
        std::string(first.substr(0, 40)), "\"");
  }

  // The first line of a fabric with a form.
  absl::Status Header(const Words& words) {
    if (!is_graph() || !graph_.nodes.empty() || !graph_.switches.empty() ||
        !graph_.links.empty()) {
      return Invalid(std::string(words[0]), " comes first, and once");
    }
    int64_t number[7] = {};
    const size_t numbers = words[0] == "torus"   ? 4
                           : words[0] == "rails" ? 6
                                                 : 7;
    if (words.size() != numbers + 1) {
      return Invalid(std::string(words[0]), " has ", numbers, " numbers, not ",
                     words.size() - 1);
    }
    for (size_t i = 0; i < numbers; ++i) {
      MUSTER_RETURN_IF_ERROR(Number(words[i + 1], &number[i]));
      const size_t sizes = numbers == 4 ? 3 : 4;
      if (i < sizes && number[i] > Fabric::kMaxVertices) {
        return Invalid(std::string(words[i + 1]), " is more than ",
                       Fabric::kMaxVertices);
      }
    }
    auto size = [&](size_t i) { return static_cast<uint32_t>(number[i]); };
    if (numbers == 4) {
      form_ = Torus3d{size(0), size(1), size(2), number[3], {}};
    } else if (numbers == 7) {
      form_ = Dragonfly{size(0),   size(1),   size(2),   size(3),
                        number[4], number[5], number[6], {}};
    } else {
      form_ = RailFatTree{size(0),   size(1),   size(2), size(3),
                          number[4], number[5], {}};
    }
    return absl::OkStatus();
  }

  static absl::Status Number(std::string_view word, int64_t* value) {
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, *value);
    if (error != std::errc() || stop != end || *value < 1 ||
        *value > Fabric::kMaxBandwidth) {
      return Invalid("\"", std::string(word.substr(0, 40)),
                     "\" is no number in 1..", Fabric::kMaxBandwidth);
    }
    return absl::OkStatus();
  }

  bool is_graph() const { return std::holds_alternative<FabricGraph>(form_); }

  FabricDescription Result() {
    if (is_graph()) return std::move(graph_);
    if (auto* torus = std::get_if<Torus3d>(&form_)) {
      torus->nodes = std::move(graph_.nodes);
    } else if (auto* fly = std::get_if<Dragonfly>(&form_)) {
      fly->nodes = std::move(graph_.nodes);
    } else if (auto* tree = std::get_if<RailFatTree>(&form_)) {
      tree->nodes = std::move(graph_.nodes);
    }
    return std::move(form_);
  }

  FabricDescription form_{};  // A FabricGraph until a header says otherwise.
  FabricGraph graph_{};
};

struct Header {
  std::string operator()(const FabricGraph&) const { return ""; }
  std::string operator()(const Torus3d& t) const {
    return absl::StrCat("torus ", t.x, " ", t.y, " ", t.z, " ", t.bandwidth);
  }
  std::string operator()(const Dragonfly& d) const {
    return absl::StrCat("dragonfly ", d.groups, " ", d.routers, " ",
                        d.nodes_per_router, " ", d.global_links, " ",
                        d.node_bandwidth, " ", d.local_bandwidth) +
           absl::StrCat(" ", d.global_bandwidth);
  }
  std::string operator()(const RailFatTree& r) const {
    return absl::StrCat("rails ", r.units, " ", r.nodes_per_unit, " ", r.rails,
                        " ", r.spines, " ", r.node_bandwidth) +
           absl::StrCat(" ", r.spine_bandwidth);
  }
};

}  // namespace

std::string FabricHeader(const FabricDescription& description) {
  return std::visit(Header{}, description);
}

std::span<const std::string_view> FabricLevels(std::string_view form) {
  static constexpr std::string_view kTorus[] = {"box"};
  static constexpr std::string_view kDragonfly[] = {"group", "router"};
  static constexpr std::string_view kRails[] = {"unit"};
  if (form == "torus") return kTorus;
  if (form == "dragonfly") return kDragonfly;
  if (form == "rails") return kRails;
  return {};
}

std::span<const std::string_view> Fabric::LevelsOfText(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const Words words = Split(text.substr(0, end));
    if (!words.empty()) return FabricLevels(words[0]);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return {};
}

std::span<const std::string_view> Fabric::levels() const {
  return LevelsOfText(FabricHeader(description()));
}

absl::StatusOr<Fabric> Fabric::FromText(std::string_view text) {
  absl::StatusOr<FabricDescription> description = TextReader().Read(text);
  if (!description.ok()) return description.status();
  return Make(*std::move(description));
}

std::string Fabric::ToText() const {
  std::string text = FabricHeader(description());
  if (!text.empty()) text += "\n";
  std::visit(
      [&](const auto& form) {
        for (const std::string& key : form.nodes) {
          absl::StrAppend(&text, "node ", key, "\n");
        }
      },
      description());
  const auto* graph = std::get_if<FabricGraph>(&description());
  if (graph == nullptr) return text;
  for (const std::string& key : graph->switches) {
    absl::StrAppend(&text, "switch ", key, "\n");
  }
  for (const FabricGraph::Link& link : graph->links) {
    absl::StrAppend(&text, "link ", link.a, " ", link.b, " ", link.bandwidth,
                    "\n");
  }
  return text;
}

std::string Fabric::ToDot(std::span<const uint32_t> marked) const {
  auto quoted = [](const std::string& key) {
    std::string out = "\"";
    for (char c : key) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  };
  std::vector<size_t> rank(rep_->nodes, marked.size());
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] < rep_->nodes) rank[marked[i]] = i;
  }
  std::string out = "graph fabric {\n";
  for (uint32_t v = 0; v < rep_->vertices(); ++v) {
    absl::StrAppend(&out, "  ", v, " [label=", quoted(rep_->keys[v]));
    if (v >= rep_->nodes) {
      out += "\" shape=box];\n";
    } else if (rank[v] < marked.size()) {
      absl::StrAppend(&out, "\\n", rank[v], "\" style=filled];\n");
    } else {
      out += "\"];\n";
    }
  }
  for (auto [e, end] = boost::edges(rep_->graph); e != end; ++e) {
    absl::StrAppend(&out, "  ", boost::source(*e, rep_->graph), " -- ",
                    boost::target(*e, rep_->graph), ";\n");
  }
  return out + "}\n";
}

}  // namespace muster
