// Events about objects that are not as they should be.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "adapters/kubernetes/controller/outbox.h"
#include "adapters/kubernetes/controller/requests.h"

namespace muster::kubernetes {

// A reason: it is not used as it is.
inline constexpr char kRefused[] = "Refused";

// Not synchronised.
class WarningBook {
 public:
  // Not owned.
  explicit WarningBook(Outbox* outbox) : outbox_(*outbox) {}

  // An Event, unless it is what was told last of the object with this reason.
  // Of very many objects the same may be told again. O(log objects).
  void Warn(const api::ObjectReference& object, const std::string& reason,
            const std::string& note);
  // That reason is no more, or the object is gone. O(log objects), O(1) while
  // there are no warnings.
  void Clear(const api::ObjectReference& object, const std::string& reason);

  bool empty() const { return told_.empty(); }

 private:
  Outbox& outbox_;
  // To the note, by object and reason.
  std::map<std::pair<api::ObjectReference, std::string>, std::string> told_;
};

}  // namespace muster::kubernetes
