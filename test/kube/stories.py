"""What all tests on a control plane share: the control plane, and the end of each test, at which a
checker that reads the API server alone has the word."""

import functools
import pathlib
import sys
import unittest

import testbed
from checker import Checker, Unsafe

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import reported  # noqa: E402

DEFAULT = "/api/v1/namespaces/default"
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"


class ClusterTest(unittest.TestCase):
    """Each test has a control plane of its own, or, if `shared`, those of a class have one together. Each
    ends with the checker, whatever its author has forgotten: `finish` is called behind it, and behind a test
    that has failed the checker alone. What that finds is the result, and not what else was wrong."""

    flags = ("--nodes=2", "--gpus=2")
    shared = True
    schedulers = ("muster",)  # Whose bindings are looked at.
    plane = None

    def __init__(self, name="runTest"):
        super().__init__(name)
        story = getattr(self, name)

        @functools.wraps(story)
        def to_the_end():
            self.came_to_its_end = True
            try:
                story()
                self.finish()
            except (unittest.SkipTest, Unsafe):
                raise
            except Exception as error:
                self.look_for_worse(error)
                raise

        setattr(self, name, to_the_end)

    def look_once(self):
        """Where setUp has failed, and so there was no test."""
        if not self.came_to_its_end:
            self.checker.check()

    def look_for_worse(self, error):
        try:
            self.checker.check()
        except Unsafe:
            raise  # With the other error as its context.
        except Exception as other:
            raise Unsafe(f"the checker cannot be asked: {other}") from error

    @classmethod
    def start_plane(cls):
        return testbed.Testbed(*cls.flags)

    @classmethod
    def prepare(cls, plane):
        """Installs what is needed. Returns the kubeconfig of the program under test."""

    @classmethod
    def setUpClass(cls):
        if cls.shared:
            cls.plane = cls.start_plane()
            cls.addClassCleanup(cls.plane.__exit__)
            cls.kubeconfig = cls.prepare(cls.plane)

    def setUp(self):
        if not self.shared:
            self.plane = self.start_plane()
            self.addCleanup(self.plane.__exit__)
            self.kubeconfig = self.prepare(self.plane)
        self.checker = Checker(self.plane, self.schedulers)
        self.addCleanup(self.checker.stop)
        self.came_to_its_end = False
        self.addCleanup(self.look_once)

    def finish(self):
        """The end of each test."""
        self.checker.check()


def main():
    reported.main(skip=testbed.missing(), again=testbed.timed_out)
