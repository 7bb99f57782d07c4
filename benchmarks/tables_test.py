"""Tests of what keeps figures honest: goals.py, tables.py, record.py, gate.py and kube/bench.py.

    tables_test.py ROOT
"""

import contextlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks/kube")]

import bench  # noqa: E402
import gate  # noqa: E402
import goals  # noqa: E402
import record  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402

GOAL = {"name": "quick", "record": "some", "over": ["BM_A", "cpu_us"], "at_most": 20, "since": "abc"}
RECORD = {
    "record": "some", "commit": "12345678", "date": "2026-01-02T03:04+00:00", "seconds": 5,
    "load_before": [0.1, 0, 0], "machine": {"cores": 2, "cpu": "a CPU", "memory_gib": 3, "os": "an OS",
                                            "compiler": "g++ 12", "flags": "-O3"},
    "cases": {"BM_A": {"cpu_us": 19.0, "times": [4.0, 3.0, 5.0], "label": "said"}, "BM_B": {"cpu_us": 38.0}},
}


class GoalsTest(unittest.TestCase):
    def test_a_goal_is_met_missed_or_not_measured(self):
        self.assertTrue(goals.met(GOAL, RECORD["cases"]))
        self.assertFalse(goals.met({**GOAL, "over": ["BM_B", "cpu_us"]}, RECORD["cases"]))
        self.assertIsNone(goals.met({**GOAL, "over": ["BM_C", "cpu_us"]}, RECORD["cases"]))

    def test_the_worst_of_several_cases_counts(self):
        both = [["BM_A", "cpu_us"], ["BM_B", "cpu_us"]]
        self.assertEqual(goals.measured({**GOAL, "over": both}, RECORD["cases"]), 38)
        least = {"name": "many", "over": both, "at_least": 30}
        self.assertEqual(goals.measured(least, RECORD["cases"]), 19)
        self.assertFalse(goals.met(least, RECORD["cases"]))

    def test_a_ratio_and_an_alternative(self):
        ratio = {**GOAL, "over": ["BM_B", "cpu_us"], "under": ["BM_A", "cpu_us"], "at_most": 1.5}
        self.assertEqual(goals.measured(ratio, RECORD["cases"]), 2)
        self.assertFalse(goals.met(ratio, RECORD["cases"]))
        self.assertTrue(goals.met({**ratio, "or": {"over": ["BM_A", "times"], "at_least": 4}}, RECORD["cases"]))

    def test_no_goal_is_changed_or_goes_in_silence(self):
        self.assertEqual(list(goals.problems_of_change([GOAL], [GOAL])), [])
        for new in ([], [{**GOAL, "at_most": 25}], [{**GOAL, "over": ["BM_A", "other"]}],
                    [{**GOAL, "or": {"over": ["BM_A", "times"], "at_least": 1}}], [{**GOAL, "since": "def"}]):
            self.assertEqual(len(list(goals.problems_of_change([GOAL], new))), 1, new)
        told = {**GOAL, "at_most": 25, "changes": [{"from": 20, "commit": "abc", "why": "asked so"}]}
        self.assertEqual(list(goals.problems_of_change([GOAL], [told])), [])

    def test_each_goal_of_the_repository_has_a_benchmark_in_its_table(self):
        templates = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks/tables").glob("*.md")}
        for goal in goals.load(ROOT):
            self.assertIn(goal["record"], record.RECORDS)
            text = "".join(text for name, text in templates.items() if name.split("-")[0] == goal["record"]
                           or name == goal["record"])
            self.assertIn(f"{{goal {goal['name']}}}", text)


class TablesTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for folder in ("docs/performance", "benchmarks/tables"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "benchmarks/goals.json").write_text(json.dumps([GOAL]))
        (self.root / "benchmarks/tables/some.md").write_text("| {BM_A cpu_us} | {goal quick} |\n")
        self.page = self.root / "docs/page.md"
        self.page.write_text("<!-- table: some -->\n*Not recorded yet.* 7 us\n<!-- /table -->\nafter\n")

    def put(self, found):
        record.write(tables.record_file(self.root, "some"), found)

    def test_without_a_record_the_text_says_so_and_stays(self):
        self.assertEqual(list(tables.problems(self.root)), [])
        self.page.write_text("<!-- table: some -->\n7 us\n<!-- /table -->\n")
        self.assertEqual(len(list(tables.problems(self.root))), 1)

    def test_a_table_is_made_of_its_record_and_compared(self):
        self.put(RECORD)
        self.assertEqual(len(list(tables.problems(self.root))), 1)
        tables.write(self.root)
        text = self.page.read_text()
        self.assertIn("| 19 us | 20 us |\n<!-- /table -->\nafter", text)
        self.assertIn("Commit 12345678, 2026-01-02 03:04 UTC, one run of 5 s", text)
        self.assertEqual(list(tables.problems(self.root)), [])
        self.page.write_text(text.replace("19 us", "18 us"))
        self.assertEqual(len(list(tables.problems(self.root))), 1)

    def test_what_is_missed_is_bold_and_what_failed_is_told(self):
        cases = {"BM_A": {"cpu_us": 21.0}, "BM_B": {"error": "another answer"}}
        self.put({**RECORD, "cases": cases})
        tables.write(self.root)
        self.assertIn("| 21 us | **20 us: missed** |", self.page.read_text())
        self.assertIn("`BM_B` failed: another answer.", self.page.read_text())

    def test_a_record_without_a_table_is_found(self):
        self.put(RECORD)
        tables.write(self.root)
        record.write(tables.record_file(self.root, "other"), RECORD)
        self.assertEqual(len(list(tables.problems(self.root))), 1)

    def test_all_goals_are_listed_with_what_the_records_say(self):
        self.page.write_text("<!-- goals -->\n<!-- /goals -->\n")
        tables.write(self.root)
        self.assertIn("| at most 20 us | not recorded yet |  |", self.page.read_text())
        self.put({**RECORD, "cases": {"BM_A": {"cpu_us": 21.0}}})
        tables.write(self.root)
        self.assertIn("| at most 20 us | 21 us | **missed** |", self.page.read_text())
        self.assertIn("1 goals: 0 met, 1 missed", self.page.read_text())

    def test_of_each_goal_it_is_told_what_the_gate_has(self):
        bounds = {"held": {"at_most": 2.0, "goal_ratio": 3.0}, "ratio": {"at_least": 2.0},
                  "missed": {"at_most": 4.0, "goal_ratio": 3.0, "missed": "known"}, "new": {"at_most": None}}
        names = [*bounds, "none"]
        (self.root / "benchmarks/goals.json").write_text(json.dumps([{**GOAL, "name": name} for name in names]))
        (self.root / goals.GATE).write_text(json.dumps(
            [{"name": "no goal", "at_most": 1.0}, *({"name": name, "goal": name, **bounds[name]} for name in bounds)]))
        self.assertEqual(goals.held(self.root), {
            "held": "goal", "ratio": "ratio", "missed": "ratio", "new": "not recorded"})
        text = tables.render_goals(self.root)
        for name, told in {**goals.held(self.root), "none": ""}.items():
            self.assertIn(f"| {name} | some | at most 20 us | not recorded yet |  | {told} | abc |", text)
        self.assertIn("The gate holds 1 of them, of 2 the recorded ratio alone, and has 1 that are not recorded "
                      "there; at the other 1 only a record looks.", text)

    def test_cells(self):
        for text, wanted in {"BM_A cpu_us": "19 us", "BM_B cpu_us / BM_A cpu_us": "2", "BM_A times|range": "4 (3 to 5)",
                             "BM_A|label": "said", "BM_C cpu_us": "–", "BM_A times|s": "4 s"}.items():
            self.assertEqual(tables.cell(RECORD["cases"], text), wanted)

    def test_numbers_with_units(self):
        for value, counter, wanted in ((980, "cpu_us", "980 us"), (0.6, "cpu_us", "600 ns"), (1049.6, "ms", "1.05 s"),
                                       (641.3, "jobs_per_s", "641"), (178.6, "peak_mb", "179 MB"), (0, "starts", "0")):
            self.assertEqual(tables.with_unit(value, counter), wanted)

    def test_every_place_of_the_templates_can_be_read(self):
        names = {goal["name"] for goal in goals.load(ROOT)}
        for path in (ROOT / "benchmarks/tables").glob("*.md"):
            for place in tables.PLACE.findall(path.read_text(encoding="utf-8")):
                if place.startswith("goal "):
                    self.assertIn(place.removeprefix("goal "), names, path.name)
                else:
                    self.assertEqual(tables.cell({}, place), tables.NOTHING, path.name)


