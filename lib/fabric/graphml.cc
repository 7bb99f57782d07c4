// GraphML (http://graphml.graphdrawing.org), undirected and flat, and drawings.
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"
#include "lib/fabric/xml.h"

namespace muster {
namespace {

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

bool ParseNumber(const std::string& text, int64_t* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end && *value >= 0;
}

// One element after the other. Of data it knows: of the graph "fabric" (the
// first line of the text form), of nodes "name", "kind" (node or switch) and
// "place" (its position in the description), of edges "bandwidth" or "weight".
class GraphmlReader {
 public:
  explicit GraphmlReader(std::string_view text) : xml_(text) {}

  absl::Status Read() {
    XmlEvent event;
    while (true) {
      MUSTER_RETURN_IF_ERROR(xml_.Next(&event));
      switch (event.kind) {
        case XmlEvent::Kind::kOpen:
          path_.push_back(event.name);
          MUSTER_RETURN_IF_ERROR(Open(event));
          break;
        case XmlEvent::Kind::kClose:
          MUSTER_RETURN_IF_ERROR(Close());
          path_.pop_back();
          break;
        case XmlEvent::Kind::kText:
          if (path_.back() == "data" || path_.back() == "default") {
            text_ += event.name;
          }
          break;
        case XmlEvent::Kind::kEnd:
          return seen_graph_ ? Finish() : xml_.Bad("no <graph>");
      }
    }
  }

  FabricGraph graph{};  // Nodes by place, then as they come.
  std::string header{};

 private:
  struct Key {
    std::string of{}, name{}, otherwise{};
  };
  struct Edge {
    std::string source{}, target{};
    int64_t bandwidth = 1;
  };

  bool In(std::string_view a, std::string_view b) const {
    return path_.size() >= 2 && path_[path_.size() - 2] == a &&
           path_.back() == b;
  }

  absl::Status Open(const XmlEvent& event) {
    if (path_.size() == 1 && event.name != "graphml") {
      return xml_.Bad("the root is <" + event.name + ">, not <graphml>");
    }
    if (event.name == "hyperedge" || event.name == "port") {
      return xml_.Bad("<" + event.name + "> is not supported");
    }
    if (event.name == "graph") return OpenGraph(event);
    if (In("graphml", "key")) {
      key_ = {Attribute(event, "for"), Attribute(event, "attr.name"), ""};
      key_id_ = Attribute(event, "id");
      if (key_id_.empty()) return xml_.Bad("<key> without id");
    } else if (In("graph", "node")) {
      data_.clear();
      vertex_id_ = Attribute(event, "id");
      if (vertex_id_.empty()) return xml_.Bad("<node> without id");
    } else if (In("graph", "edge")) {
      data_.clear();
      edge_ = {Attribute(event, "source"), Attribute(event, "target")};
      if (edge_.source.empty() || edge_.target.empty()) {
        return xml_.Bad("<edge> without source or target");
      }
      if (Attribute(event, "directed") == "true") return Directed();
    } else if (event.name == "data") {
      data_key_ = Attribute(event, "key");
      text_.clear();
    } else if (event.name == "default") {
      text_.clear();
    }
    return absl::OkStatus();
  }

  absl::Status OpenGraph(const XmlEvent& event) {
    if (!In("graphml", "graph") || seen_graph_) {
      return xml_.Bad("more than one <graph>");
    }
    seen_graph_ = true;
    return Attribute(event, "edgedefault") == "directed" ? Directed()
                                                         : absl::OkStatus();
  }

  absl::Status Directed() const {
    return xml_.Bad("directed edges are not supported: links go both ways");
  }

  absl::Status Close() {
    if (In("key", "default")) {
      key_.otherwise = Trim(text_);
    } else if (In("graphml", "key")) {
      if (!keys_.emplace(key_id_, key_).second) {
        return xml_.Bad("two keys " + key_id_);
      }
    } else if (In("graph", "data")) {
      const auto key = keys_.find(data_key_);
      if (key != keys_.end() && key->second.name == "fabric") {
        header = Trim(text_);
      }
    } else if (In("node", "data") || In("edge", "data")) {
      data_[data_key_] = Trim(text_);
    } else if (In("graph", "node")) {
      return CloseNode();
    } else if (In("graph", "edge")) {
      return CloseEdge();
    }
    return absl::OkStatus();
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

  absl::Status CloseNode() {
    const std::string name = Data("node", "name"), kind = Data("node", "kind");
    const std::string place = Data("node", "place");
    const std::string& key = name.empty() ? vertex_id_ : name;
    if (!names_.emplace(vertex_id_, key).second) {
      return xml_.Bad("two nodes " + vertex_id_);
    }
    if (absl::Status status = CheckFabricKey(key); !status.ok()) {
      return xml_.Bad("node " + vertex_id_ + ": " +
                      std::string(status.message()));
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

  absl::Status CloseEdge() {
    std::string bandwidth = Data("edge", "bandwidth");
    if (bandwidth.empty()) bandwidth = Data("edge", "weight");
    if (!bandwidth.empty() &&
        (!ParseNumber(bandwidth, &edge_.bandwidth) || edge_.bandwidth < 1 ||
         edge_.bandwidth > Fabric::kMaxBandwidth)) {
      return xml_.Bad("a bandwidth that is no whole number in 1.." +
                      std::to_string(Fabric::kMaxBandwidth));
    }
    edges_.push_back(std::move(edge_));
    return absl::OkStatus();
  }

  // Edges may come before their ends.
  absl::Status Finish() {
    std::stable_sort(
        nodes_.begin(), nodes_.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [place, key] : nodes_) graph.nodes.push_back(std::move(key));
    for (const Edge& edge : edges_) {
      const auto a = names_.find(edge.source), b = names_.find(edge.target);
      if (a == names_.end() || b == names_.end()) {
        return absl::InvalidArgumentError("edge " + edge.source + " - " +
                                          edge.target + ": no such node");
      }
      graph.links.push_back({a->second, b->second, edge.bandwidth});
    }
    return absl::OkStatus();
  }

  static std::string Attribute(const XmlEvent& event, std::string_view name) {
    const std::string* value = event.Find(name);
    return value == nullptr ? "" : *value;
  }

  XmlReader xml_;
  std::vector<std::string> path_{};
  bool seen_graph_ = false;
  std::string key_id_{}, vertex_id_{}, data_key_{}, text_{};
  Key key_{};
  std::map<std::string, Key> keys_{};
  std::map<std::string, std::string> data_{};  // Of the present element.
  Edge edge_{};
  std::map<std::string, std::string> names_{};  // By id.
  std::vector<std::pair<int64_t, std::string>> nodes_{};
  std::vector<Edge> edges_{};
};

std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// The vertices' keys in the order of the description, nodes first.
std::vector<std::string> Places(const FabricDescription& description) {
  return std::visit([](const auto& form) { return form.nodes; }, description);
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
    return absl::InvalidArgumentError(
        "the switches and links are not those of " +
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
  const std::vector<std::string> places = Places(description());
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
