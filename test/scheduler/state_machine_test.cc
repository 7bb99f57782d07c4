// The table state x event of docs/state-machine.md, read from there and walked
// cell by cell: each event in each phase, told once, twice, late, out of order
// and never.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

constexpr TaskId kOne{0, 0};
constexpr TaskId kTwo{0, 1};

// --- The scene: three nodes, and gang "g" with a task on each of two ---------

SchedulerConfig CanSuspend() {
  SchedulerConfig config;
  config.host.suspend = true;
  return config;
}

void Empty(Story& s) {
  for (const char* node : {"n1", "n2", "n3"}) s.HasNode(node, 2);
  s.HasQueue("q");
  s.HasQueue("other");
  s.HasClasses();
}

Gang G(uint32_t tasks = 2) { return Job("g", tasks, 2, "mid"); }

void Submitted(Story& s) { s.Submit(G()); }

// All nodes are taken by somebody.
void TakenBy(Story& s, const std::string& who, const std::string& as) {
  s.Submit(Job(who, 3, 2, as));
  s.Pass();
}

void Running(Story& s) {
  Empty(s);
  Submitted(s);
  s.Pass();
  s.AllDone();
}

using Scene = std::function<void(Story&)>;

const std::vector<std::pair<std::string, Scene>>& Scenes() {
  static const std::vector<std::pair<std::string, Scene>> scenes = {
      {"waiting",
       [](Story& s) {
         Empty(s);
         TakenBy(s, "wall", "high");
         s.AllDone();
         Submitted(s);
         s.Pass();
       }},
      {"nominated",
       [](Story& s) {
         Empty(s);
         TakenBy(s, "wall", "low");
         s.AllDone();
         Submitted(s);
         s.Pass();
       }},
      {"starting",
       [](Story& s) {
         Empty(s);
         Submitted(s);
         s.Pass();
       }},
      {"running", Running},
      {"stopping",
       [](Story& s) {
         Running(s);
         TakenBy(s, "boss", "high");
       }},
      {"suspending",
       [](Story& s) {
         Running(s);
         s.Happens(
             PriorityClassChanged{{.key = "mid",
                                   .value = 10,
                                   .on_preempted = OnPreempted::kSuspend}});
         TakenBy(s, "boss", "high");
       }},
      {"suspended",
       [](Story& s) {
         Running(s);
         s.Happens(
             PriorityClassChanged{{.key = "mid",
                                   .value = 10,
                                   .on_preempted = OnPreempted::kSuspend}});
         TakenBy(s, "boss", "high");
         s.AllDone();
         s.Pass();
         s.AllDone();
       }},
  };
  return scenes;
}

// --- The events --------------------------------------------------------------

// A message to the scheduler, made in the scene; or none.
using Message = std::optional<EventBody>;
using Sender = std::function<Message(Story&)>;

Sender Always(EventBody e) {
  return [e = std::move(e)](Story&) { return e; };
}

Sender Tasks(TaskOutcome outcome, const std::vector<TaskId>& tasks) {
  TasksAnswered answer{"g", {}};
  for (TaskId id : tasks) answer.tasks.push_back({id, 0, outcome, "", {}});
  return Always(answer);
}

// About the decision that somebody owes an answer to.
template <class Answer>
Sender About(const std::string& gang) {
  return [gang](Story& s) -> Message {
    const absl::StatusOr<GangState> state = s.scheduler().Find(gang);
    if (!state.ok() || state->pending.empty()) return std::nullopt;
    return Answer{state->pending.back().seq};
  };
}

// The others are as recorded; gang "g" is as reported.
Sender Reality(const std::vector<RealTask>& real) {
  return [real](Story& s) {
    Reconciled whole;
    const SchedulerState state = s.scheduler().State();
    for (const NodeState& n : state.nodes) whole.nodes.push_back(n.node);
    for (const GangState& g : state.gangs) {
      if (g.gang.key == "g") continue;
      for (const TaskState& t : g.tasks) {
        if (const auto task = AsReal(g, t)) whole.tasks.push_back(*task);
      }
    }
    whole.tasks.insert(whole.tasks.end(), real.begin(), real.end());
    return whole;
  };
}

RealTask Real(TaskId id, const std::string& node, bool releasing = false) {
  return {"g", id, node, {}, 0, releasing};
}

