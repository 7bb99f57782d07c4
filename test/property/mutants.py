#!/usr/bin/env python3
"""Takes the rules that activate questions out of the scheduler, one at a time, and sees
whether a test tells: the stories of activation_story_test, else the random histories of
scheduler_property_test.

    test/property/mutants.py ROOT BUILD [--only TEXT] [--part K/N] [--events N] [--texts]

ROOT is the source tree, BUILD a folder for copies of it. A rule that can be left out
and no test tells is one that no test covers, or that is not needed: exit status 1.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".ci"))
from parts import part

STORIES = "activation_story_test"
HISTORIES = "scheduler_property_test"
ACTIVATOR = "lib/scheduler/activator.cc"

# What is taken out (name, file, text that stands there once, what comes instead).
MUTANTS = [
    # What activates what: the table in activator.h.
    ("room: classes that fit now", ACTIVATOR,
     "ActivateRoom(tables_.lists.waiting(), s, Questions::kRoom);", ";"),
    ("room: victims of classes that fit now", ACTIVATOR,
     "if ((done & kVictimsActivated) == 0) done |= kHasRoom;", ""),
    ("room: victims of classes that fit with all gone", ACTIVATOR,
     "if (!structure_) FindFreed();", ""),
    ("room: equals of an elastic gang", ACTIVATOR,
     "(newer || holder.elastic)", "newer"),
    ("room: newer equals", ACTIVATOR,
     "(newer || holder.elastic)", "holder.elastic"),
    ("a queue's guarantee: what bounds those above it", "lib/scheduler/tenant_events.cc",
     "if (tables.queues.at(q).sums_below) tables.activator.QueueChanged(q);", ""),
    ("borrowers: what they may take", "lib/queue/quota_checker.cc",
     "if (borrows) return QueueTree::kUnbounded;", ""),
    ("room: queues that may take back there", ACTIVATOR,
     "if (holder.queue != leaf) return (holder.kinds & kinds) != 0;",
     "if (holder.queue != leaf) return (holder.kinds & kinds & 0) != 0;"),
    ("room: queues that may take back elsewhere", ACTIVATOR,
     "anywhere.other_queues = room && owed;", ";"),
    ("room and structure: victims where it may fit", ACTIVATOR,
     "ActivateRoom(tables_.lists.waiting(), s, Questions::kVictims);", ";"),
    ("room: growth", ACTIVATOR,
     """done |= kGrowthActivated;
        ActivateRoom(tables_.lists.growing(), s, Questions::kRoom);""",
     "done |= kGrowthActivated;"),
    ("room: nominated gangs there", ACTIVATOR,
     "if (now && IsNominated(r)) SetCheckDue(task.gang);",
     "if (now) {}"),
    ("room: suspended gangs there", ACTIVATOR,
     """
      tables_.lists.waiting().Activate(tables_.lists.ClassOf(task.gang, false),
                                       kBoth);""", ""),
    ("a lost task: growth", ACTIVATOR,
     "if (c != kNoClass) tables_.lists.growing().Activate(c, Questions::kRoom);", ""),
    ("room or quota: gangs below their minimum", ACTIVATOR,
     "if (freed || !usage_changed_.empty()) {", "if (false) {"),
    ("quota: gangs below their minimum", ACTIVATOR,
     "if (freed || !usage_changed_.empty()) {", "if (freed) {"),
    ("structure: gangs below their minimum", ACTIVATOR,
     "!freed_.empty() || structure_ || !changed_.empty();",
     "!freed_.empty() || !changed_.empty();"),
    ("a queue's values: gangs below their minimum", ACTIVATOR,
     "!freed_.empty() || structure_ || !changed_.empty();",
     "!freed_.empty() || structure_;"),
    ("structure: classes that compare domains", ACTIVATOR,
     "if (spec.looks_at_structure)\n      ActivateRoom(tables_.lists.waiting(), s, kBoth);", ""),
    ("structure: growth that compares domains", ACTIVATOR,
     "if (spec.looks_at_structure || spec.grows_nearby) {", "if (spec.grows_nearby) {"),
    ("structure: growth beside the gang", ACTIVATOR,
     "if (spec.looks_at_structure || spec.grows_nearby) {",
     "if (spec.looks_at_structure) {"),
    ("structure: what could never fit", ACTIVATOR,
     "if (may_fit_now || (questions & Questions::kRoom) != 0) {",
     "if ((may_fit_now && false) || (questions & Questions::kRoom) != 0) {"),
    ("usage: classes that a limit stopped", ACTIVATOR,
     "if (stopped) list.Activate(c, Questions::kRoom);", ""),
    ("usage: victims of classes that a limit stopped", ACTIVATOR,
     "if (stopped || owed) ActivateVictims(c);", "if (owed) ActivateVictims(c);"),
    ("usage: victims of classes that are owed now", ACTIVATOR,
     "if (stopped || owed) ActivateVictims(c);",
     "if (stopped || (owed && false)) ActivateVictims(c);"),
    ("usage: classes whose least demand is not exact", ACTIVATOR,
     "code == ReasonCode::kNotFound || !spec.least_is_exact);",
     "code == ReasonCode::kNotFound);"),
    ("usage: classes whose victims were not found", ACTIVATOR,
     "code == ReasonCode::kNotFound || !spec.least_is_exact);",
     "!spec.least_is_exact);"),
    ("usage: owed, whose least demand is not exact", ACTIVATOR,
     """(!spec.least_is_exact ||
                       tables_.quota""", "(tables_.quota"),
    ("usage: owed, by the most that was used", ACTIVATOR,
     "std::max(known->before[k], e.used[k])", "known->before[k]"),
    ("usage: the queues above", ACTIVATOR,
     """    ActivateBelow(q);
    if (e.bounded &&""",
     """    if (q == lowest) ActivateBelow(q);
    if (e.bounded &&"""),
    ("usage: nominated gangs", ACTIVATOR,
     "if (e.bounded && !released) SetNominatedCheckDueBelow(q);", ""),
    ("more than guaranteed", ACTIVATOR,
     "return tables_.quota.MayReclaimAtAll(",
     "return false && tables_.quota.MayReclaimAtAll("),
    ("new victim: above it in its queue", ACTIVATOR,
     "if (waiting.at(c).first().priority >= v.priority) ActivateVictims(c, as);",
     "if (c == kNoClass) {}"),
    ("new victim: equals in its queue", ACTIVATOR,
     "if (waiting.at(c).first().priority >= v.priority) ActivateVictims(c, as);",
     "if (waiting.at(c).first().priority > v.priority) ActivateVictims(c, as);"),
    ("new victim: queues that may take it back", ACTIVATOR,
     "return preemptor != v.leaf && MayReclaim(preemptor, v.leaf, spec);",
     "return false && MayReclaim(preemptor, v.leaf, spec);"),
    ("a queue's values: all below it", ACTIVATOR,
     "for (const QueueIndex q : changed_) ActivateBelowAll(q);", ""),
    ("a queue's values: nominated gangs below it", ACTIVATOR,
     """  });
  SetNominatedCheckDueBelow(q);""", "  });"),
    ("a queue's values: victims of all others", ACTIVATOR,
     "if (all_victims_ || !changed_.empty()) {", "if (all_victims_) {"),
    ("all victims", ACTIVATOR,
     "if (all_victims_ || !changed_.empty()) {", "if (!changed_.empty()) {"),
    ("what was put off", ACTIVATOR,
     "waiting.Activate(c, Questions::kVictims);", ";"),
    ("a node comes to admit: room", ACTIVATOR,
     """  RoomFreed(n);
  StructureChanged();""", "  StructureChanged();"),
    ("a node comes to admit: structure", ACTIVATOR,
     """  RoomFreed(n);
  StructureChanged();""", "  RoomFreed(n);"),
    ("a node changes: nominated gangs there", ACTIVATOR,
     "if (IsNominated(tables_.gangs.at(g))) SetCheckDue(g);",
     "if (g == kNoGang) {}"),
    # Who tells what happened.
    ("tells: a start that may be shrunk", "lib/scheduler/decisions.cc",
     "tables_.activator.VictimsChanged(*gang, true);", ";"),
    ("tells: a replaced task", "lib/scheduler/decisions.cc",
     """== ReasonCode::kTaskFailed;
    gang->repair_reason = ReasonCode::kNone;
    tables_.activator.VictimsChanged(*gang);""",
     """== ReasonCode::kTaskFailed;
    gang->repair_reason = ReasonCode::kNone;"""),
    ("tells: a queue's values", "lib/scheduler/tenant_events.cc",
     "tables.activator.QueueChanged(known);", ";"),
    ("tells: a priority class's values", "lib/scheduler/tenant_events.cc",
     """GangEdit(tables, g);
  tables.activator.AllVictims();""", "GangEdit(tables, g);"),
    ("tells: a disruption budget", "lib/scheduler/tenant_events.cc",
     """tables.budgets.Put(budget);
  tables.activator.AllVictims();""", "tables.budgets.Put(budget);"),
    ("tells: a disruption that is over", "lib/scheduler/scheduler_tables.cc",
     "if (sign > 0) tables.activator.AllVictims();", ""),
    ("tells: a repaired gang", "lib/scheduler/repair.cc",
     "tables.activator.VictimsChanged(r);", ";"),
    ("tells: a node set's nodes", "lib/scheduler/node_events.cc",
     "if (node.valid()) tables.activator.RoomFreed(node.index);", "if (node.valid()) {}"),
    ("tells: a node set", "lib/scheduler/node_events.cc",
     "tables.activator.StructureChanged();", ";"),
    ("tells: a gang that is found to run", "lib/scheduler/reconcile.cc",
     """    tables.life.GoOn(gang);
    tables.activator.VictimsChanged(*gang);""", "    tables.life.GoOn(gang);"),
    ("tells: a new node's room", "lib/scheduler/node_changes.cc",
     """  tables.activator.RoomFreed(n);
  tables.activator.StructureChanged();
}""", "  tables.activator.StructureChanged();\n}"),
    ("tells: a new node", "lib/scheduler/node_changes.cc",
     """  tables.activator.RoomFreed(n);
  tables.activator.StructureChanged();
}""", "  tables.activator.RoomFreed(n);\n}"),
    ("tells: a larger node", "lib/scheduler/node_changes.cc",
     """    tables.activator.RoomFreed(n);
    tables.activator.StructureChanged();
  }""", "  }"),
    ("tells: a node that is up or down", "lib/scheduler/node_changes.cc",
     "if (old.available() != facts.available()) tables.activator.StructureChanged();", ""),
    ("tells: the room of a node that is up", "lib/scheduler/node_changes.cc",
     "if (given_up || (facts.available() && !old.available())) {", "if (given_up) {"),
    ("tells: room that external usage gives up", "lib/scheduler/node_changes.cc",
     "if (given_up || (facts.available() && !old.available())) {",
     "if ((given_up && false) || (facts.available() && !old.available())) {"),
    ("tells: nominated gangs on a node with other facts", "lib/scheduler/node_changes.cc",
     "tables.activator.SetCheckDue(g);",
     "if (g == kNoGang) {}"),
    ("tells: a gang with another spec", "lib/scheduler/gang_events.cc",
     """CountGang(tables, *gang, 1);
  tables.activator.VictimsChanged(*gang);
  if (IsLive""", "CountGang(tables, *gang, 1);\n  if (IsLive"),
    ("tells: a gang in another queue", "lib/scheduler/gang_events.cc",
     """CountGang(tables, *gang, 1);
  tables.activator.VictimsChanged(*gang);
  if (gang->phase""", "CountGang(tables, *gang, 1);\n  if (gang->phase"),
    ("tells: a gang of another priority class", "lib/scheduler/gang_events.cc",
     """gang->priority_class = cls;
  tables.activator.VictimsChanged(*gang);""", "gang->priority_class = cls;"),
    ("tells: a suspended gang that keeps something", "lib/scheduler/life.cc",
     """if (tables_.SpecOf(r).kept.empty()) return;
  tables_.activator.VictimsChanged(r);""", ""),
    ("tells: a gang that runs", "lib/scheduler/life.cc",
     "          tables_.activator.VictimsChanged(r);", "          ;"),
    ("tells: a refused stop", "lib/scheduler/answer_events.cc",
     "tables.activator.VictimsChanged(*gang);", ";"),
    ("tells: usage before it falls", "lib/scheduler/holdings.cc",
     "if (sign < 0) tables_.activator.UsageFalls(queue);", ""),
    ("tells: a queue beyond its guarantee", "lib/scheduler/holdings.cc",
     "tables_.activator.ExceedsGuarantee();", ";"),
    ("tells: usage that moves", "lib/scheduler/holdings.cc",
     "for (const QueueIndex q : {from, leaf}) tables_.activator.UsageChanged(q);", ""),
    ("tells: usage that moves away", "lib/scheduler/holdings.cc",
     "for (const QueueIndex q : {from, leaf}) tables_.activator.UsageChanged(q);",
     "tables_.activator.UsageChanged(leaf);"),
    ("tells: usage that moves here", "lib/scheduler/holdings.cc",
     "for (const QueueIndex q : {from, leaf}) tables_.activator.UsageChanged(q);",
     "tables_.activator.UsageChanged(from);"),
    ("tells: room now", "lib/scheduler/holdings.cc",
     "if (!now && !later) return;", "if (!later) return;"),
    ("tells: room later", "lib/scheduler/holdings.cc",
     "if (!now && !later) return;", "if (!now) return;"),
    ("tells: usage that falls", "lib/scheduler/holdings.cc",
     "tables_.activator.UsageChanged(queue);", "if (queue == kNoQueue) {}"),
    ("tells: a nominated gang that is changed", "lib/scheduler/gang_events.cc",
     """gang->TakeFrom(e.gang);
  if (gang->phase == GangPhase::kNominated) gang->check_due = true;""",
     "gang->TakeFrom(e.gang);"),
    ("tells: a nominated gang that is moved", "lib/scheduler/gang_events.cc",
     """tables.activator.VictimsChanged(*gang);
  if (gang->phase == GangPhase::kNominated) gang->check_due = true;""",
     "tables.activator.VictimsChanged(*gang);"),
    ("tells: a nominated gang that is held", "lib/scheduler/gang_events.cc",
     """gang->held_why = e.why;
  if (gang->phase == GangPhase::kNominated) gang->check_due = true;""",
     "gang->held_why = e.why;"),
    ("tells: a task that goes", "lib/scheduler/life.cc",
     "ActivateVictimsOf(*gang, task.task, outcome == TaskOutcome::kSucceeded);", ";"),
    ("tells: a firm task that goes", "lib/scheduler/life.cc",
     "!roles[task.role].preemptible ||\n      (shrinks",
     "(!roles[task.role].preemptible && false) ||\n      (shrinks"),
    ("tells: a task of one role that is done", "lib/scheduler/life.cc",
     "(done || roles.size() > 1)", "((done && false) || roles.size() > 1)"),
    ("tells: a task of one of the roles that goes", "lib/scheduler/life.cc",
     "(done || roles.size() > 1)", "done"),
    ("tells: a gang that gives up what had to leave", "lib/scheduler/decisions.cc",
     """!= ReasonCode::kNone) {
    gang->repair_reason = ReasonCode::kNone;
    tables_.activator.VictimsChanged(*gang);""",
     """!= ReasonCode::kNone) {
    gang->repair_reason = ReasonCode::kNone;"""),
    ("tells: a task that is found elsewhere, to its gang", "lib/scheduler/reconcile.cc",
     "tables.activator.RoomFreed(at.node);", ";"),
    ("tells: a task that is found elsewhere, to growth", "lib/scheduler/reconcile.cc",
     "tables.activator.StructureChanged();", ";"),
    ("tells: the queue that another one leaves", "lib/scheduler/tenant_events.cc",
     "for (const QueueIndex q : {was_below, below})\n    tables.activator.UsageChanged(q);",
     "tables.activator.UsageChanged(below);"),
    ("tells: the queue to which another one comes", "lib/scheduler/tenant_events.cc",
     "for (const QueueIndex q : {was_below, below})\n    tables.activator.UsageChanged(q);",
     "tables.activator.UsageChanged(was_below);"),
    ("tells: a queue more beyond its guarantee", "lib/scheduler/holdings.cc",
     "(before <= guarantee || guarantee > 0)", "(before <= guarantee)"),
    # What an answer says of whom it concerns, and what time alone activates.
    ("tells: a place that is kept, where it is", "lib/scheduler/holdings.cc",
     "if (takes) tables_.nodes.AddOvercommitCandidate(task.at.node);", ""),
    # What lets gangs make room again.
    ("evictions: once", "lib/scheduler/eviction_backoff.cc",
     "return r.made_room_seq > 0 &&", "return r.made_room_seq > uint64_t{1} << 62 &&"),
    ("evictions: something external", "lib/scheduler/eviction_backoff.cc",
     "tables.external_seq = tables.next_seq;", ";"),
    ("evictions: who has made room is listed anew", "lib/scheduler/eviction_backoff.cc",
     "while (!made_room.empty()) {", "while (made_room.size() > uint64_t{1} << 40) {"),
    ("evictions: the wait is over", "lib/scheduler/gang_lists.cc",
     "after_now(WaitsToMakeRoomUntil(tables_, r)));\n    if (r.phase",
     "kForever);\n    if (r.phase"),
    ("evictions: the wait for what a raised minimum asks is over", "lib/scheduler/gang_lists.cc",
     "at = std::min(at, after_now(WaitsToMakeRoomUntil(tables_, r)));", ";"),
    ("victims: gangs below a raised minimum, when it is raised, too", ACTIVATOR,
     "if (all_victims_ || reclaim_ || !victims_.empty()) CheckRaised();", ""),
    ("tells: a raised minimum that is missed", "lib/scheduler/raised_minimum.cc",
     "tables.activator.VictimsChanged(*gang);", ";"),
    ("room or quota: gangs below a raised minimum", "lib/scheduler/gang_lists.cc",
     "(Lacks(r) || (LooksForRaised(tables_, r) && !l.nominated))", "Lacks(r)"),
    ("time: a raised minimum after a back-off", "lib/scheduler/pass.cc",
     "LooksForRaised(tables, *gang) ||", ""),
    ("answers: a limit that stops victims alone", "lib/scheduler/serve.cc",
     "const bool blocked = QuotaBlocks(r, &reason);",
     "const bool blocked = (active & Questions::kRoom) && QuotaBlocks(r, &reason);"),
    ("answers: a limit that stops growth", "lib/scheduler/grow.cc",
     "if (excess) return ReasonOf(excess, ReasonCode::kQueueLimit);",
     "if (excess) return ReasonOf(excess, ReasonCode::kInsufficient);"),
    ("answers: a limit that stops another role", "lib/scheduler/grow.cc",
     "if (counts_[i] >= roles[i].desired_tasks) continue;\n    const uint32_t tasks",
     "if (counts_[i] >= roles[i].desired_tasks || i > 0) continue;\n"
     "    const uint32_t tasks"),
    ("answers: a limit that stops several tasks", "lib/scheduler/grow.cc",
     "const bool by_one = tables_.config.fabrics.empty();",
     "const bool by_one = true;"),
    ("time: a victim that has run long enough", "lib/scheduler/pass.cc",
     "questions.active |= Questions::kVictims;", ";"),
]


def run(command, cwd, **env):
    return subprocess.run(command, cwd=cwd, env=os.environ | env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def copy_tree(root, to):
    """What git knows of, as it is now; only what has changed is written."""
    files = subprocess.check_output(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard"], text=True)
    for name in files.splitlines():
        source, target = root / name, to / name
        if not source.is_file():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)
            shutil.copymode(source, target)


def build(tree, program):
    return run(["ninja", "-C", "build/dev", "-j1", program], tree,
               CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")


def configure(root, tree):
    copy_tree(root, tree)
    # What is taken out may leave something unused.
    made = run(["cmake", "--preset", "dev", "-DMUSTER_WERROR=OFF"], tree)
    if made.returncode == 0:
        made = build(tree, STORIES)
    if made.returncode == 0:
        made = run([f"build/dev/bin/{STORIES}"], tree)
    if made.returncode != 0:
        sys.exit(made.stdout)


def story(tree):
    """The stories that end otherwise, or None."""
    told = run([f"build/dev/bin/{STORIES}"], tree)
    if told.returncode == 0:
        return None
    names = sorted(set(re.findall(r"^\[  FAILED  \] (\w+\.\w+)", told.stdout, re.M)))
    if not names:
        return "the stories end early"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}"


def invariant_broken(tree, events):
    """The first invariant that a history breaks, or None."""
    told = run([f"build/dev/bin/{HISTORIES}", "--gtest_throw_on_failure"],
               tree, MUSTER_KEEP_GOING="1", MUSTER_EVENTS=str(events))
    if told.returncode == 0:
        return None
    invariant = re.search(r"([\w -]+): MUSTER_SEED=(\d+)", told.stdout)
    return f"{invariant[1].strip()} (seed {invariant[2]})" if invariant else "the histories end early"


def try_mutant(tree, mutant, events):
    """Who tells (None: no test), and the compiler's output if there is no program."""
    _, file, before, after = mutant
    path = tree / file
    text = path.read_text()
    path.write_text(text.replace(before, after))
    try:
        for program, tells in ((STORIES, lambda: story(tree)),
                               (HISTORIES, lambda: invariant_broken(tree, events))):
            made = build(tree, program)
            if made.returncode != 0:
                return None, made.stdout
            if teller := tells():
                return teller, None
        return None, None
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="part of the names of those to try")
    parser.add_argument("--part", type=part, default=(1, 1), metavar="K/N",
                        help="the K-th of N parts of them")
    parser.add_argument("--texts", action="store_true", help="only whether each text stands there once")
    parser.add_argument("--events", type=int, default=40_000, metavar="N",
                        help="steps of random histories where no story tells")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    root, folder = args.root.resolve(), args.build.resolve()

    for name, file, before, _ in MUTANTS:
        if (count := (root / file).read_text().count(before)) != 1:
            sys.exit(f"{file}: the text of '{name}' stands there {count} times")
    if args.texts:
        return
    k, n = args.part
    todo = [m for m in MUTANTS if args.only in m[0]][k - 1::n]
    if not todo:
        parser.error("no rule is called so")
    tried, told, lock = 0, 0, threading.Lock()

    def work(tree):
        nonlocal tried, told
        configure(root, tree)
        while True:
            with lock:
                if not todo:
                    return
                mutant = todo.pop(0)
            teller, error = try_mutant(tree, mutant, args.events)
            with lock:
                tried += 1
                told += teller is not None
                says = f"does not compile:\n{error}" if error else "NO TEST TELLS"
                print(f"{mutant[0]}: {teller or says}", flush=True)

    workers = [threading.Thread(target=work, args=(folder / f"tree-{i}",))
               for i in range(min(args.jobs, len(todo)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"{tried} rules taken out, {told} told")
    sys.exit(0 if told == tried else 1)


if __name__ == "__main__":
    main()
