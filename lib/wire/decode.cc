// Bytes -> value, by the value's fields.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "lib/wire/members.h"
#include "lib/wire/varint.h"
#include "muster/fields.h"
#include "muster/wire/convert.h"

namespace muster::wire {
namespace internal {
namespace {

// Reads all of `bytes` as one value. Any bytes are safe: nothing is read beyond
// their end, lengths are believed only as far as bytes are there, and the depth
// is that of the types. False, and a failure, for what is not wholly known.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes)
      : begin_(bytes.data()),
        at_(bytes.data()),
        end_(bytes.data() + bytes.size()) {}

  // `value` is fresh. Fields may come in any order: passes over FieldsOf take
  // those that come next until none is left; bytes in the order of FieldsOf, as
  // the encoder writes them, need one.
  template <class T>
  bool Message(T* value) {
    ClearRepeated(value);
    Next next;
    if (!ReadTag(&next)) return false;
    uint64_t seen = 0;  // Bit n: field n.
    while (next.number != 0) {
      const char* const before = at_;
      bool ok = true;
      VisitFields(*value, [&](int number, const char* name, auto& member) {
        using M = std::remove_reference_t<decltype(member)>;
        while (ok && next.number >= number &&
               next.number < number + kNumbers<M>) {
          ok = Once<M>(number, &seen) && Member(next, number, &member);
          if (!ok && !VariantMember<M>) failure_.Within(name);
          ok = ok && ReadTag(&next);
        }
      });
      if (!ok) return false;
      if (at_ == before) {
        at_ = next.start;
        return Fail("field " + std::to_string(next.number) +
                    " is not known to this version");
      }
    }
    return HasVariants(*value, seen);
  }

  const Failure& failure() const { return failure_; }
  size_t offset() const { return at_ - begin_; }

 private:
  // The field that comes next; number 0: none.
  struct Next {
    int number = 0;
    uint32_t type = 0;
    const char* start = nullptr;
  };

  bool Fail(std::string what) {
    failure_.what = std::move(what);
    return false;
  }

  bool ReadTag(Next* next) {
    *next = {.start = at_};
    if (at_ == end_) return true;
    uint64_t tag = 0;
    const char* const behind = GetVarint(at_, end_, &tag);
    if (behind == nullptr || tag >> 32 != 0 || tag >> 3 == 0) {
      return Fail("a field's tag is malformed");
    }
    at_ = behind;
    next->number = static_cast<int>(tag >> 3);
    next->type = static_cast<uint32_t>(tag & 7);
    return true;
  }

  bool ReadVarint(uint64_t* value) {
    const char* const behind = GetVarint(at_, end_, value);
    if (behind == nullptr) return Fail("a number is cut off or malformed");
    at_ = behind;
    return true;
  }

  // Reads a length and checks that so many bytes are there.
  bool ReadLength(size_t* length) {
    uint64_t n = 0;
    if (!ReadVarint(&n)) return false;
    if (n > static_cast<uint64_t>(end_ - at_)) {
      return Fail(std::to_string(n) + " bytes are announced, " +
                  std::to_string(end_ - at_) + " are there");
    }
    *length = static_cast<size_t>(n);
    return true;
  }

  bool Expect(const Next& next, WireType type) {
    if (next.type == static_cast<uint32_t>(type)) return true;
    return Fail("has wire type " + std::to_string(next.type) + " instead of " +
                std::to_string(static_cast<uint32_t>(type)));
  }

  // Runs `read` with the end of the input at the end of a length's bytes.
  template <class Read>
  bool Delimited(Read read) {
    size_t length = 0;
    if (!ReadLength(&length)) return false;
    const char* const outer = std::exchange(end_, at_ + length);
    if (!read()) return false;
    end_ = outer;
    return true;
  }

  // The last of two fields would hide the first.
  template <class M>
  bool Once(int number, uint64_t* seen) {
    if constexpr (!VectorMember<M>) {
      const uint64_t bit = uint64_t{1} << (number & 63);
      if (*seen & bit) return Fail("occurs twice");
      *seen |= bit;
    }
    return true;
  }

  template <ScalarMember M>
  bool Scalar(M* member) {
    uint64_t varint = 0;
    if (!ReadVarint(&varint)) return false;
    std::string why = FromVarint(varint, member);
    return why.empty() || Fail(std::move(why));
  }

  template <ScalarMember M>
  bool Member(const Next& next, int, M* member) {
    return Expect(next, WireType::kVarint) && Scalar(member);
  }

  bool Member(const Next& next, int, std::string* member) {
    size_t length = 0;
    if (!Expect(next, WireType::kBytes) || !ReadLength(&length)) return false;
    member->assign(at_, length);
    at_ += length;
    return true;
  }

  template <HasFields M>
  bool Member(const Next& next, int, M* member) {
    return Expect(next, WireType::kBytes) &&
           Delimited([&] { return Message(member); });
  }

  template <OptionalMember M>
  bool Member(const Next& next, int number, M* member) {
    return Member(next, number, &member->emplace());
  }

  template <VariantMember M>
  bool Member(const Next& next, int number, M* member) {
    return [&]<size_t... kIs>(std::index_sequence<kIs...>) {
      bool ok = false;
      ((next.number - number == static_cast<int>(kIs) &&
        (ok = Member(next, next.number, &member->template emplace<kIs>()))) ||
       ...);
      return ok;
    }(std::make_index_sequence<kNumbers<M>>());
  }

  template <VectorMember M>
  bool Member(const Next& next, int number, M* member) {
    if constexpr (ScalarMember<typename M::value_type>) {
      if (next.type == static_cast<uint32_t>(WireType::kBytes)) {
        return Delimited([&] {
          while (at_ != end_) {
            if (!Element(member, [&](auto* e) { return Scalar(e); })) {
              return false;
            }
          }
          return true;
        });
      }
    }
    return Element(member, [&](auto* e) { return Member(next, number, e); });
  }

  template <VectorMember M, class Read>
  bool Element(M* member, Read read) {
    if (read(&member->emplace_back())) return true;
    failure_.WithinElement(member->size() - 1);
    return false;
  }

  // A repeated field holds what is read, not what C++ puts there first.
  template <class T>
  void ClearRepeated(T* value) {
    VisitFields(*value, [](int, const char*, auto& member) {
      using M = std::remove_reference_t<decltype(member)>;
      if constexpr (VectorMember<M>) member.clear();
    });
  }

  // A variant has no default.
  template <class T>
  bool HasVariants(T& value, uint64_t seen) {
    bool ok = true;
    VisitFields(value, [&](int number, const char* name, auto& member) {
      using M = std::remove_reference_t<decltype(member)>;
      if constexpr (VariantMember<M>) {
        if (!(seen >> number & 1)) {
          ok = Fail("is missing");
          failure_.Within(name);
        }
      }
    });
    return ok;
  }

  const char* const begin_;
  const char* at_;
  const char* end_;
  Failure failure_{};
};

}  // namespace
}  // namespace internal

template <Value T>
absl::Status Parse(std::string_view bytes, T* value, uint64_t offset) {
  internal::Decoder decoder(bytes);
  T fresh{};
  if (!decoder.Message(&fresh)) {
    return absl::InvalidArgumentError(
        decoder.failure().ToString() + " (byte " +
        std::to_string(offset + decoder.offset()) + ")");
  }
  *value = std::move(fresh);
  return absl::OkStatus();
}

#define MUSTER_WIRE_PARSE(T) \
  template absl::Status Parse(std::string_view, T*, uint64_t);
MUSTER_WIRE_VALUES(MUSTER_WIRE_PARSE)

}  // namespace muster::wire
