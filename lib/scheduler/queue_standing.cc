#include "lib/scheduler/queue_standing.h"

#include <algorithm>
#include <span>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "lib/scheduler/scheduler_tables.h"

namespace muster {
namespace {

int64_t Bounded(absl::int128 amount) {
  return static_cast<int64_t>(
      std::min<absl::int128>(amount, Resources::kMaxTotal));
}

class Standing {
 public:
  Standing(const SchedulerTables& tables, QueueIndex q)
      : tables_(tables), q_(q), entry_(tables.queues.at(q)) {}

  QueueStanding Make() {
    const uint32_t kinds = tables_.queues.kinds();
    for (Resources* amounts :
         {&standing_.guaranteed, &standing_.borrowed, &standing_.unused}) {
      *amounts = Resources(kinds);
    }
    standing_.used = entry_.used;
    standing_.releasing = entry_.releasing;
    for (ResourceKind k = 0; k < kinds; ++k) {
      const int64_t guaranteed = Bounded(tables_.queues.Entitled(q_, k));
      standing_.guaranteed.Set(k, guaranteed);
      if (!AnyStates(k)) continue;  // There is nobody to borrow from.
      const int64_t beyond = entry_.used[k] - guaranteed;
      standing_.borrowed.Set(k, std::max<int64_t>(beyond, 0));
      standing_.unused.Set(k, std::max<int64_t>(-beyond, 0));
    }
    FindShare();
    for (ResourceKind k = 0; k < kinds; ++k) NoteMoreBelow(k);
    for (ResourceKind k = 0; k < kinds; ++k) NoteMoreThanNodes(k);
    for (ResourceKind k = 0; k < kinds; ++k) NoteNotStated(k);
    return std::move(standing_);
  }

 private:
  void FindShare() {
    const Resources nothing(tables_.queues.kinds());
    const Fraction share =
        tables_.order.TurnOf(q_, {.position = {}, .demand = &nothing}).share;
    if (share.den > 0) {
      standing_.share_millionths =
          Bounded(absl::int128(share.num * 1'000'000 / share.den));
    }
  }
  std::span<const QueueIndex> Siblings() const {
    return tables_.queues.Below(entry_.parent);
  }
  absl::int128 Together(std::span<const QueueIndex> queues,
                        ResourceKind k) const {
    absl::int128 sum = 0;
    for (const QueueIndex q : queues) sum += tables_.queues.Entitled(q, k);
    return sum;
  }
  void Note(QueueNoteKind kind, ResourceKind k, absl::int128 asked,
            int64_t available) {
    standing_.notes.push_back({kind, k, Bounded(asked), available});
  }
  void NoteMoreBelow(ResourceKind k) {
    if (entry_.guarantee[k] < 0) return;
    if (entry_.below[k] > entry_.guarantee[k]) {
      Note(QueueNoteKind::kMoreBelow, k, entry_.below[k], entry_.guarantee[k]);
    }
  }
  void NoteMoreThanNodes(ResourceKind k) {
    if (entry_.parent != kNoQueue) return;
    const int64_t there = tables_.cluster.total_capacity()[k];
    const absl::int128 asked = Together(Siblings(), k);
    if (asked > there && tables_.queues.Entitled(q_, k) > 0) {
      Note(QueueNoteKind::kMoreThanNodes, k, asked, there);
    }
  }
  // Whether the queue, or one below it, is guaranteed some.
  bool States(QueueIndex q, ResourceKind k) const {
    return tables_.queues.at(q).guarantee[k] >= 0 ||
           tables_.queues.Entitled(q, k) > 0;
  }
  // It or one beside it.
  bool AnyStates(ResourceKind k) const {
    return std::ranges::any_of(Siblings(),
                               [&](QueueIndex q) { return States(q, k); });
  }
  void NoteNotStated(ResourceKind k) {
    if (States(q_, k) || !AnyStates(k)) return;
    Note(QueueNoteKind::kNotStated, k, 0, 0);
  }

  const SchedulerTables& tables_;
  const QueueIndex q_;
  const QueueTree::Entry& entry_;
  QueueStanding standing_;
};

}  // namespace

std::string ToText(const QueueNote& note,
                   const std::vector<std::string>& resources) {
  const std::string kind =
      note.resource < resources.size() ? resources[note.resource] : "?";
  switch (note.kind) {
    case QueueNoteKind::kMoreBelow:
      return absl::StrCat(kind, ": the queues below it are guaranteed ",
                          note.asked, ", and it is ", note.available);
    case QueueNoteKind::kMoreThanNodes:
      return absl::StrCat(kind, ": the roots are guaranteed ", note.asked,
                          ", and the nodes have ", note.available);
    case QueueNoteKind::kNotStated:
      return absl::StrCat(
          kind, ": a queue beside it is guaranteed some, it is owed none");
  }
  return "?";
}

QueueStanding StandingOf(const SchedulerTables& tables, QueueIndex q) {
  return Standing(tables, q).Make();
}

}  // namespace muster
