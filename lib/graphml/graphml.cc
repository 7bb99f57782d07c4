#include "muster/fabric/graphml.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"
#include "pugixml.hpp"

namespace muster {
namespace {

// Why a part of the document is refused wherever it stands, or nothing.
std::string Refusal(pugi::xml_node part, pugi::xml_node root) {
  const std::string name = part.name();
  if (part.type() == pugi::node_doctype) return "document types are not read";
  if (part.parent() == part.root() && part != root) {
    return "text or a second element outside the root element";
  }
  if (name == "hyperedge" || name == "port") {
    return "<" + name + "> is not supported";
  }
  if (name == "graph" &&
      (part.parent() != root || part != root.child("graph"))) {
    return "more than one <graph>";
  }
  const std::string_view otherwise = part.attribute("edgedefault").value();
  if ((name == "edge" && part.attribute("directed").as_bool()) ||
      (name == "graph" && otherwise == "directed")) {
    return "directed edges are not supported: links go both ways";
  }
  std::set<std::string_view> given;
  for (const pugi::xml_attribute attribute : part.attributes()) {
    if (!given.insert(attribute.name()).second) {
      return std::string(attribute.name()) + " is given twice";
    }
  }
  return "";
}

// The text directly in an element, in one part or more.
std::string TextOf(pugi::xml_node element) {
  std::string text;
  for (const pugi::xml_node part : element.children()) text += part.value();
  return std::string(absl::StripAsciiWhitespace(text));
}

// Neither this nor pugixml goes into depth by recursion. Of data it knows: of
// the graph "fabric" (the first line of the text form), of nodes "name", "kind"
// (node or switch) and "place" (its position in the description), of edges
// "bandwidth" or "weight".
class GraphmlReader {
 public:
  explicit GraphmlReader(std::string_view text) : text_(text) {}

