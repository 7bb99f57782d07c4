#include "muster/wire/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "muster/wire/proto.h"
#include "test/wire/filler.h"

namespace muster::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t kSeeds = 40;

template <class T>
std::string Bytes(const T& value) {
  absl::StatusOr<std::string> bytes = Serialize(value);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

std::string_view Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// What Parse says to these bytes.
template <class T>
std::string Refusal(std::string_view bytes) {
  T value{};
  const absl::Status status = Parse(bytes, &value);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(Text(status));
}

template <class T>
std::string RefusalOf(const Message<T>& message) {
  return Refusal<T>(message.SerializeAsString());
}

Gang TwoRoles() {
  Gang gang{.key = "train", .queue = "research"};
  gang.roles = {{.name = "ps"}, {.name = "worker", .min_tasks = 4}};
  return gang;
}

// --- Round trips ------------------------------------------------------------

template <class T>
void ExpectRoundTrip(const char* name) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
    const T value = Filler(seed).Make<T>();
    const std::string bytes = Bytes(value);
    T read{};
    const absl::Status status = Parse(bytes, &read);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(Difference(value, read), "");
    ASSERT_EQ(Bytes(read), bytes);
  }
}

TEST(WireConvertTest, AnyValueComesBackAsItWas) {
#define EXPECT_ROUND_TRIP(T) ExpectRoundTrip<T>(#T);
  MUSTER_WIRE_VALUES(EXPECT_ROUND_TRIP)
}

template <class T>
void ExpectDefaultRoundTrip(const char* name) {
  T read = Filler(1).Make<T>();
  ASSERT_TRUE(Parse(Bytes(T{}), &read).ok()) << name;
  ASSERT_EQ(Difference(T{}, read), "") << name;
}

TEST(WireConvertTest, NothingOfTheOldValueIsLeft) {
#define EXPECT_DEFAULT_ROUND_TRIP(T) ExpectDefaultRoundTrip<T>(#T);
  MUSTER_WIRE_VALUES(EXPECT_DEFAULT_ROUND_TRIP)
}

template <class T>
void ExpectSameAsProtoc(const char* name) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
    const T value = Filler(seed).Make<T>();
    const absl::StatusOr<Message<T>> message = ToMessage(value);
    ASSERT_TRUE(message.ok()) << message.status();
    ASSERT_EQ(message->SerializeAsString(), Bytes(value));
    T read{};
    const absl::Status status = FromMessage(*message, &read);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(Difference(value, read), "");
  }
}

TEST(WireConvertTest, ProtocsCodeReadsAndWritesTheSameBytes){
#define EXPECT_SAME_AS_PROTOC(T) ExpectSameAsProtoc<T>(#T);
    MUSTER_WIRE_VALUES(EXPECT_SAME_AS_PROTOC)}

TEST(WireConvertTest, SerializeAppends) {
  std::string bytes = "before";
  ASSERT_TRUE(Serialize(TaskId{.role = 1, .index = 2}, &bytes).ok());
  EXPECT_EQ(bytes, "before" + Bytes(TaskId{.role = 1, .index = 2}));
}

// --- Presence ---------------------------------------------------------------

TEST(WireConvertTest, AnAbsentFieldHasItsDefaultAndZeroIsZero) {
  v1::DeviceRequest absent;
  DeviceRequest request{};
  ASSERT_TRUE(FromMessage(absent, &request).ok());
  EXPECT_EQ(request.milli, kWholeDevice);

  v1::DeviceRequest zero;
  zero.set_milli(0);
  ASSERT_TRUE(FromMessage(zero, &request).ok());
  EXPECT_EQ(request.milli, 0);

  v1::Gang plain;
  Gang gang{};
  ASSERT_TRUE(FromMessage(plain, &gang).ok());
  EXPECT_EQ(gang, Gang{});
}

TEST(WireConvertTest, AnAbsentListIsEmptyAndAnAbsentMessageItsDefault) {
  SchedulerConfig config{};
  ASSERT_FALSE(config.resources.empty());
  ASSERT_TRUE(FromMessage(v1::SchedulerConfig(), &config).ok());
  EXPECT_TRUE(config.resources.empty());

  SchedulerState state{};
  ASSERT_TRUE(FromMessage(v1::SchedulerState(), &state).ok());
  EXPECT_EQ(state.config, SchedulerConfig{});
}

// What was written before there were more than 64 devices is read, and what has
// no more is written as it was then.
TEST(WireConvertTest, DevicesFrom64OnAreAFieldOfTheirOwn) {
  TaskState task{.node = "n", .devices = DeviceSet::FirstOf(64)};
  v1::TaskState message = *ToMessage(task);
  EXPECT_EQ(message.devices(), ~uint64_t{0});
  EXPECT_FALSE(message.has_devices_from_64());
  TaskState read{};
  ASSERT_TRUE(FromMessage(message, &read).ok());
  EXPECT_EQ(read.devices, task.devices);

  task.devices.Insert(65);
  EXPECT_EQ(Difference(task, read), "deleted: devices_from_64: 2");
  EXPECT_EQ(Difference(read, task), "added: devices_from_64: 2");
  message = *ToMessage(task);
  EXPECT_EQ(message.devices_from_64(), 2u);
  ASSERT_TRUE(FromMessage(message, &read).ok());
  EXPECT_EQ(read.devices, task.devices);
  message.set_devices_from_64(0);
  ASSERT_TRUE(FromMessage(message, &read).ok());
  EXPECT_EQ(read.devices, DeviceSet::FirstOf(64));
}

