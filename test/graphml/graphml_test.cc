// Fabrics as GraphML.
#include "muster/fabric/graphml.h"

#include <sstream>

#include "boost/graph/adjacency_list.hpp"
#include "boost/graph/graphml.hpp"
#include "gmock/gmock.h"
#include "test/fabric/fabrics.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(GraphmlTest, WhatIsWrittenReadsBackEqual) {
  for (const Fabric& fabric : OneOfEach()) {
    const std::string text = FabricToGraphml(fabric);
    const auto again = FabricFromGraphml(text);
    ASSERT_TRUE(again.ok()) << again.status() << text;
    EXPECT_EQ(again->graph(), fabric.graph());
    EXPECT_EQ(FabricToGraphml(*again), text);
    if (!std::holds_alternative<FabricGraph>(fabric.description())) {
      EXPECT_EQ(again->description(), fabric.description());
    }
  }
}

TEST(GraphmlTest, WhatOtherProgramsWriteIsRead) {
  const auto fabric = FabricFromGraphml(R"(<?xml version="1.0"?>
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

TEST(GraphmlTest, AKeyThatDoesNotSayForWhatIsForAll) {
  const auto fabric = FabricFromGraphml(R"(<graphml>
  <key id="b" attr.name="bandwidth"><default>3</default></key>
  <graph>
    <node id="a"/><node id="c"/><edge source="a" target="c"/>
    <edge source="c" target="a"><data key="b">1<!-- and -->2</data></edge>
  </graph>
</graphml>)");
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_EQ(fabric->graph(), (FabricGraph{{"a", "c"}, {}, {{"a", "c", 15}}}));
}

TEST(GraphmlTest, WhatBoostWritesIsRead) {
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
  const auto fabric = FabricFromGraphml(out.str());
  ASSERT_TRUE(fabric.ok()) << fabric.status() << out.str();
  EXPECT_EQ(fabric->graph(),
            (FabricGraph{{"<middle>", "left", "right"},
                         {},
                         {{"<middle>", "left", 5}, {"<middle>", "right", 6}}}));
}

TEST(GraphmlTest, MistakesAreToldByTheirLine) {
  auto in_graph = [](const std::string& inner) {
    return "<graphml><graph>\n" + inner + "</graph></graphml>";
  };
  const std::string key =
      "<graphml><key id='b' for='edge' attr.name='bandwidth'/><graph>"
      "<node id='a'/><node id='c'/>\n<edge source='a' target='c'>"
      "<data key='b'>";
  const std::pair<std::string, const char*> cases[] = {
      {"", "line 1: the root is not <graphml>"},
      {"\n<svg/>", "line 2: the root is not <graphml>"},
      {"<graphml/>", "no <graph>"},
      {"<graphml>\n<graph>\n", "line 2: Start-end tags mismatch"},
      {"<graphml>\n</graph>", "line 2: Start-end tags mismatch"},
      {"<graphml>\n<graph edgedefault='directed'/></graphml>",
       "line 2: directed"},
      {in_graph("<node/>"), "line 2: <node> without id"},
      {in_graph("<edge source='a'/>"), "line 2: <edge> without"},
      {in_graph("<node id='a'/><edge source='a' target='z'/>"),
       "line 2: edge a - z: no such node"},
      {in_graph("<node id='a'/>\n<node id='a'/>"), "line 3: two nodes a"},
      {in_graph("<node id='a'><graph/></node>"), "more than one <graph>"},
      {"<graphml><key id='k'/>\n<key id='k'/><graph/></graphml>",
       "line 2: two keys k"},
      {in_graph("<hyperedge/>"), "<hyperedge> is not supported"},
      {in_graph("<node id='a b'/>"), "a key with a blank"},
      {in_graph("<node id=a/>"), "line 2: Error parsing element attribute"},
      {in_graph("<node id='a' id='b'/>"), "line 2: id is given twice"},
      {"<!DOCTYPE graphml><graphml/>", "document types are not read"},
      {key + "1.5</data></edge></graph></graphml>", "line 2: a bandwidth"},
      {key + "0</data></edge></graph></graphml>", "line 2: a bandwidth"},
      {"<graphml><graph/></graphml><graphml/>",
       "a second element outside the root"},
      {"hello", "text or a second element outside"},
      {std::string("<graphml><graph/></graphml>\n\0<", 30),
       "line 2: a zero byte"},
      {std::string(4000, '<'), "Could not determine tag type"},
  };
  for (const auto& [text, complaint] : cases) {
    EXPECT_THAT(Complaint(FabricFromGraphml(text)), HasSubstr(complaint))
        << text;
  }
  std::string deep;
  for (int i = 0; i < 1000000; ++i) deep += "<graphml>";
  EXPECT_THAT(Complaint(FabricFromGraphml(deep)), HasSubstr("mismatch"));
  for (int i = 0; i < 1000000; ++i) deep += "</graphml>";
  EXPECT_THAT(Complaint(FabricFromGraphml(deep)), HasSubstr("no <graph>"));
}

TEST(GraphmlTest, AFormWithOtherLinksIsRefused) {
  std::string text = FabricToGraphml(MakeTorus(2, 2, 2, 5));
  text.replace(text.find("<data key=\"b\">5"), 15, "<data key=\"b\">6");
  EXPECT_THAT(Complaint(FabricFromGraphml(text)),
              HasSubstr("are not those of torus 2 2 2 5"));
}

// Whatever is read is refused with a message, or is a fabric that reads back as
// it is written.
TEST(GraphmlTest, GarbledTextNeverDoesHarm) {
  const std::vector<Fabric> fabrics = OneOfEach();
  int read = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 10000; ++seed) {
    Dice dice(seed);
    const auto fabric =
        FabricFromGraphml(Garbled(dice, FabricToGraphml(fabrics[seed % 6])));
    if (!fabric.ok()) {
      ASSERT_FALSE(Complaint(fabric).empty()) << "seed " << seed;
      ++refused;
      continue;
    }
    ++read;
    const auto again = FabricFromGraphml(FabricToGraphml(*fabric));
    ASSERT_TRUE(again.ok()) << "seed " << seed << again.status();
    ASSERT_EQ(again->graph(), fabric->graph()) << "seed " << seed;
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace muster
