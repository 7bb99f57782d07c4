// What the wire costs: nanoseconds and bytes an event, a plan, a state. Beside
// each that reads or writes stands Protobuf with messages that are already
// there (BM_Wire_Protobuf...): the same bytes, nothing of Muster's.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>

#include "muster/wire/convert.h"
#include "muster/wire/journal.h"
#include "muster/wire/proto.h"
#include "muster/wire/snapshot.h"

namespace muster::wire {
namespace {

Gang SomeGang(int i) {
  Gang gang{.key = "namespace/train-" + std::to_string(i),
            .queue = "research",
            .priority_class = "batch",
            .submitted = i * kSecond,
            .user = "alice",
            .expected_runtime = kHour};
  Role ps{.name = "ps"};
  ps.shape.resources = {4000, int64_t{16} << 30};
  Role worker{.name = "worker", .min_tasks = 4, .desired_tasks = 8};
  worker.shape.resources = {8000, int64_t{64} << 30};
  worker.shape.devices = {.count = 2, .models = {"H100"}};
  worker.topology.required = "rack";
  gang.roles = {ps, worker};
  return gang;
}

Event Submitted() { return {.at = kHour, .what = GangSubmitted{SomeGang(7)}}; }

Event Answered() {
  TasksAnswered answered{.gang = "namespace/train-7"};
  for (uint32_t i = 0; i < 9; ++i) {
    answered.tasks.push_back(
        {.task = {.role = i > 0, .index = i}, .attempt = 1});
  }
  return {.at = kHour, .what = std::move(answered)};
}

Event Applied() { return {.at = kHour, .what = DecisionApplied{12345}}; }

PlanRecord Started() {
  PlanRecord plan{.now = kHour, .based_on = 99};
  DecisionRecord& start = plan.decisions.emplace_back();
  start.seq = 12345;
  start.gang = "namespace/train-7";
  start.reason.code = ReasonCode::kFits;
  for (uint32_t i = 0; i < 9; ++i) {
    start.tasks.push_back({.task = {.role = i > 0, .index = i},
                           .attempt = 1,
                           .node = "node-000" + std::to_string(i),
                           .devices = {0, 1}});
  }
  return plan;
}

SchedulerState SomeState(int gangs) {
  SchedulerState state;
  for (int i = 0; i < gangs; ++i) {
    GangState gang{.gang = SomeGang(i), .phase = GangPhase::kRunning};
    for (uint32_t t = 0; t < 9; ++t) {
      gang.tasks.push_back({.task = {.role = t > 0, .index = t},
                            .phase = TaskPhase::kRunning,
                            .attempt = 1,
                            .node = "node-000" + std::to_string(t),
                            .devices = {0, 1}});
    }
    state.gangs.push_back(std::move(gang));
  }
  return state;
}

void CountBytes(benchmark::State& state, uint64_t bytes) {
  state.counters["bytes"] = static_cast<double>(bytes);
  state.SetBytesProcessed(static_cast<int64_t>(bytes * state.iterations()));
}

// --- The journal: encode, frame and checksum, into memory.

template <class T>
void Journalled(benchmark::State& state, const T& value) {
  std::string bytes;
  JournalWriter writer({}, &bytes);
  const size_t start = bytes.size();
  uint64_t record = 0;
  for (auto _ : state) {
    if constexpr (std::is_same_v<T, Event>) writer.Applied(value);
    if constexpr (std::is_same_v<T, PlanRecord>) writer.Planned(value);
    record = bytes.size() - start;
    bytes.resize(start);
  }
  CountBytes(state, record);
}

void BM_Wire_JournalSubmission(benchmark::State& state) {
  Journalled(state, Submitted());
}
BENCHMARK(BM_Wire_JournalSubmission);

void BM_Wire_JournalAnswers(benchmark::State& state) {
  Journalled(state, Answered());
}
BENCHMARK(BM_Wire_JournalAnswers);

void BM_Wire_JournalDecisionApplied(benchmark::State& state) {
  Journalled(state, Applied());
}
BENCHMARK(BM_Wire_JournalDecisionApplied);

void BM_Wire_JournalPlan(benchmark::State& state) {
  Journalled(state, Started());
}
BENCHMARK(BM_Wire_JournalPlan);

// --- Reading, and the same through Protobuf's own messages.

void BM_Wire_ParseSubmission(benchmark::State& state) {
  const std::string bytes = *Serialize(Submitted());
  Event event;
  for (auto _ : state) {
    const bool ok = Parse(bytes, &event).ok();
    benchmark::DoNotOptimize(ok);
  }
  CountBytes(state, bytes.size());
}
BENCHMARK(BM_Wire_ParseSubmission);

template <class T>
void ProtobufSerialize(benchmark::State& state, const T& value) {
  const Message<T> message = *ToMessage(value);
  std::string bytes;
  for (auto _ : state) {
    message.SerializeToString(&bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  CountBytes(state, bytes.size());
}

template <class T>
void ProtobufParse(benchmark::State& state, const T& value) {
  const std::string bytes = *Serialize(value);
  for (auto _ : state) {
    Message<T> message;
    const bool ok = message.ParseFromString(bytes);
    benchmark::DoNotOptimize(ok);
  }
  CountBytes(state, bytes.size());
}

void BM_Wire_ProtobufSerializeSubmission(benchmark::State& state) {
  ProtobufSerialize(state, Submitted());
}
BENCHMARK(BM_Wire_ProtobufSerializeSubmission);

void BM_Wire_ProtobufParseSubmission(benchmark::State& state) {
  ProtobufParse(state, Submitted());
}
BENCHMARK(BM_Wire_ProtobufParseSubmission);

void BM_Wire_ProtobufSerializePlan(benchmark::State& state) {
  ProtobufSerialize(state, Started());
}
BENCHMARK(BM_Wire_ProtobufSerializePlan);

// --- Snapshots.

void BM_Wire_EncodeSnapshot(benchmark::State& state) {
  const SchedulerState value = SomeState(static_cast<int>(state.range(0)));
  size_t size = 0;
  for (auto _ : state) size = EncodeSnapshot(value)->size();
  CountBytes(state, size);
}
BENCHMARK(BM_Wire_EncodeSnapshot)->ArgName("gangs")->Arg(100)->Arg(10'000);

void BM_Wire_DecodeSnapshot(benchmark::State& state) {
  const std::string bytes =
      *EncodeSnapshot(SomeState(static_cast<int>(state.range(0))));
  for (auto _ : state) {
    const bool ok = DecodeSnapshot(bytes).ok();
    benchmark::DoNotOptimize(ok);
  }
  CountBytes(state, bytes.size());
}
BENCHMARK(BM_Wire_DecodeSnapshot)->ArgName("gangs")->Arg(100)->Arg(10'000);

void BM_Wire_ProtobufSerializeSnapshot(benchmark::State& state) {
  ProtobufSerialize(state, SomeState(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_Wire_ProtobufSerializeSnapshot)
    ->ArgName("gangs")
    ->Arg(100)
    ->Arg(10'000);

void BM_Wire_ProtobufParseSnapshot(benchmark::State& state) {
  ProtobufParse(state, SomeState(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_Wire_ProtobufParseSnapshot)
    ->ArgName("gangs")
    ->Arg(100)
    ->Arg(10'000);

}  // namespace
}  // namespace muster::wire
