// The text form of a fabric, one thing a line (docs/fabrics.md), coordinates as
// labels, and drawings.
#include <charconv>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

// A form's word and the names of its parts, by the index of the description.
struct FormText {
  std::string_view word{};
  std::span<const std::string_view> levels{};
};
constexpr std::string_view kBoxes[] = {"box"};
constexpr std::string_view kGroups[] = {"group", "router"};
constexpr std::string_view kUnits[] = {"unit"};
constexpr FormText kForms[] = {
    {}, {"torus", kBoxes}, {"dragonfly", kGroups}, {"rails", kUnits}};

// The numbers behind the word, in their order.
template <class Form>
auto Numbers(Form& f) {
  using Kind = std::remove_const_t<Form>;
  if constexpr (std::is_same_v<Kind, FabricGraph>) {
    return std::tie();
  } else if constexpr (std::is_same_v<Kind, Torus3d>) {
    return std::tie(f.x, f.y, f.z, f.bandwidth);
  } else if constexpr (std::is_same_v<Kind, Dragonfly>) {
    return std::tie(f.groups, f.routers, f.nodes_per_router, f.global_links,
                    f.node_bandwidth, f.local_bandwidth, f.global_bandwidth);
  } else {
    return std::tie(f.units, f.nodes_per_unit, f.rails, f.spines,
                    f.node_bandwidth, f.spine_bandwidth);
  }
}

using Words = std::vector<std::string>;

auto Lines(std::string_view text) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), '\n');
}

// Those before a comment.
Words Split(absl::string_view line) {
  Words words =
      absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  const auto comment = absl::c_find_if(
      words, [](const std::string& word) { return word[0] == '#'; });
  words.erase(comment, words.end());
  return words;
}

// The word is a number and nothing else.
template <class T>
bool ParseNumber(const std::string& word, T* value) {
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, *value);
  return error == std::errc() && stop == end;
}

absl::Status Number(const std::string& word, int64_t* value) {
  if (ParseNumber(word, value) && *value >= 1 &&
      *value <= Fabric::kMaxBandwidth) {
    return absl::OkStatus();
  }
  return Invalid("\"", word.substr(0, 40), "\" is no number in 1..",
                 Fabric::kMaxBandwidth);
}

absl::Status Number(const std::string& word, uint32_t* size) {
  int64_t value = 0;
  MUSTER_RETURN_IF_ERROR(Number(word, &value));
  if (value > Fabric::kMaxVertices) {
    return Invalid(word, " is more than ", Fabric::kMaxVertices);
  }
  *size = static_cast<uint32_t>(value);
  return absl::OkStatus();
}

// The first line of a fabric with a form.
absl::Status ReadForm(const Words& words, FabricDescription form,
                      FabricDescription* fabric) {
  if (*fabric != FabricDescription{}) {
    return Invalid(words[0], " comes first, and once");
  }
  *fabric = std::move(form);
  auto read = [&](auto&... number) {
    if (words.size() != sizeof...(number) + 1) {
      return Invalid(words[0], " has ", sizeof...(number), " numbers, not ",
                     words.size() - 1);
    }
    absl::Status status;
    const std::string* word = words.data();
    [[maybe_unused]] const auto next = [&](auto& value) {
      if (status.ok()) status = Number(*++word, &value);
    };
    (next(number), ...);
    return status;
  };
  return std::visit([&](auto& f) { return std::apply(read, Numbers(f)); },
                    *fabric);
}

// One line that says something.
absl::Status ReadLine(const Words& words, FabricDescription* fabric) {
  const std::string& first = words[0];
  auto* graph = std::get_if<FabricGraph>(fabric);
  if (first == "torus") return ReadForm(words, Torus3d{}, fabric);
  if (first == "dragonfly") return ReadForm(words, Dragonfly{}, fabric);
  if (first == "rails") return ReadForm(words, RailFatTree{}, fabric);
  if (first == "node" || first == "switch") {
    if (words.size() != 2) return Invalid("expected ", first, " KEY");
    MUSTER_RETURN_IF_ERROR(CheckFabricKey(words[1]));
    if (first == "node") {
      std::visit([&](auto& form) { form.nodes.push_back(words[1]); }, *fabric);
    } else if (graph != nullptr) {
      graph->switches.push_back(words[1]);
    } else {
      return Invalid("the switches of this fabric follow from its sizes");
    }
    return absl::OkStatus();
  }
  if (first != "link") {
    return Invalid(
        "expected torus, dragonfly, rails, node, switch or link, not \"",
        first.substr(0, 40), "\"");
  }
  if (graph == nullptr) {
    return Invalid("the links of this fabric follow from its sizes");
  }
  if (words.size() < 3 || words.size() > 4) {
    return Invalid("expected link A B [BANDWIDTH]");
  }
  FabricGraph::Link link{words[1], words[2]};
  if (words.size() == 4) {
    MUSTER_RETURN_IF_ERROR(Number(words[3], &link.bandwidth));
  }
  graph->links.push_back(std::move(link));
  return absl::OkStatus();
}