TEST(WireConvertTest, AnUnsetLimitIsNotALimitOfZero) {
  const Quota quota{.resource = "gpu", .limit = 0};
  Quota read{};
  ASSERT_TRUE(Parse(Bytes(quota), &read).ok());
  EXPECT_EQ(read.limit, 0);
  EXPECT_FALSE(read.guarantee.has_value());
}

TEST(WireConvertTest, FieldsMayComeInAnyOrderAndListsUnpacked) {
  const std::string index_first = {0x10, 7, 0x08, 3};
  TaskId task{};
  ASSERT_TRUE(Parse(index_first, &task).ok());
  EXPECT_EQ(task, (TaskId{.role = 3, .index = 7}));

  const std::string unpacked = {0x08, 2, 0x0a, 2, 4, 6, 0x08, 8};
  Resources amount;
  ASSERT_TRUE(Parse(unpacked, &amount).ok());
  EXPECT_EQ(amount, (Resources{1, 2, 3, 4}));
}

TEST(WireConvertTest, KeysNeedNotBeText) {
  const Gang gang{.key = std::string("\0\xff\n", 3)};
  Gang read{};
  ASSERT_TRUE(Parse(Bytes(gang), &read).ok());
  EXPECT_EQ(read.key, gang.key);
}

// --- Refusals ---------------------------------------------------------------

TEST(WireConvertTest, AnUnknownFieldIsRefusedAtAnyDepth) {
  v1::Event event = *ToMessage(Event{.what = GangSubmitted{TwoRoles()}});
  v1::Role* role =
      event.mutable_gang_submitted()->mutable_gang()->mutable_roles(1);
  google::protobuf::UnknownFieldSet* unknown =
      role->mutable_shape()->GetReflection()->MutableUnknownFields(
          role->mutable_shape());
  unknown->AddVarint(14, 1);
  EXPECT_THAT(
      RefusalOf<Event>(event),
      HasSubstr("gang.roles[1].shape: field 14 is not known to this version"));

  EXPECT_THAT(Refusal<TaskId>("\x98\x06\x01"),
              HasSubstr("field 99 is not known to this version (byte 0)"));
}

TEST(WireConvertTest, AnUnknownKindOfEventIsRefused) {
  v1::Event event;
  event.set_at(1);
  event.GetReflection()->MutableUnknownFields(&event)->AddLengthDelimited(
      2 + internal::kAlternatives<EventBody>, "");
  EXPECT_THAT(RefusalOf<Event>(event), HasSubstr("is not known"));
}

TEST(WireConvertTest, AnEventMustSayWhatHappened) {
  EXPECT_THAT(RefusalOf<Event>(v1::Event()), HasSubstr("what: is missing"));
}

TEST(WireConvertTest, AnUnknownEnumValueIsRefused) {
  v1::Queue queue;
  queue.set_ordering(static_cast<v1::QueueOrdering>(2));
  EXPECT_THAT(RefusalOf<Queue>(queue),
              HasSubstr("ordering: 2 is not a value this version knows"));
  queue.set_ordering(static_cast<v1::QueueOrdering>(-1));
  EXPECT_THAT(RefusalOf<Queue>(queue), HasSubstr("ordering: -1 is not"));

  v1::Toleration toleration;
  toleration.add_effects(v1::TAINT_EFFECT_NO_EXECUTE);
  toleration.add_effects(static_cast<v1::TaintEffect>(77));
  EXPECT_THAT(RefusalOf<Toleration>(toleration),
              HasSubstr("effects[1]: 77 is not a value this version knows"));
}

