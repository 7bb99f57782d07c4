// Which nodes a task may use: labels, selectors, taints and tolerations, with
// the meanings Kubernetes gave these words.
#ifndef MUSTER_SELECTOR_H_
#define MUSTER_SELECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/enum_names.h"

namespace muster {

struct Label {
  std::string key{};
  std::string value{};

  friend auto operator<=>(const Label&, const Label&) = default;
};

// At most one label a key; the scheduler keeps them sorted by key.
using Labels = std::vector<Label>;

enum class SelectorOp : uint8_t {
  kIn,            // The label is there, with one of the values.
  kNotIn,         // The label is absent, or has none of the values.
  kExists,        // The label is there.
  kDoesNotExist,  // The label is absent.
  kGt,            // The label is an integer greater than the one value.
  kLt,            // The label is an integer less than the one value.
};
MUSTER_ENUM_NAMES(SelectorOp, "In", "NotIn", "Exists", "DoesNotExist", "Gt",
                  "Lt");

struct Requirement {
  std::string key{};
  SelectorOp op = SelectorOp::kIn;
  std::vector<std::string> values{};

  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// All requirements hold (AND). Empty: holds for every node.
struct SelectorTerm {
  std::vector<Requirement> all_of{};

  friend bool operator==(const SelectorTerm&, const SelectorTerm&) = default;
};

// Any term holds (OR of ANDs). Empty: every node.
struct NodeSelector {
  std::vector<SelectorTerm> any_of{};

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

// A node for which the term holds is preferred by `weight`; weights add up.
// Preferences decide between nodes that fit, after topology and before
// tightness of fit; they never make a gang wait.
struct Preference {
  int32_t weight = 1;  // 1..100.
  SelectorTerm term{};

  friend bool operator==(const Preference&, const Preference&) = default;
};

enum class TaintEffect : uint8_t {
  kNoSchedule,        // No new task without a toleration.
  kPreferNoSchedule,  // Used last.
  kNoExecute,         // As kNoSchedule, and running tasks must leave.
};
MUSTER_ENUM_NAMES(TaintEffect, "NoSchedule", "PreferNoSchedule", "NoExecute");

struct Taint {
  std::string key{};
  std::string value{};
  TaintEffect effect = TaintEffect::kNoSchedule;
  // Of kNoExecute: when the node got it. 0: when the scheduler was told first.
  int64_t since = 0;  // A Time.

  friend bool operator==(const Taint&, const Taint&) = default;
};

enum class TolerationOp : uint8_t { kEqual, kExists };
MUSTER_ENUM_NAMES(TolerationOp, "Equal", "Exists");

struct Toleration {
  std::string key{};  // Empty with kExists: every taint.
  TolerationOp op = TolerationOp::kEqual;
  std::string value{};
  std::vector<TaintEffect> effects{};  // Empty: every effect.
  // How long a task that runs bears a kNoExecute taint, in seconds from
  // Taint::since; -1: for ever. No new task is placed on a node where it would
  // have to leave again.
  int64_t seconds = -1;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

}  // namespace muster

#endif  // MUSTER_SELECTOR_H_
