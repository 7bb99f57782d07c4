// Objects by lists and watches: each is told while it is there, and its end.
#include "adapters/kubernetes/host/object_sink.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

using client::EventType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ObjectSinkTest : public testing::Test {
 protected:
  static std::string Pod(const std::string& name, const std::string& uid) {
    return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":")" +
           uid + R"("}})";
  }
  static std::string BadPod(const std::string& name, const std::string& uid) {
    return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":")" +
           uid + R"("},"spec":"none"})";
  }
  void List(const std::vector<std::string>& pods) {
    sink_.OnListBegin();
    Page(pods);
    sink_.OnListEnd();
  }
  void Page(const std::vector<std::string>& pods) {
    std::string items;
    for (const std::string& pod : pods) {
      absl::StrAppend(&items, items.empty() ? "" : ",", pod);
    }
    EXPECT_TRUE(
        sink_
            .OnListPage(R"({"metadata":{"resourceVersion":"1"},"items":[)" +
                        items + "]}")
            .ok());
  }
  absl::Status Event(EventType type, const std::string& pod) {
    return sink_.OnEvent(type, pod);
  }
  std::vector<std::string> Told() { return std::exchange(told_, {}); }

  std::vector<std::string> told_;
  ObjectSink<api::Pod> sink_{
      {.is =
           [this](const api::Pod& pod) {
             told_.push_back(pod.meta.name + "=" + pod.meta.uid);
           },
       .gone =
           [this](const ObjectName& name) {
             told_.push_back("-" + name.name + "=" + name.uid);
           },
       .bad =
           [this](const api::BadObject& bad) {
             told_.push_back("bad " + bad.name);
           }}};
};

TEST_F(ObjectSinkTest, AListAndItsEvents) {
  List({Pod("a", "1"), Pod("b", "2")});
  EXPECT_THAT(Told(), ElementsAre("a=1", "b=2"));
  EXPECT_TRUE(Event(EventType::kAdded, Pod("c", "3")).ok());
  EXPECT_TRUE(Event(EventType::kModified, Pod("a", "1")).ok());
  EXPECT_TRUE(Event(EventType::kDeleted, Pod("b", "2")).ok());
  EXPECT_THAT(Told(), ElementsAre("c=3", "a=1", "-b=2"));
}

TEST_F(ObjectSinkTest, AListThatLacksAnObjectTellsItsEnd) {
  List({Pod("a", "1"), Pod("b", "2"), Pod("c", "3")});
  Told();
  List({Pod("b", "2")});
  EXPECT_THAT(Told(), ElementsAre("b=2", "-a=1", "-c=3"));
  List({});
  EXPECT_THAT(Told(), ElementsAre("-b=2"));
}

TEST_F(ObjectSinkTest, PagesOfAListThatWasNotCompleteAreVoid) {
  List({Pod("a", "1"), Pod("b", "2")});
  Told();
  sink_.OnListBegin();
  Page({Pod("a", "1")});
  sink_.OnListBegin();
  Page({Pod("b", "2")});
  sink_.OnListEnd();
  EXPECT_THAT(Told(), ElementsAre("a=1", "b=2", "-a=1"));
}

TEST_F(ObjectSinkTest, AnotherObjectOfTheSameNameEndsTheFormerOne) {
  List({Pod("a", "1")});
  Told();
  EXPECT_TRUE(Event(EventType::kAdded, Pod("a", "2")).ok());
  EXPECT_THAT(Told(), ElementsAre("-a=1", "a=2"));
  List({Pod("a", "3")});
  EXPECT_THAT(Told(), ElementsAre("-a=2", "a=3"));
  EXPECT_TRUE(Event(EventType::kDeleted, Pod("a", "2")).ok());  // Late.
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_TRUE(Event(EventType::kDeleted, Pod("a", "3")).ok());
  EXPECT_THAT(Told(), ElementsAre("-a=3"));
  EXPECT_TRUE(Event(EventType::kDeleted, Pod("a", "3")).ok());
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(ObjectSinkTest, ABadObjectIsToldAndKeepsWhatWasKnown) {
  List({Pod("a", "1"), BadPod("b", "2")});
  EXPECT_THAT(Told(), ElementsAre("a=1", "bad b"));
  EXPECT_TRUE(Event(EventType::kModified, BadPod("a", "1")).ok());
  List({BadPod("a", "1")});
  EXPECT_THAT(Told(), ElementsAre("bad a", "bad a"));
  List({});
  EXPECT_THAT(Told(), ElementsAre("-a=1"));
}

TEST_F(ObjectSinkTest, ABadObjectEndsLikeAnyOther) {
  List({Pod("a", "1"), Pod("b", "2"), Pod("c", "3")});
  Told();
  EXPECT_TRUE(Event(EventType::kDeleted, BadPod("a", "1")).ok());
  EXPECT_THAT(Told(), ElementsAre("-a=1"));
  EXPECT_TRUE(Event(EventType::kAdded, BadPod("b", "9")).ok());
  EXPECT_THAT(Told(), ElementsAre("-b=2", "bad b"));
  List({BadPod("c", "9")});
  EXPECT_THAT(Told(), ElementsAre("-c=3", "bad c"));
}

// Nobody can say whose end it was: a list does.
TEST_F(ObjectSinkTest, AnEndThatCannotBeReadIsListed) {
  List({Pod("a", "1")});
  EXPECT_FALSE(Event(EventType::kDeleted, R"({"metadata":"none"})").ok());
  EXPECT_TRUE(Event(EventType::kModified, R"({"metadata":"none"})").ok());
}

}  // namespace
}  // namespace muster::kubernetes
