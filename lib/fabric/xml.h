// Just enough XML to read GraphML: elements, attributes, text, the five named
// entities and numeric ones, comments, CDATA. No document type, no namespace.
#ifndef MUSTER_LIB_FABRIC_XML_H_
#define MUSTER_LIB_FABRIC_XML_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster {

struct XmlElement {
  std::string name{};
  std::map<std::string, std::string, std::less<>> attributes{};
  std::string text{};  // Directly in it.

  // The value, or nothing.
  std::string operator[](std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? "" : found->second;
  }
};

// Reads element after element, each when it is closed: those inside it come
// before it. The document has one root.
class XmlReader {
 public:
  static constexpr size_t kMaxDepth = 32;

  explicit XmlReader(std::string_view text) : text_(text) {}

  // The way from the root to the element that is closed next: valid until the
  // next call. Empty at the end. InvalidArgument with the line: where the text
  // stops being XML.
  absl::StatusOr<std::span<const XmlElement>> Next();
  // `message`, at the present line.
  absl::Status Bad(std::string_view message) const;

 private:
  bool Starts(std::string_view prefix) const {
    return text_.substr(at_, prefix.size()) == prefix;
  }
  // Goes on behind the prefix, if it is there.
  bool Take(std::string_view prefix) {
    const bool there = Starts(prefix);
    if (there) at_ += prefix.size();
    return there;
  }
  // Goes on behind the next `end`; `part` is what is before it.
  absl::Status Until(std::string_view end, std::string_view* part);
  absl::Status Markup();
  absl::Status Text();
  absl::Status Open();
  absl::Status Attribute(XmlElement* element);
  absl::Status Close();
  absl::Status Decode(std::string_view raw, std::string* out) const;
  std::string_view Name();
  void SkipBlanks();

  std::string_view text_;
  size_t at_ = 0;
  std::vector<XmlElement> open_{};
  bool closed_ = false;  // The last of these is.
  bool had_root_ = false;
};

}  // namespace muster

#endif  // MUSTER_LIB_FABRIC_XML_H_