TEST(WireConvertTest, ANumberOutsideItsTypeIsRefused) {
  v1::Event event = *ToMessage(Event{.what = GangSubmitted{TwoRoles()}});
  v1::DeviceRequest* devices = event.mutable_gang_submitted()
                                   ->mutable_gang()
                                   ->mutable_roles(1)
                                   ->mutable_shape()
                                   ->mutable_devices();
  devices->clear_milli();
  devices->GetReflection()->MutableUnknownFields(devices)->AddVarint(
      2, 2 * uint64_t{5'000'000'000});
  EXPECT_THAT(
      RefusalOf<Event>(event),
      HasSubstr(
          "gang.roles[1].shape.devices.milli: 5000000000 is out of range"));

  EXPECT_THAT(Refusal<TaskId>("\x08\x80\x80\x80\x80\x10"),
              HasSubstr("role: 4294967296 is out of range"));
  EXPECT_THAT(Refusal<HostCapabilities>("\x08\x02"),
              HasSubstr("suspend: 2 is out of range"));
}

TEST(WireConvertTest, AFieldThatOccursTwiceIsRefused) {
  EXPECT_THAT(Refusal<TaskId>("\x08\x01\x08\x02"),
              HasSubstr("role: occurs twice"));
  const std::string up = Bytes(Event{.what = NodeUp{"n"}});
  const std::string down = Bytes(Event{.what = NodeDown{"n"}});
  EXPECT_THAT(Refusal<Event>(up + down.substr(2)), HasSubstr("occurs twice"));
}

TEST(WireConvertTest, AFieldOfAnotherWireTypeIsRefused) {
  EXPECT_THAT(Refusal<TaskId>("\x0a\x01\x01"),
              HasSubstr("role: has wire type 2 instead of 0"));
  EXPECT_THAT(Refusal<Label>("\x08\x01"),
              HasSubstr("key: has wire type 0 instead of 2"));
}

TEST(WireConvertTest, ALengthBeyondTheEndIsRefused) {
  EXPECT_THAT(Refusal<Label>("\x0a\x05ox"),
              HasSubstr("key: 5 bytes are announced, 2 are there"));
  EXPECT_THAT(Refusal<Label>("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
              HasSubstr("bytes are announced"));
}

TEST(WireConvertTest, AnInnerLengthDoesNotReachIntoTheOuterBytes) {
  const std::string reaches = {0x12, 3, 0x0a, 5, 'a', 0x18, 1, 0x18, 1};
  EXPECT_THAT(Refusal<Preference>(reaches), HasSubstr("term"));
}

TEST(WireConvertTest, ARefusedParseLeavesTheValueAlone) {
  Gang gang = TwoRoles();
  EXPECT_FALSE(Parse("\x98\x06\x01", &gang).ok());
  EXPECT_EQ(gang, TwoRoles());
}

TEST(WireConvertTest, AValueOutsideItsEnumIsNotWritten) {
  Toleration toleration;
  toleration.effects = {TaintEffect::kNoExecute, static_cast<TaintEffect>(9)};
  std::string bytes = "before";
  const absl::Status status = Serialize(toleration, &bytes);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Text(status), "effects[1]: 9 is not a value of the enum");
  EXPECT_EQ(bytes, "before");
}

// --- Any bytes --------------------------------------------------------------

TEST(WireConvertTest, WhatIsCutOffIsRefusedOrReadAsFarAsItGoes) {
  const std::string bytes = Bytes(Filler(7).Make<GangState>());
  for (size_t n = 0; n < bytes.size(); ++n) {
    GangState read{};
    if (!Parse(bytes.substr(0, n), &read).ok()) continue;
    // Cut between two fields: the rest is absent.
    EXPECT_EQ(Bytes(read).substr(0, n), bytes.substr(0, n));
  }
}

// Whatever the bytes are, reading them ends in a refusal, or in a value that
// is written and read again.
void ExpectSafe(std::string_view bytes) {
  JournalRecord record{};
  if (!Parse(bytes, &record).ok()) return;
  JournalRecord again{};
  ASSERT_TRUE(Parse(Bytes(record), &again).ok());
  ASSERT_EQ(Difference(record, again), "");
}

TEST(WireConvertTest, AnyBytesAreSafeToRead) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Filler filler(seed);
    std::string bytes = Bytes(filler.Make<JournalRecord>());
    for (int change = 0; change < 30; ++change) {
      std::string changed = bytes;
      for (uint64_t n = filler.Below(4); n > 0; --n) {
        const size_t at = filler.Below(changed.size());
        changed[at] = static_cast<char>(filler.Below(256));
      }
      if (filler.Below(3) == 0) changed.erase(filler.Below(changed.size()), 1);
      ExpectSafe(changed);
    }
  }
}

// --- Differences ------------------------------------------------------------

TEST(WireConvertTest, ADifferenceIsNamedByItsPath) {
  PlanRecord plan{.now = 5};
  plan.decisions.resize(2);
  plan.decisions[1].tasks = {{.node = "n1"}};
  PlanRecord other = plan;
  EXPECT_EQ(Difference(plan, other), "");
  other.decisions[1].tasks[0].node = "n2";
  EXPECT_EQ(Difference(plan, other),
            "modified: decisions[1].tasks[0].node: \"n1\" -> \"n2\"");
  other = plan;
  other.decisions[0].kind = DecisionKind::kEvict;
  EXPECT_EQ(Difference(plan, other),
            "modified: decisions[0].kind: DECISION_KIND_START -> "
            "DECISION_KIND_EVICT");
  other = plan;
  other.decisions.pop_back();
  EXPECT_THAT(Difference(plan, other), StartsWith("deleted: decisions[1]: {"));
  EXPECT_EQ(Difference(Event{.what = NodeUp{}}, Event{.what = NodeDown{}}),
            "added: node_down: { node: \"\" }");
}

}  // namespace
}  // namespace muster::wire
