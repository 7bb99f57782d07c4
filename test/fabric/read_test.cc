// Fabrics from values, text, labels and GraphML.
#include <algorithm>
#include <sstream>

#include "boost/graph/adjacency_list.hpp"
#include "boost/graph/graphml.hpp"
#include "gmock/gmock.h"
#include "test/fabric/fabrics.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

template <class T>
std::string Complaint(const absl::StatusOr<T>& result) {
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(result.status().message());
}

std::vector<Fabric> OneOfEach() {
  std::vector<Fabric> fabrics;
  Dice dice(7);
  fabrics.push_back(MakeTorus(3, 2, 4, 50));
  fabrics.push_back(MakeDragonfly(3, 2, 2));
  fabrics.push_back(MakeRails(2, 3));
  fabrics.push_back(RandomGraph(dice, 9, 9));
  fabrics.push_back(Made(FabricGraph{{"b<&>\"'", "a", "\xc3\xa9"},
                                     {"s", "r"},
                                     {{"s", "a", 7}, {"s", "b<&>\"'", 1}}}));
  std::vector<std::string> reversed = Keys(8);
  std::reverse(reversed.begin(), reversed.end());
  fabrics.push_back(Made(Torus3d{2, 2, 2, 1, reversed}));
  return fabrics;
}

TEST(FabricReadTest, WhatIsWrittenReadsBackEqual) {
  for (const Fabric& fabric : OneOfEach()) {
    const auto text = Fabric::FromText(fabric.ToText());
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(text->description(), fabric.description());
    const auto graphml = Fabric::FromGraphml(fabric.ToGraphml());
    ASSERT_TRUE(graphml.ok()) << graphml.status() << fabric.ToGraphml();
    EXPECT_EQ(graphml->graph(), fabric.graph());
    EXPECT_EQ(graphml->ToGraphml(), fabric.ToGraphml());
    if (!std::holds_alternative<FabricGraph>(fabric.description())) {
      EXPECT_EQ(graphml->description(), fabric.description());
    }
  }
}

TEST(FabricReadTest, ShapesHaveTheLinksThatTheyPromise) {
  EXPECT_EQ(MakeTorus(4, 4, 4).graph().links.size(), 3u * 64);
  EXPECT_EQ(MakeTorus(2, 2, 2).graph().links.size(), 12u);
  EXPECT_EQ(MakeTorus(1, 1, 1).graph().links.size(), 0u);
  // 24 nodes, 4 groups of 3 routers all joined, 6 pairs of groups.
  EXPECT_EQ(MakeDragonfly(4, 3, 2).graph().links.size(), 24u + 4 * 3 + 6);
  // 3 x 4 nodes on 4 rails, 12 leaves on 2 spines.
  EXPECT_EQ(MakeRails(3, 4).graph().links.size(), 48u + 24);
}

TEST(FabricReadTest, ADragonflysRoutersTakeItsGlobalLinksInTurn) {
  const FabricGraph graph = MakeDragonfly(4, 3, 1).graph();
  std::vector<std::string> global;
  for (const auto& link : graph.links) {
    if (link.a.substr(0, 7) != link.b.substr(0, 7) && link.a[0] == 'g') {
      global.push_back(link.a + " " + link.b);
    }
  }
  // Of 3 global links each router of a group has one.
  EXPECT_THAT(global,
              ::testing::ElementsAre("group-0/router-0 group-1/router-0",
                                     "group-0/router-1 group-2/router-0",
                                     "group-0/router-2 group-3/router-0",
                                     "group-1/router-1 group-2/router-1",
                                     "group-1/router-2 group-3/router-1",
                                     "group-2/router-2 group-3/router-2"));
}

TEST(FabricReadTest, PlainTextIsOneThingALine) {
  const auto fabric = Fabric::FromText(
      "# two hosts and a switch\n\n"
      "node h1   # the first\r\n"
      "link h1 s 100\n"
      "link h2 s\n"
      "node h2\nswitch s");
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_EQ(fabric->nodes(), 2u);
  EXPECT_EQ(fabric->Hops(0, 1), 2u);
  EXPECT_EQ(fabric->graph().links[0].bandwidth, 100);
}

