#!/usr/bin/env python3
"""What ctest knows of all tests, and what .ci/skips.py makes of a run of it.

    ctest_test.py BUILD MARKS        MARKS is the program of marks.cc
"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / ".ci")]
import reported  # noqa: E402
import skips  # noqa: E402

MOST_SECONDS = 1800
DISABLED = {"wire_replay_test/GoldenTest.WriteThisVersion"}
STORY = """
import sys
sys.path.insert(0, {path!r})
import unittest
import reported

class StoryTest(unittest.TestCase):
    def test_passes(self):
        pass
    def test_is_skipped(self):
        self.skipTest("for want of everything")
    {more}

reported.main()
"""
PRINTS_AND_FAILS = """
    def test_says_so_and_fails(self):
        print("[  SKIPPED ] but no")
        self.fail()
"""
HANGS = """
    def test_hangs(self):
        import pathlib, subprocess, time
        sys.path.insert(0, {path!r})
        from daemon import ENDS_WITH_US
        child = subprocess.Popen([*ENDS_WITH_US, "sleep", "1000"], start_new_session=True)
        pathlib.Path({pid!r}).write_text(str(child.pid))
        time.sleep(1000)
"""


class PropertiesTest(unittest.TestCase):
    """Of each test that ctest has."""

    @classmethod
    def setUpClass(cls):
        told = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, text=True,
                              check=True).stdout
        cls.tests = {}
        for one in json.loads(told)["tests"]:
            if not one["name"].endswith("_NOT_BUILT"):  # Of programs that nobody has built.
                cls.tests[one["name"]] = {each["name"]: each["value"] for each in one.get("properties", [])}

    def test_there_are_many(self):
        self.assertGreater(len(self.tests), 100)

    def test_each_has_a_time_limit(self):
        self.assertEqual([], [name for name, has in self.tests.items()
                              if not 0 < has.get("TIMEOUT", 0) <= MOST_SECONDS])

    def test_none_is_skipped_for_what_it_prints(self):
        self.assertEqual([], [name for name, has in self.tests.items() if "SKIP_REGULAR_EXPRESSION" in has])

    def test_none_passes_by_what_it_prints_or_by_failing(self):
        self.assertEqual([], [name for name, has in self.tests.items()
                              if "PASS_REGULAR_EXPRESSION" in has or has.get("WILL_FAIL")])

    def test_none_is_disabled_but_what_writes_files(self):
        self.assertLessEqual({name for name, has in self.tests.items() if has.get("DISABLED")}, DISABLED)


class MarksTest(unittest.TestCase):
    """The main that tests have in place of GoogleTest's."""

    def run_marks(self, which):
        return subprocess.run([MARKS, f"--gtest_filter=Marks.{which}"],
                              capture_output=True, text=True, check=False)

    def test_codes(self):
        for which, code in (("Passes", 0), ("IsSkipped", 77), ("*Fails", 1), ("Passes:*.IsSkipped", 0),
                            ("IsSkipped:*Fails", 1), ("*", 1)):
            with self.subTest(which):
                self.assertEqual(code, self.run_marks(which).returncode)

    def test_it_prints_the_mark(self):
        self.assertIn("[  SKIPPED ]", self.run_marks("*Fails").stdout)


