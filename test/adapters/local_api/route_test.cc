#include "adapters/local/api/route.h"

#include "gtest/gtest.h"

namespace muster::local {
namespace {

serve::HttpRequest Request(const std::string& method, const std::string& path,
                           const std::string& query = "") {
  return {.method = method,
          .path = path,
          .query = query,
          .peer = serve::Credentials{.uid = 7, .gid = 8}};
}

TEST(RouteTest, EachRowIsFoundByItsMethodAndPath) {
  for (const RouteRow& row : Routes()) {
    std::string path(row.path);
    const size_t id = path.find("{id}");
    if (id != std::string::npos) path.replace(id, 4, "42");
    const auto asked = ParseRequest(Request(std::string(row.method), path), 1);
    ASSERT_TRUE(asked.ok()) << path << asked.status();
    EXPECT_EQ(asked->route, row.route) << path;
    EXPECT_EQ(asked->job, id == std::string::npos ? 0u : 42u);
    EXPECT_EQ(asked->viewer.uid, 7u);
    EXPECT_EQ(asked->viewer.gid, 8u);
    EXPECT_FALSE(asked->viewer.privileged);
  }
}

TEST(RouteTest, RootAndTheOwnerArePrivileged) {
  auto request = Request("GET", "/v1/jobs");
  EXPECT_TRUE(ParseRequest(request, 7)->viewer.privileged);
  request.peer->uid = 0;
  EXPECT_TRUE(ParseRequest(request, 7)->viewer.privileged);
}

TEST(RouteTest, NumbersHaveTheirRange) {
  const auto asked =
      ParseRequest(Request("GET", "/v1/history", "limit=5&before=x"), 1);
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(*asked->Number("limit", 1, 5), 5u);
  EXPECT_FALSE(asked->Number("limit", 1, 4).ok());
  EXPECT_FALSE(asked->Number("before", 1, 4).ok());
  EXPECT_EQ(*asked->Number("since", 9, 4), 9u);
}

}  // namespace
}  // namespace muster::local
