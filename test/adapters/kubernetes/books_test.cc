// Queues, budgets, nodes: what the scheduler is told of them, and when.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/budget_book.h"
#include "adapters/kubernetes/controller/node_book.h"
#include "adapters/kubernetes/controller/queue_book.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- Queues ------------------------------------------------------------------

api::Queue QueueOf(const std::string& name, const std::string& parent = "") {
  api::Queue queue;
  queue.meta.name = name;
  queue.parent = parent;
  return queue;
}

class QueueBookTest : public testing::Test {
 protected:
  QueueBookTest() : scheduler_(*Scheduler::Create({})) {}

  // What the scheduler took, by name; those that go with a "-".
  std::vector<std::string> Tell() {
    std::vector<std::string> took;
    book_.Tell(kinds_, [&](EventBody what) {
      const auto* changed = std::get_if<QueueChanged>(&what);
      const std::string name = changed != nullptr
                                   ? changed->queue.key
                                   : "-" + std::get<QueueRemoved>(what).queue;
      if (changed != nullptr) last_ = changed->queue;
      const absl::Status status = scheduler_.Apply({0, std::move(what)});
      if (status.ok()) took.push_back(name);
      return status;
    });
    EXPECT_FALSE(book_.due());
    return took;
  }
  absl::Status Submit(const std::string& queue) {
    Gang gang;
    gang.key = absl::StrCat("gang-in-", queue);
    gang.queue = queue;
    gang.roles.resize(1);
    return scheduler_.Apply({0, GangSubmitted{gang}});
  }

  ResourceKinds kinds_{"gpu"};
  QueueBook book_{"default"};
  Scheduler scheduler_;
  Queue last_;
};

TEST_F(QueueBookTest, TheDefaultQueueIsThereByItself) {
  EXPECT_TRUE(book_.due());
  EXPECT_THAT(Tell(), ElementsAre("default"));
  EXPECT_EQ(book_.WhyNot("default", "any"), "");
  EXPECT_THAT(book_.WhyNot("none", "any"), HasSubstr("'none' is not there"));
  api::Queue queue = QueueOf("default");
  queue.closed = true;
  EXPECT_TRUE(book_.Set(queue));
  EXPECT_THAT(Tell(), ElementsAre("default"));
  EXPECT_TRUE(last_.closed);
  book_.Remove("default");
  EXPECT_THAT(Tell(), ElementsAre("default"));
  EXPECT_FALSE(last_.closed);
}

TEST_F(QueueBookTest, ParentsAreToldBeforeTheirChildren) {
  book_.Set(QueueOf("a", "b"));
  book_.Set(QueueOf("b", "c"));
  book_.Set(QueueOf("c"));
  EXPECT_THAT(Tell(), testing::UnorderedElementsAre("a", "b", "c", "default"));
  // And go after them.
  book_.Remove("c");
  book_.Remove("b");
  book_.Remove("a");
  EXPECT_THAT(Tell(), ElementsAre("-a", "-b", "-c"));
}

TEST_F(QueueBookTest, AQueueWaitsForItsParent) {
  Tell();
  book_.Set(QueueOf("a", "late"));
  EXPECT_THAT(Tell(), IsEmpty());
  EXPECT_THAT(book_.WhyNot("a", "ns"), HasSubstr("late"));
  book_.Set(QueueOf("late"));
  EXPECT_THAT(Tell(), ElementsAre("late", "a"));
  EXPECT_EQ(book_.WhyNot("a", "ns"), "");
}

TEST_F(QueueBookTest, AQueueUnderOneWithGangsWaitsUntilTheyLeave) {
  book_.Set(QueueOf("p"));
  Tell();
  ASSERT_TRUE(Submit("p").ok());
  book_.Set(QueueOf("a", "p"));
  EXPECT_THAT(Tell(), IsEmpty());
  EXPECT_THAT(book_.WhyNot("a", "ns"), HasSubstr("gangs"));
  ASSERT_TRUE(scheduler_.Apply({0, GangFinished{"gang-in-p"}}).ok());
  book_.Retry();
  ASSERT_TRUE(book_.due());
  EXPECT_THAT(Tell(), ElementsAre("a"));
}