TEST(FabricReadTest, BadTextIsToldByItsLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"node a\nnode", "line 2: expected node KEY"},
      {"nodes a", "line 1: expected torus"},
      {"node a\nlink a b 0", "line 2: \"0\" is no number"},
      {"node a\nlink a b 9999999999999999999999", "line 2"},
      {"link a", "line 1: expected link A B"},
      {"torus 2 2 2", "line 1: torus has 4 numbers, not 3"},
      {"node a\ntorus 1 1 1 1", "line 2: torus comes first"},
      {"torus 1 1 1 1\nrails 1 1 1 1 1 1", "line 2: rails comes first"},
      {"torus 99999999 1 1 1", "line 1: 99999999 is more"},
      {"torus 1000000 1000000 1000000 1", "torus: more than"},
      {"torus 2 1 1 1\nnode a", "1 nodes given, its sizes make 2"},
      {"torus 1 1 1 1\nswitch a", "line 2: the switches of this fabric"},
      {"torus 1 1 1 1\nlink a b", "line 2: the links of this fabric"},
      {"node a\nlink a b", "link a - b: an end that is no node"},
      {"node a\nlink a a", "link a - a: both ends the same"},
      {"node a\nnode a", "called a"},
      {"node a\nswitch a", "called a"},
      {"", "without nodes"},
      {"dragonfly 2 1 1 8388608 1 1 1", "line 1: 8388608 is more"},
      {"rails 1 1 1048576 1048576 1 1\nnode a", "links"},
      // A few bytes are not to ask for gigabytes.
      {"rails 2 3 4 777773 1 2\nnode nR\nnode n1\nnode n2\nnode n7\nnode n4"
       "\nnode i1n",
       "rails: more than 4194304 links"},
  };
  for (const auto& [text, complaint] : cases) {
    EXPECT_THAT(Complaint(Fabric::FromText(text)), HasSubstr(complaint))
        << text;
  }
}

TEST(FabricReadTest, BadValuesAreRefused) {
  EXPECT_THAT(Complaint(Fabric::Make(FabricGraph{{"a b"}, {}, {}})),
              HasSubstr("node 0: a key with a blank"));
  EXPECT_THAT(Complaint(Fabric::Make(FabricGraph{{"a"}, {"#s"}, {}})),
              HasSubstr("switch 0: a key that begins with '#'"));
  EXPECT_THAT(Complaint(Fabric::Make(Torus3d{0, 1, 1, 1, {}})),
              HasSubstr("torus: x is 0"));
  EXPECT_THAT(Complaint(Fabric::Make(Torus3d{2, 1, 1, 0, {"a", "b"}})),
              HasSubstr("link a - b: a bandwidth out of range"));
  EXPECT_THAT(
      Complaint(Fabric::Make(Dragonfly{2, 1, 1, 0, 1, 1, 1, {"a", "b"}})),
      HasSubstr("global links are 0"));
  EXPECT_THAT(Complaint(Fabric::Make(RailFatTree{1, 1, 0, 1, 1, 1, {"a"}})),
              HasSubstr("rails are 0"));
}

TEST(FabricReadTest, LabelsMakeATorus) {
  std::vector<TorusCoordinate> labels = {
      {"d", "1,1,0"}, {"a", "0,0,0"}, {"c", "1,0,0"}, {"b", "0,1,0"}};
  const auto torus = Fabric::FromCoordinates(labels, 25);
  ASSERT_TRUE(torus.ok()) << torus.status();
  EXPECT_EQ(std::get<Torus3d>(torus->description()),
            (Torus3d{2, 2, 1, 25, {"a", "b", "c", "d"}}));
  labels[0].at = "1,0,0";
  EXPECT_THAT(Complaint(Fabric::FromCoordinates(labels, 1)),
              HasSubstr("nodes d and c are both at 1,0,0"));
  labels[0].at = "2,1,0";
  EXPECT_THAT(Complaint(Fabric::FromCoordinates(labels, 1)),
              HasSubstr("no node at 1,1,0"));
  for (const char* bad : {"", "1", "1,2", "1,2,", "1,2,3,", "1,2,3,4", "-1,0,0",
                          "1, 2,3", "99999999999,0,0", "9999999,0,0", ",,"}) {
    labels[0].at = bad;
    EXPECT_THAT(Complaint(Fabric::FromCoordinates(labels, 1)),
                HasSubstr("node d: \"" + std::string(bad) + "\""));
  }
  labels[0].at = "1048575,1048575,1048575";
  EXPECT_THAT(Complaint(Fabric::FromCoordinates(labels, 1)),
              HasSubstr("too large"));
  EXPECT_FALSE(Fabric::FromCoordinates({}, 1).ok());
}