RealTask Suspended(TaskId id, const std::string& node) {
  RealTask task = Real(id, node);
  task.suspended = true;
  return task;
}

// Other times, and more kinds.
SchedulerConfig Reconfigured() {
  SchedulerConfig config = CanSuspend();
  config.resources.emplace_back("licences");
  config.replacement_timeout = 5 * kSecond;
  return config;
}

Node Tainted() {
  Node node = Machine("n1", 2);
  node.taints.push_back({"broken", "", TaintEffect::kNoExecute});
  return node;
}

const std::vector<std::pair<std::string, Sender>>& Events() {
  static const std::vector<std::pair<std::string, Sender>> events = {
      {"nothing", [](Story&) { return std::nullopt; }},
      {"one task started", Tasks(TaskOutcome::kStarted, {kOne})},
      {"all tasks started", Tasks(TaskOutcome::kStarted, {kOne, kTwo})},
      {"one task failed", Tasks(TaskOutcome::kFailed, {kOne})},
      {"all tasks failed", Tasks(TaskOutcome::kFailed, {kOne, kTwo})},
      {"one task released", Tasks(TaskOutcome::kReleased, {kOne})},
      {"all tasks released", Tasks(TaskOutcome::kReleased, {kOne, kTwo})},
      {"one task suspended", Tasks(TaskOutcome::kSuspended, {kOne})},
      {"all tasks suspended", Tasks(TaskOutcome::kSuspended, {kOne, kTwo})},
      {"one task succeeded", Tasks(TaskOutcome::kSucceeded, {kOne})},
      {"all tasks succeeded", Tasks(TaskOutcome::kSucceeded, {kOne, kTwo})},
      {"one task yielded", Tasks(TaskOutcome::kYielded, {kOne})},
      {"all tasks yielded", Tasks(TaskOutcome::kYielded, {kOne, kTwo})},
      {"one task done", Tasks(TaskOutcome::kDone, {kOne})},
      {"all tasks done", Tasks(TaskOutcome::kDone, {kOne, kTwo})},
      {"one task is leaving", Tasks(TaskOutcome::kLeaving, {kOne})},
      {"all tasks are leaving", Tasks(TaskOutcome::kLeaving, {kOne, kTwo})},
      {"DecisionApplied", About<DecisionApplied>("g")},
      {"DecisionRefused", About<DecisionRefused>("g")},
      {"DecisionApplied, of its victims", About<DecisionApplied>("wall")},
      {"DecisionRefused, of its victims", About<DecisionRefused>("wall")},
      {"GangCancelled", Always(GangCancelled{"g"})},
      {"GangFinished", Always(GangFinished{"g"})},
      {"GangYielded", Always(GangYielded{"g"})},
      {"GangChanged, to one task", Always(GangChanged{G(1)})},
      {"GangChanged, to three tasks", Always(GangChanged{G(3)})},
      {"GangMoved", Always(GangMoved{"g", "other"})},
      {"GangHeld", Always(GangHeld{"g", true})},
      {"GangReprioritized", Always(GangReprioritized{"g", "low"})},
      {"CheckpointTaken", Always(CheckpointTaken{"g", 0})},
      {"DisruptionBudgetChanged",
       Always(DisruptionBudgetChanged{{"all", {"g", "wall"}, 0}})},
      {"ConfigChanged", Always(ConfigChanged{Reconfigured()})},
      {"NodeDown", Always(NodeDown{"n1"})},
      {"NodeRemoved", Always(NodeRemoved{"n1"})},
      {"NodeDrained", Always(NodeDrained{"n1", true})},
      {"SpotNotice", Always(SpotNotice{"n1", 60 * kSecond})},
      {"NodeChanged, taint NoExecute", Always(NodeChanged{Tainted()})},
      {"Reconciled, it runs as planned",
       Reality({Real(kOne, "n1"), Real(kTwo, "n2")})},
      {"Reconciled, it runs elsewhere",
       Reality({Real(kOne, "n3"), Real(kTwo, "n2")})},
      {"Reconciled, one task runs", Reality({Real(kTwo, "n2")})},
      {"Reconciled, it is being released",
       Reality({Real(kOne, "n1", true), Real(kTwo, "n2", true)})},
      {"Reconciled, it is suspended",
       Reality({Suspended(kOne, "n1"), Suspended(kTwo, "n2")})},
      {"Reconciled, it is not there", Reality({})},
  };
  return events;
}