TEST_F(QueueBookTest, AQueueWithGangsGoesWhenTheyHaveLeft) {
  book_.Set(QueueOf("q"));
  Tell();
  ASSERT_TRUE(Submit("q").ok());
  book_.Remove("q");
  EXPECT_THAT(book_.WhyNot("q", "ns"), HasSubstr("is not there"));
  EXPECT_THAT(Tell(), IsEmpty());
  ASSERT_TRUE(scheduler_.Apply({0, GangFinished{"gang-in-q"}}).ok());
  book_.Retry();
  EXPECT_THAT(Tell(), ElementsAre("-q"));
  book_.Retry();
  EXPECT_FALSE(book_.due());
}

TEST_F(QueueBookTest, AQueueThatComesBackDoesNotGo) {
  book_.Set(QueueOf("q"));
  Tell();
  book_.Remove("q");
  book_.Set(QueueOf("q"));
  EXPECT_THAT(Tell(), ElementsAre("q"));
  EXPECT_TRUE(Submit("q").ok());
}

TEST_F(QueueBookTest, ACircleOfQueuesIsRefused) {
  Tell();
  book_.Set(QueueOf("a", "b"));
  book_.Set(QueueOf("b", "a"));
  EXPECT_THAT(Tell(), IsEmpty());
  EXPECT_NE(book_.WhyNot("a", "ns"), "");
  book_.Remove("a");
  book_.Remove("b");
  EXPECT_THAT(Tell(), IsEmpty());
  EXPECT_FALSE(book_.due());
}

TEST_F(QueueBookTest, AFieldThatIsNotKnownIsRefused) {
  Tell();
  api::Queue queue = QueueOf("q");
  queue.not_understood = {"spec.borrowing"};
  book_.Set(queue);
  EXPECT_THAT(Tell(), IsEmpty());
  EXPECT_THAT(book_.WhyNot("q", "ns"), HasSubstr("spec.borrowing"));
}

TEST_F(QueueBookTest, OnlyWhatChangesIsNews) {
  book_.Set(QueueOf("q"));
  Tell();
  api::Queue queue = QueueOf("q");
  queue.meta.resource_version = "2";  // Its status changed.
  EXPECT_FALSE(book_.Set(queue));
  EXPECT_FALSE(book_.due());
  queue.weight = 2;
  EXPECT_TRUE(book_.Set(queue));
  EXPECT_TRUE(book_.due());
}