TEST(FabricReadTest, GraphmlOfOtherProgramsIsRead) {
  const auto fabric = Fabric::FromGraphml(R"(<?xml version="1.0"?>
<!-- by hand -->
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="kind"><default>node</default></key>
  <key id='d1' for='edge' attr.name='weight'><default>4</default></key>
  <key id="x" for="node" yfiles.type="nodegraphics"/>
  <graph edgedefault="undirected">
    <edge source="a&amp;b" target="s"/>
    <node id="s"><data key="d0">switch</data></node>
    <node id="a&#38;b"><data key="x"><shape w="3">no<b/></shape></data></node>
    <node id="c"/>
    <edge source="c" target="s"><data key="d1"><![CDATA[ 9 ]]></data></edge>
  </graph>
</graphml>)");
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_EQ(
      fabric->graph(),
      (FabricGraph{{"a&b", "c"}, {"s"}, {{"a&b", "s", 4}, {"c", "s", 9}}}));
}

TEST(FabricReadTest, GraphmlThatBoostWritesIsRead) {
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS,
                            boost::property<boost::vertex_name_t, std::string>,
                            boost::property<boost::edge_weight_t, int>>;
  Graph graph(3);
  const char* names[] = {"left", "right", "<middle>"};
  for (size_t v = 0; v < 3; ++v) {
    boost::put(boost::vertex_name, graph, v, names[v]);
  }
  boost::add_edge(0, 2, 5, graph);
  boost::add_edge(2, 1, 6, graph);
  boost::dynamic_properties properties;
  properties.property("name", boost::get(boost::vertex_name, graph));
  properties.property("weight", boost::get(boost::edge_weight, graph));
  std::ostringstream out;
  boost::write_graphml(out, graph, properties);
  const auto fabric = Fabric::FromGraphml(out.str());
  ASSERT_TRUE(fabric.ok()) << fabric.status() << out.str();
  EXPECT_EQ(fabric->graph(),
            (FabricGraph{{"<middle>", "left", "right"},
                         {},
                         {{"<middle>", "left", 5}, {"<middle>", "right", 6}}}));
}

TEST(FabricReadTest, BadGraphmlIsToldByItsLine) {
  auto in_graph = [](const std::string& inner) {
    return "<graphml><graph>\n" + inner + "</graph></graphml>";
  };
  const std::string key =
      "<graphml><key id='b' for='edge' attr.name='bandwidth'/><graph>"
      "<node id='a'/><node id='c'/>\n<edge source='a' target='c'>"
      "<data key='b'>";
  const std::pair<std::string, const char*> cases[] = {
      {"", "line 1: no element"},
      {"<svg/>", "line 1: the root is <svg>"},
      {"<graphml/>", "no <graph>"},
      {"<graphml><graph>", "<graph> is never closed"},
      {"<graphml></graph>", "</graph> closes nothing"},
      {"<graphml>\n<graph edgedefault='directed'/></graphml>",
       "line 2: directed"},
      {in_graph("<node/>"), "line 2: <node> without id"},
      {in_graph("<edge source='a'/>"), "line 2: <edge> without"},
      {in_graph("<node id='a'/><edge source='a' target='z'/>"),
       "edge a - z: no such node"},
      {in_graph("<node id='a'/>\n<node id='a'/>"), "line 3: two nodes a"},
      {in_graph("<node id='a'><graph/></node>"), "more than one <graph>"},
      {in_graph("<hyperedge/>"), "<hyperedge> is not supported"},
      {in_graph("<node id='a b'/>"), "a key with a blank"},
      {in_graph("<node id=a/>"), "the value of id has no quotes"},
      {in_graph("<node id='&bad;'/>"), "'&' that begins no entity"},
      {in_graph("<node id='a' id='b'/>"), "id is given twice"},
      {"<!DOCTYPE graphml><graphml/>", "document types are not read"},
      {key + "1.5</data></edge></graph></graphml>", "line 2: a bandwidth"},
      {key + "0</data></edge></graph></graphml>", "line 2: a bandwidth"},
      {"<graphml><graph/></graphml><graphml/>", "a second root"},
      {"hello", "text outside the root"},
      {std::string(4000, '<'), "begins no element"},
  };
  for (const auto& [text, complaint] : cases) {
    EXPECT_THAT(Complaint(Fabric::FromGraphml(text)), HasSubstr(complaint))
        << text;
  }
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<graphml>";
  EXPECT_THAT(Complaint(Fabric::FromGraphml(deep)), HasSubstr("too deep"));
}