// --- The table in the docs ---------------------------------------------------

// By event and phase: "next" or "next, decision", as in the document.
using Table = std::map<std::pair<std::string, std::string>, std::string>;

std::string Trimmed(std::string s) {
  s.erase(0, s.find_first_not_of(" `*"));
  s.erase(s.find_last_not_of(" `*") + 1);
  return s;
}

std::vector<std::string> Columns(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream in(line);
  std::string cell;
  std::getline(in, cell, '|');  // Before the first bar.
  while (std::getline(in, cell, '|')) columns.push_back(Trimmed(cell));
  return columns;
}

// The table of the document whose first column is headed "event".
Table ReadTable() {
  Table table;
  std::ifstream in("docs/state-machine.md");
  std::string line;
  std::vector<std::string> phases;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] != '|') {
      phases.clear();
      continue;
    }
    const std::vector<std::string> columns = Columns(line);
    if (columns[0] == "event") phases = columns;
    if (phases.empty() || columns[0] == "event" || columns[0][0] == '-') {
      continue;
    }
    for (size_t i = 1; i < columns.size() && i < phases.size(); ++i) {
      table[{columns[0], phases[i]}] = columns[i];
    }
  }
  return table;
}

// What is decided about the gang in the next pass.
std::string Decided(Story& s) {
  std::string all;
  for (const std::string& line : s.Pass()) {
    std::istringstream words(line);
    std::string kind, gang;
    words >> kind >> gang;
    if (gang != "g" && gang != "g:") continue;
    all += (all.empty() ? "" : " + ") + kind;
  }
  return all;
}

// "=": the phase stays; "=, evict": it stays, and then the plan evicts.
std::string Outcome(const std::string& before, const std::string& after,
                    const std::string& decided) {
  return (before == after ? "=" : after) +
         (decided.empty() ? "" : ", " + decided);
}

TEST(StateMachine, EveryCellIsAsDocumented) {
  const Table table = ReadTable();
  std::string actual;
  size_t cells = 0;
  for (const auto& [event, sender] : Events()) {
    actual += "| " + event + " |";
    for (const auto& [phase, scene] : Scenes()) {
      SCOPED_TRACE(phase + " x " + event);
      Story s(CanSuspend());
      scene(s);
      ASSERT_EQ(s.Phase("g"), phase);
      if (const Message message = sender(s)) s.Happens(*message);
      const std::string after = s.Phase("g");
      const std::string outcome = Outcome(phase, after, Decided(s));
      actual += " " + outcome + " |";
      const auto cell = table.find({event, phase});
      ++cells;
      if (cell == table.end()) {
        ADD_FAILURE() << "not in docs/state-machine.md; it is: " << outcome;
        continue;
      }
      EXPECT_EQ(cell->second, outcome);
    }
    actual += "\n";
  }
  EXPECT_EQ(table.size(), cells)
      << "the document has cells that were not walked";
  if (HasFailure()) std::printf("The table as it is:\n%s", actual.c_str());
}

// --- Doubled, lost, late, out of order ---------------------------------------

// A state without what counts calls.
SchedulerState Essence(Story& s) {
  SchedulerState state = s.scheduler().State();
  state.version = 0;
  return state;
}

TEST(StateMachine, AMessageThatComesTwiceIsAsOne) {
  for (const auto& [phase, scene] : Scenes()) {
    for (const auto& [event, sender] : Events()) {
      SCOPED_TRACE(phase + " x " + event);
      Story once(CanSuspend()), twice(CanSuspend());
      scene(once);
      scene(twice);
      const Message message = sender(once);
      if (!message) continue;
      once.Happens(*message);
      twice.Happens(*message);
      twice.Try(*message).IgnoreError();  // Its gang may be gone by now.
      EXPECT_EQ(Essence(once), Essence(twice));
      EXPECT_EQ(once.Pass(), twice.Pass());
    }
  }
}