  absl::StatusOr<Fabric> Read() {
    // Where pugixml would end.
    if (const size_t at = text_.find('\0'); at != text_.npos) {
      return BadAt(at, "a zero byte");
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(
        text_.data(), text_.size(),
        // To see, and refuse, what may not stand there.
        pugi::parse_default | pugi::parse_doctype | pugi::parse_fragment,
        pugi::encoding_utf8);
    if (!parsed) return BadAt(parsed.offset, parsed.description());
    const pugi::xml_node root = document.document_element();
    std::string refusal;
    const pugi::xml_node refused = document.find_node([&](pugi::xml_node part) {
      refusal = Refusal(part, root);
      return !refusal.empty();
    });
    if (refused) return Bad(refused, refusal);
    if (root.name() != std::string_view("graphml")) {
      return Bad(root, "the root is not <graphml>");
    }
    const pugi::xml_node graph = root.child("graph");
    if (!graph) return Bad(root, "no <graph>");
    for (const pugi::xml_node key : root.children("key")) {
      MUSTER_RETURN_IF_ERROR(ReadKey(key));
    }
    for (const pugi::xml_node node : graph.children("node")) {
      MUSTER_RETURN_IF_ERROR(ReadNode(node));
    }
    for (auto& [place, key] : nodes_) graph_.nodes.push_back(std::move(key));
    for (const pugi::xml_node edge : graph.children("edge")) {
      MUSTER_RETURN_IF_ERROR(ReadEdge(edge));
    }
    return MakeFabric(Data(graph, "fabric"));
  }

 private:
  using Meaning = std::pair<std::string, std::string>;  // For what, and a name.

  // What the parts say, with the line.
  template <class... Parts>
  absl::Status BadAt(ptrdiff_t offset, const Parts&... parts) const {
    const auto before = text_.substr(0, static_cast<size_t>(offset));
    return Invalid("line ", 1 + std::ranges::count(before, '\n'), ": ",
                   parts...);
  }
  template <class... Parts>
  absl::Status Bad(pugi::xml_node at, const Parts&... parts) const {
    return BadAt(at.offset_debug(), parts...);
  }

  absl::Status ReadKey(pugi::xml_node element) {
    const std::string id = element.attribute("id").value();
    if (id.empty()) return Bad(element, "<key> without id");
    const Meaning meaning(element.attribute("for").as_string("all"),
                          element.attribute("attr.name").value());
    std::string otherwise = TextOf(element.child("default"));
    if (!otherwise.empty()) defaults_.try_emplace(meaning, otherwise);
    return keys_.try_emplace(id, meaning).second
               ? absl::OkStatus()
               : Bad(element, "two keys ", id);
  }

  // What the element has under a key of this name, or the key's default.
  std::string Data(pugi::xml_node element, const char* name) const {
    const Meaning meanings[] = {{element.name(), name}, {"all", name}};
    std::string value;
    for (const pugi::xml_node data : element.children("data")) {
      const auto key = keys_.find(data.attribute("key").value());
      if (key == keys_.end() || !absl::c_linear_search(meanings, key->second)) {
        continue;
      }
      if (std::string text = TextOf(data); !text.empty()) value = text;
    }
    if (!value.empty()) return value;
    for (const Meaning& meaning : meanings) {
      const auto otherwise = defaults_.find(meaning);
      if (otherwise != defaults_.end()) return otherwise->second;
    }
    return "";
  }

  absl::Status ReadNode(pugi::xml_node element) {
    const std::string id = element.attribute("id").value();
    if (id.empty()) return Bad(element, "<node> without id");
    const std::string name = Data(element, "name");
    const std::string& key = name.empty() ? id : name;
    if (!key_of_.try_emplace(id, key).second) {
      return Bad(element, "two nodes ", id);
    }
    if (absl::Status status = CheckFabricKey(key); !status.ok()) {
      return Bad(element, "node ", id, ": ", status.message());
    }
    const std::string kind = Data(element, "kind");
    if (kind == "switch") {
      graph_.switches.push_back(key);
      return absl::OkStatus();
    }
    if (!kind.empty() && kind != "node") {
      return Bad(element, "a kind that is neither node nor switch");
    }
    const std::string place = Data(element, "place");
    uint64_t position = Fabric::kMaxVertices;
    if (!place.empty() && !absl::SimpleAtoi(place, &position)) {
      return Bad(element, "a place that is no number");
    }
    nodes_.emplace(position, key);
    return absl::OkStatus();
  }

  absl::Status ReadEdge(pugi::xml_node element) {
    const std::string source = element.attribute("source").value();
    const std::string target = element.attribute("target").value();
    if (source.empty() || target.empty()) {
      return Bad(element, "<edge> without source or target");
    }
    const auto a = key_of_.find(source), b = key_of_.find(target);
    if (a == key_of_.end() || b == key_of_.end()) {
      return Bad(element, "edge ", source, " - ", target, ": no such node");
    }
    FabricGraph::Link link{a->second, b->second};
    std::string bandwidth = Data(element, "bandwidth");
    if (bandwidth.empty()) bandwidth = Data(element, "weight");
    if (!bandwidth.empty() &&
        (!absl::SimpleAtoi(bandwidth, &link.bandwidth) || link.bandwidth < 1 ||
         link.bandwidth > Fabric::kMaxBandwidth)) {
      return Bad(element, "a bandwidth that is no whole number in 1..",
                 Fabric::kMaxBandwidth);
    }
    graph_.links.push_back(std::move(link));
    return absl::OkStatus();
  }

  // With the form that the header says, if it makes just this graph.
  absl::StatusOr<Fabric> MakeFabric(const std::string& header) {
    if (header.empty()) return Fabric::Make(std::move(graph_));
    std::string text = header + "\n";
    for (const std::string& key : graph_.nodes) {
      absl::StrAppend(&text, "node ", key, "\n");
    }
    MUSTER_ASSIGN_OR_RETURN(Fabric formed, Fabric::FromText(text));
    MUSTER_ASSIGN_OR_RETURN(const Fabric plain,
                            Fabric::Make(std::move(graph_)));
    if (formed.graph() != plain.graph()) {
      return Invalid("the switches and links are not those of ",
                     header.substr(0, 80));
    }
    return formed;
  }

  std::string_view text_;
  absl::flat_hash_map<std::string, Meaning> keys_{};  // By id.
  absl::flat_hash_map<Meaning, std::string> defaults_{};
  absl::flat_hash_map<std::string, std::string> key_of_{};  // Of nodes, by id.
  // By place, then as they come.
  std::multimap<uint64_t, std::string> nodes_{};
  FabricGraph graph_{};
};

constexpr char kEmpty[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="f" for="graph" attr.name="fabric" attr.type="string"/>
  <key id="n" for="node" attr.name="name" attr.type="string"/>
  <key id="k" for="node" attr.name="kind" attr.type="string"/>
  <key id="p" for="node" attr.name="place" attr.type="int"/>
  <key id="b" for="edge" attr.name="bandwidth" attr.type="long"/>
  <graph id="fabric" edgedefault="undirected"/>
</graphml>)";

void AddData(pugi::xml_node element, const char* key,
             const std::string& value) {
  pugi::xml_node data = element.append_child("data");
  data.append_attribute("key") = key;
  data.text() = value.c_str();
}

}  // namespace

absl::StatusOr<Fabric> FabricFromGraphml(std::string_view text) {
  return GraphmlReader(text).Read();
}

std::string FabricToGraphml(const Fabric& fabric) {
  pugi::xml_document document;
  document.load_string(kEmpty);
  pugi::xml_node graph = document.document_element().child("graph");
  const std::string header = FabricHeader(fabric.description());
  if (!header.empty()) AddData(graph, "f", header);
  absl::flat_hash_map<std::string, std::string> ids;
  auto add_vertex = [&](const std::string& key, const char* kind) {
    const std::string id = absl::StrCat("n", ids.size());
    ids.emplace(key, id);
    pugi::xml_node node = graph.append_child("node");
    node.append_attribute("id") = id.c_str();
    AddData(node, "n", key);
    AddData(node, "k", kind);
    return node;
  };
  std::visit(
      [&](const auto& form) {
        size_t place = 0;
        for (const std::string& key : form.nodes) {
          AddData(add_vertex(key, "node"), "p", absl::StrCat(place++));
        }
      },
      fabric.description());
  const FabricGraph plain = fabric.graph();
  for (const std::string& name : plain.switches) add_vertex(name, "switch");
  for (const FabricGraph::Link& link : plain.links) {
    pugi::xml_node edge = graph.append_child("edge");
    edge.append_attribute("source") = ids.at(link.a).c_str();
    edge.append_attribute("target") = ids.at(link.b).c_str();
    AddData(edge, "b", absl::StrCat(link.bandwidth));
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace muster
