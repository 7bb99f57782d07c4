#!/usr/bin/env python3
"""What test/reported.py tells of tests, and when one is tried again: never for what the checker finds."""

import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "kube")]
import reported  # noqa: E402
import stories  # noqa: E402
import testbed  # noqa: E402
from checker import Unsafe  # noqa: E402


def made(**tests):
    """A class with these tests: functions of the test case and of how often it was called before."""
    def method(act):
        tries = []

        def run(self):
            tries.append(1)
            act(self, len(tries) - 1)
        return run

    return type("Fake", (unittest.TestCase,), {name: method(act) for name, act in tests.items()})


def times_out(test, tries):
    raise testbed.TimedOut("not within 60 s: it runs")


def times_out_once(test, tries):
    if tries == 0:
        times_out(test, tries)


def fails_once(test, tries):
    test.assertGreater(tries, 0)


def passes(test, tries):
    pass


class Reports(unittest.TestCase):
    def report(self, *classes, again=testbed.timed_out):
        """Exit code, and by name code and text of each test; what was printed is in `printed`."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        stream = io.StringIO()
        report = reported.Report(folder.name, again, stream)
        suite = unittest.TestSuite(map(unittest.defaultTestLoader.loadTestsFromTestCase, classes))
        self.assertEqual(0, report.run(suite))
        self.printed = stream.getvalue()
        found = {}
        for file in pathlib.Path(folder.name).iterdir():
            first, _, text = file.read_text(encoding="utf-8").partition("\n")
            found[file.name] = (int(first), text)
            shown = subprocess.run(["sh", HERE.parents[1] / "reported.sh", folder.name, file.name],
                                   capture_output=True, text=True, check=False)
            self.assertEqual((int(first), text), (shown.returncode, shown.stdout))
        return found["all"][0], found


class ReportedTest(Reports):
    def test_each_is_told(self):
        code, found = self.report(made(test_a=passes, test_b=lambda test, _: test.skipTest("no GPU"),
                                       test_c=lambda test, _: test.fail("wrong")))
        self.assertEqual(1, code)
        self.assertEqual({"Fake.test_a": 0, "Fake.test_b": 77, "Fake.test_c": 1},
                         {name: one[0] for name, one in found.items() if name != "all"})
        self.assertEqual(self.printed, found["all"][1].removesuffix("\n"))
        self.assertIn("no GPU", found["Fake.test_b"][1])
        self.assertIn("AssertionError: wrong", found["Fake.test_c"][1])

    def test_one_that_prints_the_mark_and_fails_has_failed(self):
        def says_so(test, _):
            print("[  SKIPPED ] not really")
            test.fail("wrong")

        code, found = self.report(made(test_a=says_so))
        self.assertEqual((1, 1), (code, found["Fake.test_a"][0]))

    def test_one_of_several_that_is_skipped_does_not_skip_the_others(self):
        code, _ = self.report(made(test_a=passes, test_b=lambda test, _: test.skipTest("no GPU")))
        self.assertEqual(0, code)
        code, _ = self.report(made(test_b=lambda test, _: test.skipTest("no GPU")))
        self.assertEqual(77, code)

    def test_a_part_that_is_skipped_or_fails_is_the_whole_tests(self):
        def parts(act):
            def run(test, _):
                for number in range(2):
                    with test.subTest(number):
                        if number:
                            act(test)
            return run

        _, found = self.report(made(test_a=parts(lambda test: test.skipTest("no GPU")),
                                    test_b=parts(lambda test: test.fail("wrong"))))
        self.assertEqual((77, 1), (found["Fake.test_a"][0], found["Fake.test_b"][0]))

    def test_what_a_class_sets_up_counts_for_its_tests(self):
        def skips():
            raise unittest.SkipTest("no GPU")

        def fails():
            raise OSError("no disk")

        skipped, broken, torn = (made(test_a=passes) for _ in range(3))
        skipped.__name__ = skipped.__qualname__ = "Skipped"
        skipped.setUpClass = staticmethod(skips)
        code, found = self.report(skipped)
        self.assertEqual((77, 77), (code, found["Skipped.test_a"][0]))
        broken.setUpClass = staticmethod(fails)
        code, found = self.report(broken)
        self.assertEqual((1, 1), (code, found["Fake.test_a"][0]))
        torn.tearDownClass = staticmethod(fails)
        self.assertEqual(1, self.report(torn)[0])

    def test_without_what_they_need_all_are_skipped(self):
        stream = io.StringIO()
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(made(test_a=passes, test_b=passes))
        self.assertEqual(77, reported.Report(stream=stream).skip(suite, "no control plane"))
        self.assertIn("no control plane", stream.getvalue())

    def test_without_a_folder_the_exit_code_says_it(self):
        for act, code in ((passes, 0), (fails_once, 1), (lambda test, _: test.skipTest("no GPU"), 77)):
            suite = unittest.defaultTestLoader.loadTestsFromTestCase(made(test_a=act))
            self.assertEqual(code, reported.Report(stream=io.StringIO()).run(suite))

    def test_a_time_out_is_tried_again_once_and_told(self):
        code, found = self.report(made(test_a=times_out_once, test_b=passes))
        self.assertEqual((0, 0), (code, found["Fake.test_a"][0]))
        self.assertIn("tried again after a time-out: Fake.test_a", self.printed)
        self.assertIn("tried again", found["Fake.test_a"][1])
        self.assertNotIn("tried again", found["Fake.test_b"][1])
        code, found = self.report(made(test_a=times_out))
        self.assertEqual((1, 1), (code, found["Fake.test_a"][0]))

    def test_nothing_else_is_tried_again(self):
        def both(test, tries):
            if tries == 0:
                test.addCleanup(test.fail, "something is left")
                times_out(test, tries)

        def of_another_error(test, tries):
            if tries == 0:
                try:
                    raise KeyError("phase")
                except KeyError:
                    times_out(test, tries)

        for once in (fails_once, both, of_another_error):
            with self.subTest(once.__name__):
                code, found = self.report(made(test_a=once))
                self.assertEqual((1, 1), (code, found["Fake.test_a"][0]))
                self.assertNotIn("tried again", self.printed)

    def test_many_time_outs_are_no_accident(self):
        code, _ = self.report(made(test_a=times_out_once, test_b=times_out_once, test_c=times_out_once))
        self.assertEqual(1, code)
        self.assertNotIn("tried again", self.printed)

    def test_scripts_that_do_not_want_it_try_nothing_again(self):
        self.assertEqual(1, self.report(made(test_a=times_out_once), again=None)[0])


class FakeChecker:
    """Finds what `finds` has, once for each time that it is asked."""

    finds = []
    asked = 0

    def __init__(self, plane, schedulers):
        pass

    def check(self):
        FakeChecker.asked += 1
        if FakeChecker.finds and (found := FakeChecker.finds.pop(0)):
            raise found

    def stop(self):
        pass


class EndTest(Reports):
    """The end of each test on a control plane."""

    def run_story(self, act, *finds, set_up=stories.ClusterTest.setUp):
        FakeChecker.finds, FakeChecker.asked = list(finds), 0
        tries = []

        class Story(stories.ClusterTest):
            shared = False
            start_plane = classmethod(lambda cls: testbed_of_nothing)
            setUp = set_up

            def test_it(self):
                tries.append(1)
                act(self, len(tries) - 1)

        testbed_of_nothing = unittest.mock.MagicMock()
        with unittest.mock.patch.object(stories, "Checker", FakeChecker):
            code, found = self.report(Story)
        self.assertEqual(code, found["Story.test_it"][0])
        return code, len(tries), found["Story.test_it"][1]

    def test_a_test_that_passes_asks_the_checker(self):
        code, tries, _ = self.run_story(passes)
        self.assertEqual((0, 1, 1), (code, tries, FakeChecker.asked))

    def test_what_the_checker_finds_once_fails_for_good(self):
        code, tries, text = self.run_story(passes, Unsafe("node-0 has 2 GPUs, and 3 are used"))
        self.assertEqual((1, 1), (code, tries))
        self.assertIn("3 are used", text)

    def test_a_time_out_alone_is_tried_again_and_the_checker_asked_both_times(self):
        code, tries, text = self.run_story(times_out_once)
        self.assertEqual((0, 2, 2), (code, tries, FakeChecker.asked))
        self.assertIn("tried again", text)

    def test_a_time_out_hides_nothing_that_the_checker_finds(self):
        code, tries, text = self.run_story(times_out_once, Unsafe("a gang is in part"))
        self.assertEqual((1, 1), (code, tries))
        self.assertIn("a gang is in part", text)
        self.assertIn("not within 60 s", text)

    def test_it_is_asked_where_the_set_up_fails(self):
        for found, expected in ((None, (0, 2)), (Unsafe("a gang is in part"), (1, 1))):
            set_ups = []

            def set_up(test):
                stories.ClusterTest.setUp(test)
                set_ups.append(1)
                times_out_once(test, len(set_ups) - 1)

            code, _, _ = self.run_story(passes, found, set_up=set_up)
            self.assertEqual(expected, (code, len(set_ups)))
            self.assertEqual(len(set_ups), FakeChecker.asked)

    def test_what_the_checker_finds_in_the_second_try_counts(self):
        code, tries, _ = self.run_story(times_out_once, None, Unsafe("a gang is in part"))
        self.assertEqual((1, 2), (code, tries))

    def test_a_checker_that_cannot_be_asked_is_no_word_for_it(self):
        code, tries, text = self.run_story(times_out_once, OSError("refused"))
        self.assertEqual((1, 1), (code, tries))
        self.assertIn("cannot be asked", text)


if __name__ == "__main__":
    reported.main()
