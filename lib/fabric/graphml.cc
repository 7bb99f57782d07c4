// GraphML (http://graphml.graphdrawing.org), undirected and flat, and drawings.
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"
#include "lib/fabric/xml.h"

namespace muster {
namespace {

std::string Trim(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

bool ParseNumber(const std::string& text, int64_t* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end && *value >= 0;
}

// One element after the other, as they are closed. Of data it knows: of the
// graph "fabric" (the first line of the text form), of nodes "name", "kind"
// (node or switch) and "place" (its position in the description), of edges
// "bandwidth" or "weight".
class GraphmlReader {
 public:
  explicit GraphmlReader(std::string_view text) : xml_(text) {}

  absl::Status Read() {
    while (true) {
      MUSTER_ASSIGN_OR_RETURN(const std::span<const XmlElement> path,
                              xml_.Next());
      if (path.empty()) return seen_graph_ ? Finish() : xml_.Bad("no <graph>");
      if (path[0].name != "graphml") {
        return xml_.Bad("the root is <" + path[0].name + ">, not <graphml>");
      }
      MUSTER_RETURN_IF_ERROR(Close(
          path.size() > 1 ? path[path.size() - 2].name : "", path.back()));
    }
  }

  FabricGraph graph{};  // Nodes by place, then as they come.
  std::string header{};

 private:
  struct Key {
    std::string of{}, name{}, otherwise{};
  };

  absl::Status Close(const std::string& parent, const XmlElement& element) {
    const std::string& name = element.name;
    absl::Status status;
    if (name == "hyperedge" || name == "port") {
      status = xml_.Bad("<" + name + "> is not supported");
    } else if (name == "graph") {
      status = CloseGraph(parent, element);
    } else if (name == "default" && parent == "key") {
      otherwise_ = Trim(element.text);
    } else if (name == "key") {
      if (parent == "graphml") status = CloseKey(element);
      otherwise_.clear();
    } else if (name == "data") {
      CloseData(parent, element);
    } else if (name == "node" || name == "edge") {
      if (parent == "graph") {
        status = name == "node" ? CloseNode(element) : CloseEdge(element);
      }
      data_.clear();
    }
    return status;
  }

  absl::Status CloseGraph(const std::string& parent,
                          const XmlElement& element) {
    if (parent != "graphml" || seen_graph_) {
      return xml_.Bad("more than one <graph>");
    }
    seen_graph_ = true;
    return element["edgedefault"] == "directed" ? Directed() : absl::OkStatus();
  }

  absl::Status Directed() const {
    return xml_.Bad("directed edges are not supported: links go both ways");
  }

  absl::Status CloseKey(const XmlElement& element) {
    const std::string id = element["id"];
    if (id.empty()) return xml_.Bad("<key> without id");
    const Key key{element["for"], element["attr.name"], otherwise_};
    return keys_.emplace(id, key).second ? absl::OkStatus()
                                         : xml_.Bad("two keys " + id);
  }

  void CloseData(const std::string& parent, const XmlElement& element) {
    const std::string id = element["key"];
    if (parent == "node" || parent == "edge") data_[id] = Trim(element.text);
    const auto key = keys_.find(id);
    if (parent == "graph" && key != keys_.end() &&
        key->second.name == "fabric") {
      header = Trim(element.text);
    }
  }

  // What is given under a key of this name, or the key's default.
  std::string Data(std::string_view of, std::string_view name) const {
    for (const auto& [id, key] : keys_) {
      if (key.name != name || (key.of != of && key.of != "all")) continue;
      const auto given = data_.find(id);
      const std::string& value =
          given == data_.end() ? key.otherwise : given->second;
      if (!value.empty()) return value;
    }
    return "";
  }

  absl::Status CloseNode(const XmlElement& element) {
    const std::string id = element["id"];
    if (id.empty()) return xml_.Bad("<node> without id");
    const std::string name = Data("node", "name"), kind = Data("node", "kind");
    const std::string place = Data("node", "place");
    const std::string& key = name.empty() ? id : name;
    if (!names_.emplace(id, key).second) return xml_.Bad("two nodes " + id);
    if (absl::Status status = CheckFabricKey(key); !status.ok()) {
      return xml_.Bad("node " + id + ": " + std::string(status.message()));
    }
    if (kind == "switch") {
      graph.switches.push_back(key);
      return absl::OkStatus();
    }
    if (!kind.empty() && kind != "node") {
      return xml_.Bad("a kind that is neither node nor switch");
    }
    int64_t position = Fabric::kMaxVertices;
    if (!place.empty() && !ParseNumber(place, &position)) {
      return xml_.Bad("a place that is no number");
    }
    nodes_.emplace_back(position, key);
    return absl::OkStatus();
  }

  // By the ids of its ends, which may come later.
  absl::Status CloseEdge(const XmlElement& element) {
    FabricGraph::Link link{element["source"], element["target"]};
    if (link.a.empty() || link.b.empty()) {
      return xml_.Bad("<edge> without source or target");
    }
    if (element["directed"] == "true") return Directed();
    std::string bandwidth = Data("edge", "bandwidth");
    if (bandwidth.empty()) bandwidth = Data("edge", "weight");
    if (!bandwidth.empty() &&
        (!ParseNumber(bandwidth, &link.bandwidth) || link.bandwidth < 1 ||
         link.bandwidth > Fabric::kMaxBandwidth)) {
      return xml_.Bad("a bandwidth that is no whole number in 1.." +
                      std::to_string(Fabric::kMaxBandwidth));
    }
    graph.links.push_back(std::move(link));
    return absl::OkStatus();
  }

  absl::Status Finish() {
    std::stable_sort(
        nodes_.begin(), nodes_.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [place, key] : nodes_) graph.nodes.push_back(std::move(key));
    for (FabricGraph::Link& link : graph.links) {
      const auto a = names_.find(link.a), b = names_.find(link.b);
      if (a == names_.end() || b == names_.end()) {
        return Invalid("edge ", link.a, " - ", link.b, ": no such node");
      }
      link.a = a->second;
      link.b = b->second;
    }
    return absl::OkStatus();
  }

  XmlReader xml_;
  bool seen_graph_ = false;
  std::string otherwise_{};  // Of the present key.
  std::map<std::string, Key> keys_{};
  std::map<std::string, std::string> data_{};   // Of the present element.
  std::map<std::string, std::string> names_{};  // By id.
  std::vector<std::pair<int64_t, std::string>> nodes_{};
};

std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

absl::StatusOr<Fabric> Fabric::FromGraphml(std::string_view text) {
  GraphmlReader reader(text);
  MUSTER_RETURN_IF_ERROR(reader.Read());
  if (reader.header.empty()) return Make(std::move(reader.graph));
  std::string form = reader.header + "\n";
  for (const std::string& key : reader.graph.nodes) {
    absl::StrAppend(&form, "node ", key, "\n");
  }
  absl::StatusOr<Fabric> formed = FromText(form);
  if (!formed.ok()) return formed;
  absl::StatusOr<Fabric> plain = Make(std::move(reader.graph));
  if (!plain.ok()) return plain;
  if (formed->graph() != plain->graph()) {
    return Invalid("the switches and links are not those of ",
                   reader.header.substr(0, 80));
  }
  return formed;
}

std::string Fabric::ToGraphml() const {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "  <key id=\"f\" for=\"graph\" attr.name=\"fabric\" "
      "attr.type=\"string\"/>\n"
      "  <key id=\"n\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
      "  <key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
      "  <key id=\"p\" for=\"node\" attr.name=\"place\" attr.type=\"int\"/>\n"
      "  <key id=\"b\" for=\"edge\" attr.name=\"bandwidth\" "
      "attr.type=\"long\"/>\n"
      "  <graph id=\"fabric\" edgedefault=\"undirected\">\n";
  if (const std::string header = FabricHeader(description()); !header.empty()) {
    absl::StrAppend(&out, "    <data key=\"f\">", header, "</data>\n");
  }
  std::vector<size_t> place(rep_->nodes);
  const auto places = std::visit(
      [](const auto& form) -> std::span<const std::string> {
        return form.nodes;
      },
      description());
  for (size_t i = 0; i < places.size(); ++i) place[Find(places[i])] = i;
  for (uint32_t v = 0; v < rep_->vertices(); ++v) {
    absl::StrAppend(&out, "    <node id=\"n", v, "\"><data key=\"n\">",
                    Escape(rep_->keys[v]), "</data>");
    if (v < rep_->nodes) {
      absl::StrAppend(&out, "<data key=\"k\">node</data><data key=\"p\">",
                      place[v], "</data></node>\n");
    } else {
      out += "<data key=\"k\">switch</data></node>\n";
    }
  }
  for (auto [e, end] = boost::edges(rep_->graph); e != end; ++e) {
    absl::StrAppend(&out, "    <edge source=\"n",
                    boost::source(*e, rep_->graph), "\" target=\"n",
                    boost::target(*e, rep_->graph), "\"><data key=\"b\">",
                    boost::get(boost::edge_weight, rep_->graph, *e));
    out += "</data></edge>\n";
  }
  return out + "  </graph>\n</graphml>\n";
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