class RecordTest(unittest.TestCase):
    def test_what_google_benchmark_says_becomes_cases(self):
        one = {"name": "BM_A/nodes:1/iterations:1/real_time", "run_type": "iteration", "repetitions": 1,
               "cpu_time": 2.0, "real_time": 3.0, "time_unit": "ms", "label": "said", "peak": 1.234567}
        self.assertEqual(record.cases_of([one]), {"BM_A/nodes:1": {
            "label": "said", "cpu_ns": 2e6, "real_ns": 3e6, "peak": 1.2346}})

    def test_of_rounds_the_median_and_the_range_are_kept(self):
        rounds = [{"name": "BM_A", "run_type": "iteration", "x": x} for x in (3.0, 1.0, 2.0)]
        rounds.append({"name": "BM_A_median", "run_name": "BM_A", "run_type": "aggregate", "x": 9.0})
        self.assertEqual(record.cases_of(rounds), {"BM_A": {"x": [2.0, 1.0, 3.0]}})

    def test_plots_read_records_and_what_google_benchmark_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "some.json")
            record.write(path, RECORD)
            self.assertEqual([run["times"] for run in runs.runs(path) if "times" in run], [4.0, 3.0, 5.0])
            path.write_text(json.dumps({"benchmarks": [{"name": "BM_A", "x": 1.0}, {"run_type": "aggregate"}]}))
            self.assertEqual(runs.runs(path), [{"name": "BM_A", "x": 1.0}])

    def test_what_failed_says_why(self):
        one = {"name": "BM_A", "run_type": "iteration", "error_occurred": True, "error_message": "no"}
        self.assertEqual(record.cases_of([one]), {"BM_A": {"error": "no"}})


class GateTest(unittest.TestCase):
    def test_a_ratio_may_be_worse_by_the_margin_but_not_beyond_its_goal(self):
        bound = {"name": "b", "at_most": 2.0}
        self.assertTrue(gate.holds(bound, 2.6) and not gate.holds(bound, 2.61))
        bound["goal_ratio"] = 2.1
        self.assertTrue(gate.holds(bound, 2.41) and not gate.holds(bound, 2.42))
        bound["missed"] = "known"
        self.assertTrue(gate.holds(bound, 2.6))
        more = {"name": "m", "at_least": 13.0, "goal_ratio": 12.65}
        self.assertTrue(gate.holds(more, 11.1) and not gate.holds(more, 10.9))

    def test_a_goal_in_microseconds_becomes_a_ratio(self):
        values = {"BM_A": {"cpu_us": [12.0, 10.0]}, "BM_Y": {"cpu_us": [5.0, 6.0]}}
        bound = {"name": "b", "over": ["BM_A", "cpu_us"], "under": ["BM_Y", "cpu_us"], "at_most": None}
        ratio = gate.ratio_of(bound, values)
        self.assertEqual(ratio, 2)
        self.assertEqual(gate.goal_ratio_of(GOAL, ratio, values), 4)  # 20 us of 10.

    def test_what_misses_its_goal_is_not_recorded_in_silence(self):
        bound = {"name": "b", "at_most": None}
        self.assertEqual(gate.record([bound], {"b": (3.0, 2.0)}), ["b: 3, goal 2"])
        self.assertEqual(bound, {"name": "b", "at_most": None})
        bound = {"name": "b", "at_most": None, "missed": "known"}
        gate.record([bound], {"b": (3.0, 2.0)})
        self.assertEqual(bound, {"name": "b", "at_most": 3.0, "missed": "known", "goal_ratio": 2.0})

    def test_the_median_of_several_measurements_is_recorded(self):
        rounds = [{"a": (ratio, None), "b": (ratio, 2 * ratio)} for ratio in (5.0, 1.0, 3.0)]
        self.assertEqual(gate.medians(rounds), {"a": (3.0, None), "b": (3.0, 6.0)})

    def test_the_bounds_of_the_repository_are_those_of_the_goals(self):
        bounds = json.loads(gate.BOUNDS.read_text())
        known = {goal["name"]: goal for goal in goals.load(ROOT)}
        self.assertEqual(list(gate.problems(bounds, known)), [])