TEST(FabricReadTest, AFormWithOtherLinksIsRefused) {
  std::string text = MakeTorus(2, 2, 2, 5).ToGraphml();
  text.replace(text.find("<data key=\"b\">5"), 15, "<data key=\"b\">6");
  EXPECT_THAT(Complaint(Fabric::FromGraphml(text)),
              HasSubstr("are not those of torus 2 2 2 5"));
}

// Whatever is read is refused with a message, or is a fabric that writes what
// it reads back as.
TEST(FabricReadTest, GarbledTextNeverDoesHarm) {
  std::vector<std::string> texts, graphmls;
  for (const Fabric& fabric : OneOfEach()) {
    texts.push_back(fabric.ToText());
    graphmls.push_back(fabric.ToGraphml());
  }
  const std::string odd = " \n\"'<>/&;#=!-[]0123456789nodelink\x01\xff";
  int read = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    Dice dice(seed);
    const bool xml = dice.OneIn(2);
    const auto& from = xml ? graphmls : texts;
    std::string text = from[dice.Below(static_cast<uint32_t>(from.size()))];
    auto place = [&] {
      return dice.Below(static_cast<uint32_t>(text.size()) + 1);
    };
    for (uint32_t i = 0, edits = 1 + dice.Below(4); i < edits; ++i) {
      const char c = odd[dice.Below(static_cast<uint32_t>(odd.size()))];
      const uint32_t at = place();
      switch (dice.Below(4)) {
        case 0:
          text.insert(at, 1, c);
          break;
        case 1:
          text.erase(at, 1 + dice.Below(20));
          break;
        case 2:
          text.insert(at, text.substr(place(), dice.Below(60)));
          break;
        default:
          if (at < text.size()) text[at] = c;
      }
    }
    const auto fabric =
        xml ? Fabric::FromGraphml(text) : Fabric::FromText(text);
    if (!fabric.ok()) {
      ASSERT_FALSE(Complaint(fabric).empty()) << "seed " << seed;
      ++refused;
      continue;
    }
    ++read;
    const auto again = Fabric::FromGraphml(fabric->ToGraphml());
    ASSERT_TRUE(again.ok()) << "seed " << seed << again.status();
    ASSERT_EQ(again->graph(), fabric->graph()) << "seed " << seed;
    ASSERT_EQ(Fabric::FromText(fabric->ToText())->description(),
              fabric->description())
        << "seed " << seed;
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

TEST(FabricReadTest, ADrawingShowsRanks) {
  const std::string dot =
      Made(FabricGraph{{"a", "b"}, {"s\"x"}, {{"a", "s\"x"}, {"b", "s\"x"}}})
          .ToDot(std::vector<uint32_t>{1});
  EXPECT_EQ(dot,
            "graph fabric {\n  0 [label=\"a\"];\n"
            "  1 [label=\"b\\n0\" style=filled];\n"
            "  2 [label=\"s\\\"x\" shape=box];\n  0 -- 2;\n  1 -- 2;\n}\n");
}

}  // namespace
}  // namespace muster