TEST(StateMachine, ALostAnswerIsMadeUpForByReconciling) {
  for (const char* phase : {"starting", "stopping", "suspending"}) {
    SCOPED_TRACE(phase);
    for (const auto& [name, scene] : Scenes()) {
      if (name != phase) continue;
      Story s(CanSuspend());
      scene(s);
      EXPECT_THAT(s.PassAfter(3600), ::testing::IsEmpty()) << "it waits";
      const bool runs = name == "starting";
      const char* then = runs                 ? "running"
                         : name == "stopping" ? "waiting"
                                              : "suspended";
      s.Happens(*Reality(runs ? std::vector{Real(kOne, "n1"), Real(kTwo, "n2")}
                              : std::vector<RealTask>())(s));
      EXPECT_EQ(s.Phase("g"), then);
      EXPECT_TRUE(s.Of("g").pending.empty());
    }
  }
}

// The gang was started, evicted and started again.
void StartedAgain(Story& s) {
  Running(s);
  TakenBy(s, "boss", "high");
  s.AllDone();
  s.Pass();
  s.Happens(GangFinished{"boss"});
  s.Pass();
}

TEST(StateMachine, AnAnswerAboutAnEarlierLifeChangesNothing) {
  const std::pair<const char*, Scene> lives[] = {
      {"starting", StartedAgain},
      {"running",
       [](Story& s) {
         StartedAgain(s);
         s.AllDone();
       }},
      {"stopping",
       [](Story& s) {
         StartedAgain(s);
         s.AllDone();
         s.now += 120 * kSecond;  // It was protected for so long.
         TakenBy(s, "boss again", "high");
       }},
      {"waiting",
       [](Story& s) {
         StartedAgain(s);
         s.Happens(*Tasks(TaskOutcome::kFailed, {kOne, kTwo})(s));
       }},
  };
  for (const auto& [phase, scene] : lives) {
    SCOPED_TRACE(phase);
    Story s(CanSuspend());
    scene(s);
    ASSERT_EQ(s.Phase("g"), phase);
    const SchedulerState before = Essence(s);
    for (const TaskOutcome outcome :
         {TaskOutcome::kStarted, TaskOutcome::kFailed, TaskOutcome::kReleased,
          TaskOutcome::kSucceeded, TaskOutcome::kSuspended}) {
      s.Answers("g", kOne, outcome, /*attempt=*/1);
      s.Answers("g", kTwo, outcome, /*attempt=*/1);
      EXPECT_EQ(Essence(s), before) << Name(outcome);
    }
    for (uint64_t seq = 1; seq <= 3; ++seq) {  // Start, Evict, Nominate.
      s.Happens(DecisionApplied{seq});
      s.Happens(DecisionRefused{seq});
      EXPECT_EQ(Essence(s), before) << seq;
    }
  }
}

TEST(StateMachine, AnswersAboutAGangThatIsGoneChangeNothing) {
  Story s;
  Running(s);
  const uint64_t seq = s.Seq(DecisionKind::kStart, "g");
  s.Happens(GangFinished{"g"});
  const SchedulerState before = Essence(s);
  s.Answers("g", kOne, TaskOutcome::kFailed);
  s.Happens(DecisionApplied{seq});
  s.Happens(DecisionRefused{seq});
  EXPECT_EQ(Essence(s), before);
}

// Asked to start and, before it has answered, to stop: whatever overtakes
// whatever, in the end it waits and holds nothing.
TEST(StateMachine, AnswersInAnyOrderEndInTheSameState) {
  std::vector<std::pair<TaskId, TaskOutcome>> answers = {
      {kOne, TaskOutcome::kStarted},
      {kOne, TaskOutcome::kReleased},
      {kTwo, TaskOutcome::kStarted},
      {kTwo, TaskOutcome::kReleased}};
  std::sort(answers.begin(), answers.end());
  std::optional<SchedulerState> end;
  do {
    Story s;
    Empty(s);
    Submitted(s);
    s.Pass();
    TakenBy(s, "boss", "high");
    ASSERT_EQ(s.Phase("g"), "stopping");
    for (const auto& [task, outcome] : answers) {
      s.Answers("g", task, outcome, /*attempt=*/1);
    }
    EXPECT_EQ(s.Phase("g"), "waiting");
    if (!end) end = Essence(s);
    EXPECT_EQ(Essence(s), *end);
  } while (std::next_permutation(answers.begin(), answers.end()));
}

}  // namespace
}  // namespace muster