class SkipsTest(unittest.TestCase):
    """A run of ctest with tests as the build makes them, and what is said of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.lines = []

    def add(self, name, *command, **properties):
        words = " ".join(f'"{word}"' for word in command)
        more = " ".join(f'{key} "{value}"' for key, value in {"SKIP_RETURN_CODE": 77, **properties}.items())
        self.lines += [f'add_test("{name}" {words})', f'set_tests_properties("{name}" PROPERTIES {more})']

    def add_mark(self, which):
        self.add(f"marks/{which}", MARKS, f"--gtest_filter=Marks.*{which}")

    def add_story(self, more="", **properties):
        """As muster_story does (cmake/MusterStories.cmake)."""
        script, results = self.folder / "story.py", self.folder / "results"
        script.write_text(STORY.format(path=str(ROOT / "test"), more=more), encoding="utf-8")
        self.add("story/run", sys.executable, str(script), FIXTURES_SETUP="story",
                 ENVIRONMENT=f"MUSTER_RESULTS={results}", **properties)
        for name, test in (("story", "all"), ("story/passes", "StoryTest.test_passes"),
                           ("story/is_skipped", "StoryTest.test_is_skipped")):
            self.add(name, "sh", str(ROOT / "test/reported.sh"), str(results), test, FIXTURES_REQUIRED="story")

    def run_them(self):
        (self.folder / "CTestTestfile.cmake").write_text("\n".join(self.lines), encoding="utf-8")
        return subprocess.run(["ctest", "--test-dir", self.folder, "--output-junit", "Testing/junit.xml"],
                              capture_output=True, text=True, check=False)

    def judge(self, *allowed, whole=False):
        """Exit code and output of .ci/skips.py."""
        file = self.folder / "list"
        file.write_text("\n".join(allowed), encoding="utf-8")
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            code = skips.main([str(self.folder), "--list", str(file), *(["--ci"] if whole else [])])
        return code, told.getvalue()

    def test_a_test_that_says_it_is_skipped_and_fails_has_failed(self):
        self.add_mark("Fails")
        ran = self.run_them()
        self.assertNotEqual(0, ran.returncode)
        self.assertIn("1 tests failed out of 1", ran.stdout)

    def test_so_has_one_in_a_script_of_several(self):
        self.add_story(PRINTS_AND_FAILS)
        ran = self.run_them()
        self.assertNotEqual(0, ran.returncode)
        self.assertRegex(ran.stdout, r"story \.*\*\*\*Failed")

    def test_one_that_hangs_is_ended_and_what_it_started_too(self):
        pid = self.folder / "pid"
        self.add_story(HANGS.format(path=str(ROOT / "test/local"), pid=str(pid)), TIMEOUT=10)
        ran = self.run_them()
        self.assertRegex(ran.stdout, r"story/run \.*\*\*\*Timeout")
        state = pathlib.Path("/proc", pid.read_text(encoding="utf-8"), "stat")
        self.assertTrue(not state.exists() or ") Z " in state.read_text(encoding="utf-8"))

    def test_what_is_skipped_is_shown_with_its_reason(self):
        self.add_mark("IsSkipped")
        self.add_mark("Passes")
        self.add_story()
        ran = self.run_them()
        self.assertEqual(0, ran.returncode, ran.stdout)
        self.assertRegex(ran.stdout, r"story/is_skipped \.*\*\*\*Skipped")
        self.assertRegex(ran.stdout, r"story/passes \.* +Passed")
        allowed = ("marks/* | machine | want of everything", "story/* | setup | want of everything")
        code, told = self.judge(*allowed)
        self.assertEqual(0, code, told)
        self.assertIn("for want of everything\n    marks/IsSkipped\n    story/is_skipped\n", told)
        self.assertIn("6 tests known, 2 skipped, 0 tried again", told)
        code, told = self.judge(*allowed, whole=True)
        self.assertEqual(1, code)
        self.assertIn("for want of an installation: for want of everything\n    story/is_skipped\n", told)

    def test_one_more_that_is_skipped_is_seen(self):
        self.add_mark("IsSkipped")
        self.run_them()
        for allowed in ("other/* | machine | want", "marks/* | machine | no GPU"):
            code, told = self.judge(allowed)
            self.assertEqual(1, code)
            self.assertIn("skipped, and not in the list: for want of everything\n    marks/IsSkipped", told)

    def test_one_that_is_not_there_is_seen(self):
        self.add_mark("Passes")
        self.run_them()
        self.assertEqual(0, self.judge("marks/* | there", whole=True)[0])
        self.assertEqual(0, self.judge("kube/* | there")[0])
        code, told = self.judge("kube/* | there", whole=True)
        self.assertEqual(1, code)
        self.assertIn("no test of this name\n    kube/*", told)
        for value, expected in (("OFF", 0), ("ON", 1)):
            (self.folder / "CMakeCache.txt").write_text(f"MUSTER_X:BOOL={value}\n", encoding="utf-8")
            self.assertEqual(expected, self.judge("kube/* | there | MUSTER_X", whole=True)[0])

    def test_one_that_did_not_run_is_seen(self):
        self.add("none", "/no/such/program")
        self.run_them()
        code, told = self.judge()
        self.assertEqual(1, code)
        self.assertIn("did not run", told)

    def test_what_was_tried_again_is_counted(self):
        self.add("again", "echo", "tried again after a time-out: it runs")
        self.run_them()
        code, told = self.judge()
        self.assertEqual(0, code)
        self.assertIn("0 skipped, 1 tried again", told)

    def test_a_line_that_cannot_be_read_is_an_error(self):
        with self.assertRaises(SystemExit):
            skips.read_list("kube/* | perhaps | why")

    def test_the_list_of_the_repository_can_be_read(self):
        allowed, there = skips.read_list((ROOT / ".ci/skips.txt").read_text(encoding="utf-8"))
        self.assertTrue(allowed)
        self.assertTrue(there)


if __name__ == "__main__":
    BUILD, MARKS = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
    del sys.argv[1:3]
    reported.main()
