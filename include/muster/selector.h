// Which nodes a task may use: labels, selectors, taints and tolerations, with
// the meanings Kubernetes gave these words. Plain values. What is looked at
// when: selectors and taints kNoSchedule when a task is placed, and never again
// for one that runs; taints kNoExecute all the time.
#ifndef MUSTER_SELECTOR_H_
#define MUSTER_SELECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "muster/export.h"

namespace muster {

// A fact of a node, or of a gang. (Slurm: a node's feature.)
struct Label {
  // 1..kMaxKeyLength bytes; the value up to kMaxTextLength, or empty.
  std::string key{};
  std::string value{};

  friend auto operator<=>(const Label&, const Label&) = default;
};

// At most one label a key; the scheduler keeps them sorted by key. In any order
// when handed in; InvalidArgument for a key that is there twice.
using Labels = std::vector<Label>;

// How a label is compared. Texts are compared bytewise; an integer is one of 64
// bits in decimal, and a label that is none matches neither kGt nor kLt.
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

// One condition on the label `key`.
struct Requirement {
  std::string key{};
  SelectorOp op = SelectorOp::kIn;
  // kIn and kNotIn: at least one. kGt and kLt: one, an integer. kExists and
  // kDoesNotExist: none. Else the event that brings it is refused.
  std::vector<std::string> values{};

  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// All requirements hold (AND). Empty: holds for every node.
struct SelectorTerm {
  std::vector<Requirement> all_of{};

  friend bool operator==(const SelectorTerm&, const SelectorTerm&) = default;
};

// Any term matches (OR of ANDs). Empty: every node. (Kubernetes: the required
// node affinity; its nodeSelector is one term of kIn requirements.)
struct NodeSelector {
  std::vector<SelectorTerm> any_of{};

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

// Whether an object with these labels is selected; the scheduler asks it of
// nodes. kGt and kLt match only if there is one value and both sides are
// decimal 64-bit integers. Pure. O(requirements x (labels + values)).
MUSTER_API bool Matches(const Requirement& requirement, const Labels& labels);
MUSTER_API bool Matches(const SelectorTerm& term, const Labels& labels);
MUSTER_API bool Matches(const NodeSelector& selector, const Labels& labels);

// A node for which the term holds is preferred by `weight`; weights add up.
// Preferences decide between nodes that fit, after topology and before
// tightness of fit; they never make a gang wait. (Kubernetes: the preferred
// node affinity; Slurm: --prefer.)
struct Preference {
  int32_t weight = 1;  // 1..100.
  SelectorTerm term{};

  friend bool operator==(const Preference&, const Preference&) = default;
};

// What a taint does to tasks that do not tolerate it.
enum class TaintEffect : uint8_t {
  kNoSchedule,        // No new task without a toleration.
  kPreferNoSchedule,  // Used last.
  kNoExecute,         // As kNoSchedule, and running tasks must leave.
};
MUSTER_ENUM_NAMES(TaintEffect, "NoSchedule", "PreferNoSchedule", "NoExecute");

// A node's word that it is not for everybody. A node may have several, with the
// same key, too; each must be tolerated.
struct Taint {
  std::string key{};
  std::string value{};  // May be empty.
  TaintEffect effect = TaintEffect::kNoSchedule;
  // Of kNoExecute: when the node got it, a Time. 0: when the scheduler was told
  // first. Toleration::seconds are counted from it.
  int64_t since = 0;

  friend bool operator==(const Taint&, const Taint&) = default;
};

// kEqual: key and value are those of the taint. kExists: the key is, whatever
// the value.
enum class TolerationOp : uint8_t { kEqual, kExists };
MUSTER_ENUM_NAMES(TolerationOp, "Equal", "Exists");

// A task's word that it may be on nodes with such taints. It does not draw the
// task there: that is what selectors are for.
struct Toleration {
  // Empty with kExists: every taint. Empty with kEqual is refused.
  std::string key{};
  TolerationOp op = TolerationOp::kEqual;
  std::string value{};                 // Of kEqual.
  std::vector<TaintEffect> effects{};  // Empty: every effect.
  // How long a task that runs bears a kNoExecute taint, in seconds from
  // Taint::since, -1..2^31; -1: for ever. Of several tolerations of a taint the
  // longest counts. No new task is placed on a node where it would have to
  // leave again.
  int64_t seconds = -1;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

}  // namespace muster

#endif  // MUSTER_SELECTOR_H_