// "x,y,z"
bool ParsePlace(const std::string& label, Triple* place) {
  const Words words = absl::StrSplit(label, ',');
  if (words.size() != 3) return false;
  for (size_t axis = 0; axis < 3; ++axis) {
    uint32_t& at = (*place)[axis];
    if (!ParseNumber(words[axis], &at) || at >= Fabric::kMaxVertices) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string FabricHeader(const FabricDescription& description) {
  std::string line(kForms[description.index()].word);
  auto add = [&](const auto&... number) {
    (absl::StrAppend(&line, " ", number), ...);
  };
  std::visit([&](const auto& f) { std::apply(add, Numbers(f)); }, description);
  return line;
}

std::span<const std::string_view> Fabric::LevelsOfText(std::string_view text) {
  for (absl::string_view line : Lines(text)) {
    const Words words = Split(line);
    if (words.empty()) continue;
    const auto form = absl::c_find_if(
        kForms, [&](const FormText& f) { return f.word == words[0]; });
    return form == std::end(kForms) ? kForms[0].levels : form->levels;
  }
  return {};
}

std::span<const std::string_view> Fabric::levels() const {
  return kForms[description().index()].levels;
}

absl::StatusOr<Fabric> Fabric::FromText(std::string_view text) {
  FabricDescription description;
  size_t number = 0;
  for (absl::string_view line : Lines(text)) {
    ++number;
    const Words words = Split(line);
    if (words.empty()) continue;
    if (absl::Status status = ReadLine(words, &description); !status.ok()) {
      return Invalid("line ", number, ": ", status.message());
    }
  }
  return Make(std::move(description));
}

absl::StatusOr<Fabric> Fabric::FromCoordinates(
    std::span<const TorusCoordinate> nodes, int64_t bandwidth) {
  std::vector<Triple> places;
  Triple dims = {1, 1, 1};
  for (const TorusCoordinate& node : nodes) {
    Triple at{};
    if (!ParsePlace(node.at, &at)) {
      return Invalid("node ", node.node, ": \"", node.at, "\" is not x,y,z");
    }
    for (size_t i = 0; i < 3; ++i) dims[i] = std::max(dims[i], at[i] + 1);
    places.push_back(at);
  }
  const uint64_t plane = uint64_t{dims[1]} * dims[2];
  if (plane > kMaxVertices || plane * dims[0] > kMaxVertices) {
    return Invalid("a torus of ", dims[0], " x ", dims[1], " x ", dims[2],
                   " is too large");
  }
  Torus3d torus{dims[0], dims[1], dims[2], bandwidth, {}};
  torus.nodes.resize(plane * dims[0]);
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::string& key = torus.nodes[CellAt(places[i], dims)];
    if (!key.empty()) {
      return Invalid("nodes ", key, " and ", nodes[i].node, " are both at ",
                     nodes[i].at);
    }
    key = nodes[i].node;
  }
  const auto hole = absl::c_find(torus.nodes, "");
  if (hole != torus.nodes.end()) {
    const auto cell = static_cast<uint32_t>(hole - torus.nodes.begin());
    return Invalid("no node at ", absl::StrJoin(PlaceOf(cell, dims), ","));
  }
  return Make(std::move(torus));
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
  std::vector<size_t> rank(rep_->nodes, marked.size());
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] < rep_->nodes) rank[marked[i]] = i;
  }
  std::string out = "graph fabric {\n";
  for (uint32_t v = 0; v < rep_->vertices(); ++v) {
    absl::StrAppend(
        &out, "  ", v, " [label=\"",
        absl::StrReplaceAll(rep_->keys[v], {{"\"", "\\\""}, {"\\", "\\\\"}}));
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