TEST_F(QueueBookTest, QuotasAreInTheUnitsOfTheirKinds) {
  api::Queue queue = QueueOf("q");
  queue.weight = 7;
  queue.ordering = QueueOrdering::kStrictFifo;
  queue.held = true;
  constexpr int64_t kMuch = std::numeric_limits<int64_t>::max();
  queue.quotas = {{"cpu", 1'500, kMuch},
                  {"memory", 1'500, std::nullopt},
                  {"gpu", std::nullopt, 4'000},
                  {"pods", -3'000, 10'000}};
  book_.Set(queue);
  book_.Tell(kinds_, [&](EventBody what) {
    if (std::get<QueueChanged>(what).queue.key == "q") {
      last_ = std::get<QueueChanged>(what).queue;
    }
    return absl::OkStatus();
  });
  EXPECT_EQ(last_.weight, 7u);
  EXPECT_EQ(last_.ordering, QueueOrdering::kStrictFifo);
  EXPECT_TRUE(last_.held);
  EXPECT_THAT(
      last_.quotas,
      ElementsAre(
          Quota{.resource = "cpu", .guarantee = 1'500, .limit = kMaxQuota},
          Quota{.resource = "memory", .guarantee = 1},
          Quota{.resource = "gpu", .limit = 4'000},
          Quota{.resource = "pods", .guarantee = 0, .limit = 10}));
}

TEST_F(QueueBookTest, NamespacesByNameAndBySelector) {
  api::Queue queue = QueueOf("q");
  queue.has_namespaces = true;
  book_.Set(queue);
  EXPECT_NE(book_.WhyNot("q", "a"), "");  // Of none.
  queue.namespace_names = {"a"};
  queue.namespace_selector.emplace().match_labels = {{"team", "x"}};
  book_.Set(queue);
  Tell();
  EXPECT_EQ(book_.WhyNot("q", "a"), "");
  EXPECT_NE(book_.WhyNot("q", "b"), "");
  EXPECT_TRUE(book_.SetNamespace("b", {{"team", "x"}}));
  EXPECT_FALSE(book_.SetNamespace("b", {{"team", "x"}}));
  EXPECT_EQ(book_.WhyNot("q", "b"), "");
  EXPECT_TRUE(book_.SetNamespace("b", {{"team", "y"}}));
  EXPECT_NE(book_.WhyNot("q", "b"), "");
  book_.SetNamespace("b", {{"team", "x"}});
  book_.RemoveNamespace("b");
  EXPECT_NE(book_.WhyNot("q", "b"), "");
}

// --- Budgets -----------------------------------------------------------------

api::PodDisruptionBudget BudgetOf(const std::string& ns,
                                  const std::string& name,
                                  api::StringMap labels, int32_t allowed) {
  api::PodDisruptionBudget budget;
  budget.meta.namespace_name = ns;
  budget.meta.name = name;
  budget.selector.emplace().match_labels = std::move(labels);
  budget.disruptions_allowed = allowed;
  return budget;
}

TEST(BudgetBookTest, PodsBecomeGangs) {
  BudgetBook book;
  book.Set(BudgetOf("a", "web", {{"app", "web"}}, 5));
  EXPECT_THAT(book.TakeChanges(), IsEmpty());  // It selects nothing.
  book.SetPod("a", "1", "g1", {{"app", "web"}});
  book.SetPod("a", "2", "g1", {{"app", "web"}});
  book.SetPod("a", "3", "g2", {{"app", "web"}});
  book.SetPod("a", "4", "g3", {{"app", "db"}});
  book.SetPod("b", "5", "g4", {{"app", "web"}});
  // Two pods of g1 go at once: of five, two such gangs.
  EXPECT_THAT(book.TakeChanges(),
              ElementsAre(DisruptionBudget{"a/web", {"g1", "g2"}, 2}));
  EXPECT_THAT(book.TakeChanges(), IsEmpty());
}

TEST(BudgetBookTest, OnlyWhatChangesIsTold) {
  BudgetBook book;
  book.SetPod("a", "1", "g1", {{"app", "web"}});
  book.Set(BudgetOf("a", "web", {{"app", "web"}}, 1));
  EXPECT_THAT(book.TakeChanges(),
              ElementsAre(DisruptionBudget{"a/web", {"g1"}, 1}));
  book.Set(BudgetOf("a", "web", {{"app", "web"}}, 1));
  book.SetPod("a", "1", "g1", {{"app", "web"}});
  book.SetPod("a", "2", "g2", {{"app", "db"}});
  book.RemovePod("a", "none");
  book.Remove("a", "none");
  EXPECT_THAT(book.TakeChanges(), IsEmpty());
  book.SetPod("a", "1", "g1", {{"app", "db"}});  // Relabelled.
  EXPECT_THAT(book.TakeChanges(),
              ElementsAre(DisruptionBudget{.key = "a/web"}));
  book.Set(BudgetOf("a", "web", {{"app", "db"}}, -1));
  EXPECT_THAT(book.TakeChanges(),
              ElementsAre(DisruptionBudget{"a/web", {"g1", "g2"}, 0}));
  book.SetPod("a", "2", "g9", {{"app", "db"}});  // Of another gang.
  EXPECT_THAT(book.TakeChanges(),
              ElementsAre(DisruptionBudget{"a/web", {"g1", "g9"}, 0}));
}

TEST(BudgetBookTest, WhatIsGoneIsTaken) {
  BudgetBook book;
  book.SetPod("a", "1", "g1", {});
  book.SetPod("a", "2", "g2", {});
  book.Set(BudgetOf("a", "x", {}, 1));  // An empty selector: everything.
  book.Set(BudgetOf("a-b", "x", {}, 1));
  book.SetPod("a-b", "3", "g3", {});
  api::PodDisruptionBudget none = BudgetOf("a", "none", {}, 1);
  none.selector.reset();
  book.Set(none);
  EXPECT_THAT(book.TakeChanges(),
              ElementsAre(DisruptionBudget{"a/x", {"g1", "g2"}, 1},
                          DisruptionBudget{"a-b/x", {"g3"}, 1}));
  book.RemovePod("a", "1");
  EXPECT_THAT(book.TakeChanges(),
              ElementsAre(DisruptionBudget{"a/x", {"g2"}, 1}));
  book.Remove("a", "x");
  EXPECT_THAT(book.TakeChanges(), ElementsAre(DisruptionBudget{.key = "a/x"}));
  EXPECT_THAT(book.TakeChanges(), IsEmpty());
}

// --- Nodes -------------------------------------------------------------------

Node NodeOf(const std::string& name, int devices = 2) {
  Node node;
  node.key = name;
  node.devices.resize(static_cast<size_t>(devices));
  return node;
}

PodUsage UsageOn(const std::string& node, int64_t cpu, uint32_t devices) {
  return {node, Resources{cpu}, devices};
}

// One word for each event.
std::vector<std::string> Words(const std::vector<EventBody>& events) {
  std::vector<std::string> words;
  for (const EventBody& event : events) {
    if (const auto* e = std::get_if<NodeChanged>(&event)) {
      words.push_back("changed " + e->node.key);
    } else if (const auto* gone = std::get_if<NodeRemoved>(&event)) {
      words.push_back("gone " + gone->node);
    } else {
      const ExternalUsage& usage = std::get<ExternalUsageChanged>(event).usage;
      words.push_back(absl::StrCat("usage ", usage.node, " ", usage.amount[0],
                                   " ", usage.unnamed_devices));
    }
  }
  return words;
}

// Takes what is new; the scheduler takes all of it.
std::vector<std::string> Take(NodeBook* book) {
  const std::vector<EventBody> events = book->TakeChanges();
  for (const EventBody& event : events) {
    const auto* changed = std::get_if<NodeChanged>(&event);
    if (changed != nullptr) book->SetTold(changed->node.key);
  }
  return Words(events);
}

TEST(NodeBookTest, UsageCountsWhereAndWhileTheNodeIsThere) {
  NodeBook book;
  book.SetUsage("p", UsageOn("n", 5, 1));
  EXPECT_THAT(Take(&book), IsEmpty());
  book.Set(NodeOf("n"));
  EXPECT_THAT(Take(&book), ElementsAre("changed n", "usage n 5 1"));
  book.Set(NodeOf("n"));
  book.SetUsage("p", UsageOn("n", 5, 1));
  EXPECT_THAT(Take(&book), IsEmpty());
  book.SetUsage("q", UsageOn("n", 1, 5));  // More devices than there are.
  EXPECT_THAT(Take(&book), ElementsAre("usage n 6 2"));
  book.SetUsage("p", UsageOn("m", 5, 1));
  EXPECT_THAT(Take(&book), ElementsAre("usage n 1 2"));
  book.SetUsage("q", {});
  EXPECT_THAT(Take(&book), ElementsAre("usage n 0 0"));
}

TEST(NodeBookTest, ANodeThatGoesAndComesBackIsAnotherOne) {
  NodeBook book;
  book.Set(NodeOf("n"));
  book.SetUsage("p", UsageOn("n", 5, 1));
  Take(&book);
  book.Remove("n");
  book.Set(NodeOf("n"));
  EXPECT_THAT(Take(&book), ElementsAre("gone n", "changed n", "usage n 5 1"));
  book.Remove("n");
  EXPECT_THAT(Take(&book), ElementsAre("gone n"));
  EXPECT_FALSE(book.Has("n"));
  book.Remove("n");
  EXPECT_THAT(Take(&book), IsEmpty());
}

TEST(NodeBookTest, ANodeThatWasNeverTakenIsNotRemoved) {
  NodeBook book;
  book.Set(NodeOf("n"));
  book.TakeChanges();  // It was refused.
  book.Remove("n");
  EXPECT_THAT(Take(&book), IsEmpty());
}

TEST(NodeBookTest, UsageStaysWithinWhatTheLibraryCounts) {
  NodeBook book;
  book.Set(NodeOf("n"));
  book.SetUsage("p", UsageOn("n", Resources::kMaxQuantity, 128));
  book.SetUsage("q", UsageOn("n", Resources::kMaxQuantity, 128));
  EXPECT_THAT(
      Take(&book),
      ElementsAre("changed n",
                  absl::StrCat("usage n ", Resources::kMaxQuantity, " 2")));
}

TEST(NodeBookTest, AllOfItIsToldAtOnce) {
  NodeBook book;
  book.Set(NodeOf("a"));
  book.Set(NodeOf("b"));
  book.SetUsage("p", UsageOn("b", 5, 1));
  book.SetUsage("q", UsageOn("c", 5, 1));
  Reconciled whole;
  book.TakeAll(&whole);
  ASSERT_EQ(whole.nodes.size(), 2u);
  ASSERT_EQ(whole.external.size(), 1u);
  EXPECT_EQ(whole.external[0].node, "b");
  EXPECT_THAT(Take(&book), IsEmpty());
  book.Remove("a");
  EXPECT_THAT(Take(&book), ElementsAre("gone a"));
}

}  // namespace
}  // namespace muster::kubernetes
