"""Runs the tests of a script and tells of each: ctest shows every one by its name.

A script ends with `reported.main()` in place of `unittest.main()`. What became of each test is
written into the folder that MUSTER_RESULTS names, one file a test: its exit code as ctest has
them (0, 1, 77 for skipped) in the first line, and what there is to say behind it; likewise of the
script as a whole in `all`. The tests that ctest shows read them (reported.sh), and the script ends
with 0 where they are written. Else it says itself what became of it, 77 only where nothing ran.

    reported.py --list SCRIPT...      prints SCRIPT:Class.test of all tests that are in them
"""

import faulthandler
import importlib.util
import io
import os
import pathlib
import sys
import traceback
import unittest

PASSED, FAILED, SKIPPED = 0, 1, 77


def name_of(test):
    """Class.test; of a subtest: of the test that it is a part of."""
    test = getattr(test, "test_case", test)
    return ".".join(test.id().split(".")[-2:])


def tests_in(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from tests_in(one)
        else:
            yield one


class _Outcome:
    """What became of one test."""

    def __init__(self):
        self.done = False
        self.failures = []  # Exceptions.
        self.texts = []
        self.skips = []  # Why it, or a part of it, was not run.

    def code(self):
        if self.failures or not (self.done or self.skips):
            return FAILED
        return SKIPPED if self.skips else PASSED

    def text(self):
        if not (self.failures or self.done or self.skips):
            return "it was not run: see what its script says"
        return "\n".join(self.texts + [f"[  SKIPPED ] {why}" for why in self.skips])


class _Result(unittest.TextTestResult):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.outcomes = {}
        self.tell = lambda name: None  # Called when a test is over.

    def outcome(self, test):
        return self.outcomes.setdefault(name_of(test), _Outcome())

    def _failed(self, test, error):
        outcome = self.outcome(test)
        outcome.failures.append(error[1])
        outcome.texts.append("".join(traceback.format_exception(*error)))

    def stopTest(self, test):
        super().stopTest(test)
        self.tell(name_of(test))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.outcome(test).done = True

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome(test).skips.append(reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.outcome(test).done = True

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        error = AssertionError("it passed, and was expected to fail")
        self._failed(test, (AssertionError, error, None))

    def of_class(self, name):
        """What became of setUpClass, by a test's name; None: nothing bad."""
        for key, outcome in self.outcomes.items():
            # unittest calls it `setUpClass (module.Class)`.
            if key.endswith(f".{name.split('.')[0]})") or key == f"setUpClass ({name.split('.')[0]})":
                return outcome
        return None


class _Twice(io.StringIO):
    """Keeps what it writes to another stream."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream

    def write(self, text):
        self.stream.write(text)
        return super().write(text)

    def flush(self):
        self.stream.flush()


class Report:
    """Runs tests, and writes down what became of them."""

    def __init__(self, folder=None, again=None, stream=None):
        """`again`: whether an exception is one for which a test is tried a second time."""
        self.folder = pathlib.Path(folder) if folder else None
        self.again = again
        self.stream = _Twice(stream or sys.stderr)
        self.codes = {}

    def say(self, text):
        print(text, file=self.stream, flush=True)

    def write(self, name, code, text):
        self.codes[name] = code
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(f"{code}\n{text}\n", encoding="utf-8")

    def forget(self):
        """What an earlier run has left."""
        if self.folder and self.folder.is_dir():
            for file in self.folder.iterdir():
                file.unlink()

    def end(self):
        """The exit code of all; where it is written down, that is enough."""
        codes = set(self.codes.values())
        code = FAILED if FAILED in codes else SKIPPED if codes == {SKIPPED} else PASSED
        self.write("all", code, self.stream.getvalue())
        return PASSED if self.folder else code

    def skip(self, suite, why):
        self.forget()
        for one in tests_in(suite):
            self.write(name_of(one), SKIPPED, f"[  SKIPPED ] {why}")
        self.say(f"[  SKIPPED ] {why}")
        return self.end()

    def run(self, suite):
        names = [name_of(one) for one in tests_in(suite)]
        tests = {name_of(one): one for one in tests_in(suite)}
        self.forget()
        for name in names:
            self.codes[name] = FAILED  # Until it is known.
        first = self._run(unittest.TestSuite(suite), names)
        results = [first]
        failed = [name for name in names if self.codes[name] == FAILED]
        again = [name for name in failed if self._may_go_again(first.outcomes.get(name))]
        if again and len(failed) < 3:
            self.say(f"tried again after a time-out: {' '.join(again)}")
            fresh = [type(tests[name])(tests[name]._testMethodName) for name in again]
            results.append(self._run(unittest.TestSuite(fresh), again, first.outcomes))
        for name, one in [pair for result in results for pair in result.outcomes.items()]:
            if name not in names and one.failures:  # Of a class: what it sets up or takes down.
                self.write(name, FAILED, one.text())
        return self.end()

    def _may_go_again(self, outcome):
        return bool(self.again and outcome and outcome.failures and not outcome.skips
                    and all(self.again(error) for error in outcome.failures))

    def _run(self, suite, names, before=None):
        def code_and_text(name):
            outcome = result.outcomes.get(name) or result.of_class(name) or _Outcome()
            text = outcome.text()
            if before is not None:
                text = f"tried again after a time-out:\n{before[name].text()}\nthe second time:\n{text}"
            return outcome.code(), text

        def told(*arguments, **more):
            nonlocal result
            result = _Result(*arguments, **more)
            result.tell = lambda name: self.write(name, *code_and_text(name))
            return result

        result = None
        unittest.TextTestRunner(self.stream, verbosity=2, resultclass=told).run(suite)
        for name in names:
            self.write(name, *code_and_text(name))
        return result


def main(skip=None, again=None):
    """Runs the tests of the script, those that its arguments name, and ends the program.
    `skip`: why none of them can run here. `again`: as of Report."""
    limit = float(os.environ.get("MUSTER_TIME_LIMIT", 0))
    if limit > 20:  # ctest kills without a word: this says where it hangs.
        faulthandler.dump_traceback_later(limit - 10)
    names = [one for one in sys.argv[1:] if not one.startswith("-")]
    loader = unittest.defaultTestLoader
    module = sys.modules["__main__"]
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    report = Report(os.environ.get("MUSTER_RESULTS"), again)
    sys.exit(report.skip(suite, skip) if skip else report.run(suite))


def list_tests(scripts):
    """Prints what is in them. They are imported, in one process: of one folder."""
    sys.argv[1:] = []
    for script in map(pathlib.Path, scripts):
        sys.path.insert(0, str(script.parent.resolve()))
        spec = importlib.util.spec_from_file_location(script.stem, script)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for one in tests_in(unittest.defaultTestLoader.loadTestsFromModule(module)):
            print(f"{script.stem}:{name_of(one)}")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--list"]:
        sys.exit(__doc__)
    list_tests(sys.argv[2:])
