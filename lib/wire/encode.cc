// Value -> bytes, by the value's fields.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>

#include "lib/wire/members.h"
#include "lib/wire/varint.h"
#include "muster/enum_names.h"
#include "muster/fields.h"
#include "muster/wire/convert.h"

namespace muster::wire {
namespace internal {
namespace {

// Appends to *out. False, and a failure, for a value that cannot be written.
class Encoder {
 public:
  explicit Encoder(std::string* out) : out_(out) {}

  template <class T>
  bool Message(const T& value) {
    bool ok = true;
    VisitFields(value, [&](int number, const char* name, const auto& member) {
      if (ok && !Field(number, member)) {
        ok = false;
        using M = std::remove_cvref_t<decltype(member)>;
        if constexpr (!VariantMember<M>) failure_.Within(name);
      }
    });
    return ok;
  }

  const Failure& failure() const { return failure_; }

 private:
  template <ScalarMember M>
  bool Field(int number, const M& member) {
    Put(Tag(number, WireType::kVarint), ToVarint(member));
    return Check(member);
  }

  bool Field(int number, const std::string& member) {
    Put(Tag(number, WireType::kBytes), member.size());
    out_->append(member);
    return true;
  }

  template <OptionalMember M>
  bool Field(int number, const M& member) {
    return !member.has_value() || Field(number, *member);
  }

  template <VariantMember M>
  bool Field(int number, const M& member) {
    return std::visit(
        [&](const auto& alternative) {
          return Field(number + static_cast<int>(member.index()), alternative);
        },
        member);
  }

  template <VectorMember M>
  bool Field(int number, const M& member) {
    if constexpr (ScalarMember<typename M::value_type>) {
      if (member.empty()) return true;
      const size_t body = Open(number);
      if (!Elements(member, [&](auto e) { return Packed(e); })) return false;
      Close(body);
      return true;
    } else {
      return Elements(member, [&](const auto& e) { return Field(number, e); });
    }
  }

  template <HasFields M>
  bool Field(int number, const M& member) {
    const size_t body = Open(number);
    if (!Message(member)) return false;
    Close(body);
    return true;
  }

  template <VectorMember M, class Write>
  bool Elements(const M& member, Write write) {
    for (size_t i = 0; i < member.size(); ++i) {
      if (write(member[i])) continue;
      failure_.WithinElement(i);
      return false;
    }
    return true;
  }

  template <ScalarMember M>
  bool Packed(M element) {
    char buffer[kMaxVarint];
    out_->append(buffer, PutVarint(ToVarint(element), buffer) - buffer);
    return Check(element);
  }

  void Put(uint64_t tag, uint64_t varint) {
    char buffer[2 * kMaxVarint];
    char* const end = PutVarint(varint, PutVarint(tag, buffer));
    out_->append(buffer, end - buffer);
  }

  // Writes the tag and leaves one byte for the length of what is to follow.
  size_t Open(int number) {
    Put(Tag(number, WireType::kBytes), 0);
    return out_->size();
  }

  // Fills the length in; the body moves where it needs more than the one byte.
  void Close(size_t body) {
    char buffer[kMaxVarint];
    const char* end = PutVarint(out_->size() - body, buffer);
    (*out_)[body - 1] = buffer[0];
    if (end - buffer > 1) out_->insert(body, buffer + 1, end - buffer - 1);
  }

  template <ScalarMember M>
  bool Check(const M& member) {
    if constexpr (std::is_enum_v<M>) {
      const int64_t v = static_cast<int64_t>(member);
      if (!IsValue<M>(v)) {
        failure_.what = std::to_string(v) + " is not a value of the enum";
        return false;
      }
    }
    return true;
  }

  std::string* out_;
  Failure failure_{};
};

}  // namespace
}  // namespace internal

template <Value T>
absl::Status Serialize(const T& value, std::string* out) {
  const size_t before = out->size();
  internal::Encoder encoder(out);
  if (!encoder.Message(value)) {
    out->resize(before);
    return absl::InvalidArgumentError(encoder.failure().ToString());
  }
  if (out->size() - before > std::numeric_limits<int>::max()) {
    out->resize(before);
    return absl::ResourceExhaustedError("the value takes 2 GiB or more");
  }
  return absl::OkStatus();
}

#define MUSTER_WIRE_SERIALIZE(T) \
  template absl::Status Serialize(const T&, std::string*);
MUSTER_WIRE_VALUES(MUSTER_WIRE_SERIALIZE)

}  // namespace muster::wire