class Contestant:
    def __init__(self, name):
        self.name, self.flags = name, []


class KubeBench:
    """A bench without a control plane: what it is asked, and figures that are the same each time."""

    def __init__(self):
        self.rack_of = {f"node-{i}": "rack" for i in range(1000)}
        self.turns = []
        self.rate_of = {"kube-scheduler": 100.0, "muster": 500.0, "writes": 550.0}

    def turn(self, workload, contestant):
        self.turns.append((workload.name, contestant.name, tuple(contestant.flags)))
        rate = self.rate_of[contestant.name] + (200 if "--in-flight=16" in contestant.flags else 0)
        total = {"kube-scheduler": 12.0, "muster": 4.0, "writes": 3.0}[contestant.name]
        cpu = {"kube-scheduler": 8.0, "muster": 1.0, "writes": 0.5}[contestant.name]
        return {"per_second": rate, "first_s": 1.0, "total_s": total, "drained_s": total + 2, "events": 5000,
                "writes_per_pod": 2.0, "cpu_ms": cpu, "api_cpu_ms": 2.0, "etcd_cpu_ms": 1.0, "server_cpu_ms": 3.0,
                "other_cores": 0.0}


class KubeTest(unittest.TestCase):
    def setUp(self):
        self.bench = KubeBench()
        self.fields = [Contestant(name) for name in ("kube-scheduler", "muster", "writes")]

    def measure(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            records, medians = bench.measure_workload(
                self.bench, bench.workloads.Workload("BM_Pods", 5000), 3, self.fields)
            bench.print_medians([(bench.workloads.Workload("BM_Pods", 5000), medians)])
            bench.print_goals({records[0]["run_name"]: medians})
        return records, medians, out.getvalue()

    def test_the_whole_work_is_a_ratio_of_its_own(self):
        _, medians, _ = self.measure()
        self.assertEqual(medians["vs_kube_scheduler"], 5)
        self.assertEqual(medians["total_vs_kube_scheduler"], 3)
        self.assertAlmostEqual(medians["drained_vs_kube_scheduler"], 14 / 6)
        self.assertEqual(medians["all_cpu_vs_kube_scheduler"], 11 / 4)

    def test_each_is_first_in_the_middle_and_last(self):
        self.measure()
        names = [name for _, name, _ in self.bench.turns]
        for place in range(3):
            self.assertEqual({names[place], names[3 + place], names[6 + place]}, set(self.bench.rate_of))

    def test_the_ceiling_is_the_fastest_way_to_write(self):
        with contextlib.redirect_stdout(io.StringIO()):
            bench.fastest_writes(self.bench, self.fields[-1], 1000)
        self.assertIn(self.fields[-1].flags, [way for way in bench.CEILINGS if "--in-flight=16" in way])
        self.assertEqual(len(self.bench.turns), len(bench.CEILINGS))

    def test_goals_are_told_as_met_or_missed(self):
        self.assertIn("met     BM_Pods: rate, Muster / kube-scheduler: 5.00, goal 4", self.measure()[2])
        self.bench.rate_of["muster"] = 300.0
        self.assertIn("MISSED  BM_Pods: rate, Muster / kube-scheduler: 3.00, goal 4", self.measure()[2])

    def test_every_counter_of_its_tables_is_there(self):
        records, _, _ = self.measure()
        cases = record.cases_of(records)
        for place in tables.PLACE.findall((ROOT / "benchmarks/tables/kube.md").read_text(encoding="utf-8")):
            if place.startswith("BM_Pods/"):
                self.assertNotEqual(tables.cell(cases, place), tables.NOTHING, place)


if __name__ == "__main__":
    unittest.main()
