// Fabrics from values, text and labels.
#include "gmock/gmock.h"
#include "test/fabric/fabrics.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(FabricReadTest, WhatIsWrittenReadsBackEqual) {
  for (const Fabric& fabric : OneOfEach()) {
    const auto text = Fabric::FromText(fabric.ToText());
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(text->description(), fabric.description());
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

// Whatever is read is refused with a message, or is a fabric that writes what
// it reads back as.
TEST(FabricReadTest, GarbledTextNeverDoesHarm) {
  const std::vector<Fabric> fabrics = OneOfEach();
  int read = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 10000; ++seed) {
    Dice dice(seed);
    const auto fabric =
        Fabric::FromText(Garbled(dice, fabrics[seed % 6].ToText()));
    if (!fabric.ok()) {
      ASSERT_FALSE(Complaint(fabric).empty()) << "seed " << seed;
      ++refused;
      continue;
    }
    ++read;
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
