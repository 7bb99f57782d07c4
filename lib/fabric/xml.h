// Just enough XML to read GraphML: elements, attributes, text, the five named
// entities and numeric ones, comments, CDATA. No document type, no namespace.
#ifndef MUSTER_LIB_FABRIC_XML_H_
#define MUSTER_LIB_FABRIC_XML_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace muster {

struct XmlEvent {
  enum class Kind { kOpen, kClose, kText, kEnd };

  Kind kind = Kind::kEnd;
  std::string name{};  // Of the element; of kText: the text.
  std::vector<std::pair<std::string, std::string>> attributes{};

  // The value, or null.
  const std::string* Find(std::string_view attribute) const;
};

// Reads event after event; every element is closed in its turn (one that is
// written <a/> gives kOpen and kClose), and the document has one root.
class XmlReader {
 public:
  static constexpr size_t kMaxDepth = 32;

  explicit XmlReader(std::string_view text) : text_(text) {}

  // InvalidArgument with the line: where the text stops being XML.
  absl::Status Next(XmlEvent* event);
  // `message`, at the present line.
  absl::Status Bad(std::string_view message) const;

 private:
  bool Starts(std::string_view prefix) const {
    return text_.substr(at_, prefix.size()) == prefix;
  }
  // Goes on behind the next `end`; `part` is what is before it.
  absl::Status Until(std::string_view end, std::string_view* part);
  absl::Status Open(XmlEvent* event);
  absl::Status Attribute(XmlEvent* event);
  absl::Status Close(XmlEvent* event);
  absl::Status Decode(std::string_view raw, std::string* out) const;
  std::string_view Name();
  void SkipBlanks();

  std::string_view text_;
  size_t at_ = 0;
  std::vector<std::string> open_{};
  bool close_next_ = false;  // After <a/>.
  bool had_root_ = false;
};

}  // namespace muster

#endif  // MUSTER_LIB_FABRIC_XML_H_
