// The messages of package muster.v1 are the values' fields, one for one.

#include <cxxabi.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <variant>

#include "lib/wire/members.h"
#include "muster/enum_names.h"
#include "muster/fields.h"
#include "muster/wire/proto.h"

namespace muster::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

// "Gang" of muster::Gang.
template <class T>
std::string TypeName() {
  char* name = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr);
  std::string_view qualified = name;
  std::string simple(qualified.substr(qualified.rfind(':') + 1));
  std::free(name);
  return simple;
}

// Lower case, letters and digits only: what "best-effort-fifo" and
// QUEUE_ORDERING_BEST_EFFORT_FIFO have in common.
std::string Letters(std::string_view name) {
  std::string letters;
  for (const unsigned char c : name) {
    if (std::isalnum(c)) letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

template <class E>
void ExpectEnum(const EnumDescriptor* proto) {
  EXPECT_EQ(proto->name(), TypeName<E>());
  const auto names = EnumNames(E{});
  ASSERT_EQ(static_cast<size_t>(proto->value_count()), names.size())
      << proto->name();
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(proto->value(i)->number(), static_cast<int>(i));
    EXPECT_EQ(Letters(proto->value(i)->name()),
              Letters(TypeName<E>()) + Letters(names[i]));
  }
}

// The type of one element, presence aside.
template <class M>
void ExpectType(const FieldDescriptor* field) {
  SCOPED_TRACE(field->full_name());
  if constexpr (std::is_enum_v<M>) {
    ASSERT_EQ(field->type(), FieldDescriptor::TYPE_ENUM);
    ExpectEnum<M>(field->enum_type());
  } else if constexpr (internal::StringMember<M>) {
    EXPECT_EQ(field->type(), FieldDescriptor::TYPE_BYTES);
  } else if constexpr (std::is_same_v<M, bool>) {
    EXPECT_EQ(field->type(), FieldDescriptor::TYPE_BOOL);
  } else if constexpr (std::is_same_v<M, int32_t>) {
    EXPECT_EQ(field->type(), FieldDescriptor::TYPE_SINT32);
  } else if constexpr (std::is_same_v<M, int64_t>) {
    EXPECT_EQ(field->type(), FieldDescriptor::TYPE_SINT64);
  } else if constexpr (std::is_same_v<M, uint32_t>) {
    EXPECT_EQ(field->type(), FieldDescriptor::TYPE_UINT32);
  } else if constexpr (std::is_same_v<M, uint64_t>) {
    EXPECT_EQ(field->type(), FieldDescriptor::TYPE_UINT64);
  } else {
    static_assert(Value<M>, "not in MUSTER_WIRE_VALUES");
    ASSERT_EQ(field->type(), FieldDescriptor::TYPE_MESSAGE);
    EXPECT_EQ(field->message_type(), Message<M>::descriptor());
  }
}

// Returns how many fields of the message the member takes.
template <class M>
int ExpectMember(const Descriptor* message, int number, const char* name) {
  if constexpr (internal::VariantMember<M>) {
    [&]<size_t... kIs>(std::index_sequence<kIs...>) {
      (ExpectMember<std::variant_alternative_t<kIs, M>>(
           message, number + static_cast<int>(kIs), nullptr),
       ...);
    }(std::make_index_sequence<internal::kAlternatives<M>>());
    EXPECT_EQ(message->real_oneof_decl_count(), 1);
    EXPECT_EQ(message->oneof_decl(0)->name(), name);
    EXPECT_EQ(message->oneof_decl(0)->field_count(),
              internal::kAlternatives<M>);
    return internal::kAlternatives<M>;
  } else {
    const FieldDescriptor* field = message->FindFieldByNumber(number);
    if (field == nullptr) {
      ADD_FAILURE() << message->name() << " lacks field " << number;
      return 0;
    }
    EXPECT_EQ(field->name(), name == nullptr ? field->name() : name);
    EXPECT_EQ(field->is_repeated(), internal::VectorMember<M>);
    EXPECT_TRUE(field->is_repeated() || field->has_presence())
        << field->full_name() << " must be optional";
    if constexpr (internal::VectorMember<M> || internal::OptionalMember<M>) {
      ExpectType<typename M::value_type>(field);
    } else {
      ExpectType<M>(field);
    }
    return 1;
  }
}

template <class T>
void ExpectMessage(const char* name) {
  const Descriptor* message = Message<T>::descriptor();
  EXPECT_EQ(message->full_name(), std::string("muster.v1.") + name);
  T value{};
  int fields = 0;
  int last = 0;
  VisitFields(value, [&](int number, const char* member_name, auto& member) {
    using M = std::remove_reference_t<decltype(member)>;
    EXPECT_GT(number, last) << name << " is written in the order of FieldsOf";
    EXPECT_LT(number, 64) << name << ": the decoder counts up to there";
    last = number;
    fields += ExpectMember<M>(message, number, member_name);
  });
  EXPECT_EQ(message->field_count(), fields)
      << name << " has fields that its value lacks";
}

TEST(WireSchemaTest, EachValueHasItsMessageFieldByField) {
#define EXPECT_MESSAGE(T) ExpectMessage<T>(#T);
  MUSTER_WIRE_VALUES(EXPECT_MESSAGE)
}

void AddMessages(const FileDescriptor* file, std::set<std::string>* names) {
  for (int i = 0; i < file->message_type_count(); ++i) {
    names->insert(file->message_type(i)->name());
  }
  for (int i = 0; i < file->dependency_count(); ++i) {
    AddMessages(file->dependency(i), names);
  }
}

TEST(WireSchemaTest, EachMessageHasItsValue) {
  std::set<std::string> messages;
  AddMessages(v1::JournalRecord::descriptor()->file(), &messages);
#define EXPECT_KNOWN(T) EXPECT_EQ(messages.erase(#T), 1) << #T;
  MUSTER_WIRE_VALUES(EXPECT_KNOWN)
  EXPECT_TRUE(messages.empty()) << *messages.begin();
}

}  // namespace
}  // namespace muster::wire
