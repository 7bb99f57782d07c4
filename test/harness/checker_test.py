#!/usr/bin/env python3
"""What test/kube/checker.py finds, told changes by a control plane that is none; and that it has the last
word in each test of test/kube."""

import contextlib
import importlib
import itertools
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve()
KUBE = HERE.parents[1] / "kube"
sys.path[:0] = [str(HERE.parents[1]), str(KUBE)]
import checker  # noqa: E402
import reported  # noqa: E402
import stories  # noqa: E402
import testbed  # noqa: E402
from checker import Checker, Unsafe  # noqa: E402

# Classes of test/kube in whose tests there is no cluster at all, or nothing in it.
WITHOUT_CLUSTER = {"control_plane_test.EndTest", "deploy_test.ContainerfileTest", "go_test.GoTest"}


class Plane:
    """Serves lists that are `there`, and watches that say what is put into their queue."""

    def __init__(self):
        self.there = {}
        self.watches = {kind: queue.Queue() for kind in ("nodes", "podgroups", "pods")}
        self.versions = itertools.count(1)

    def api(self, method, path, *_):
        if method == "DELETE":
            name = path.split("/")[-1].split("?")[0]
            self.tell("pods", "DELETED", pod(name, scheduler="nobody"))
            return 200, {}
        return 200, {"items": self.there.get(path.split("/")[-1], []), "metadata": {"resourceVersion": "1"}}

    def create(self, _, body):
        self.tell("pods", "ADDED", pod(body["metadata"]["name"], scheduler="nobody"))

    @contextlib.contextmanager
    def open(self, path):
        answer = unittest.mock.MagicMock(status=200)
        answer.__iter__.return_value = iter(self.watches[path.split("?")[0].split("/")[-1]].get, None)
        yield answer

    def tell(self, kind, change, one):
        one["metadata"]["resourceVersion"] = str(next(self.versions))
        self.watches[kind].put(json.dumps({"type": change, "object": one}))

    def list_again(self, kind):
        self.watches[kind].put(json.dumps({"type": "ERROR", "object": {}}))


def node(name="node-0", gpus=4):
    return {"metadata": {"name": name, "uid": name},
            "status": {"allocatable": {"nvidia.com/gpu": str(gpus), "cpu": "8", "memory": "8Gi", "pods": "10"}}}


def pod(name, on=None, gpus=1, phase="Pending", scheduler="muster", group=None, reason=None, allocated=None):
    one = {"metadata": {"name": name, "uid": name, "namespace": "default"},
           "spec": {"schedulerName": scheduler, "containers": [
               {"name": "main", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}]},
           "status": {"phase": phase}}
    if on:
        one["spec"]["nodeName"] = on
    if group:
        one["spec"]["schedulingGroup"] = {"podGroupName": group}
    if reason:
        one["status"]["reason"] = reason
    if allocated is not None:
        one["status"]["containerStatuses"] = [
            {"name": "main", "allocatedResources": {"nvidia.com/gpu": str(allocated)}}]
    return one


def group(name, minimum):
    return {"metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}}}


class CheckerTest(unittest.TestCase):
    def setUp(self):
        self.plane = Plane()
        self.plane.there["nodes"] = [node()]
        self.checker = Checker(self.plane)
        self.addCleanup(self.end)
        patch = unittest.mock.patch.object(checker, "KNOWN_AFTER", 0.05)
        patch.start()
        self.addCleanup(patch.stop)

    def end(self):
        self.checker.stop()
        for watch in self.plane.watches.values():
            watch.put(None)

    def bind(self, name, on="node-0", **more):
        self.plane.tell("pods", "ADDED", pod(name, **more))
        self.plane.tell("pods", "MODIFIED", pod(name, on, **more))

    def change(self, *arguments, **more):
        self.plane.tell("pods", "MODIFIED", pod(*arguments, **more))

    def finds(self, text):
        with self.assertRaisesRegex(Unsafe, text):
            self.checker.check(0.1)

    def runs_foreign(self, gpus, since=0.1):
        """A pod that was created on the node, and is known to run there."""
        self.plane.tell("pods", "ADDED", pod("foreign", "node-0", gpus))
        self.change("foreign", "node-0", gpus, "Running")
        self.checker.catch_up()
        time.sleep(since)

    def test_what_fits_is_right(self):
        for i in range(4):
            self.bind(f"p{i}")
        self.change("p0", "node-0", phase="Succeeded")
        self.bind("p4")
        self.checker.check(0.1)

    def test_one_too_many(self):
        for i in range(5):
            self.bind(f"p{i}")
        self.finds("has 4.0 nvidia.com/gpu, and 5.0 are used with pod p4")

    def test_two_nodes_for_one_pod(self):
        self.bind("p0")
        self.change("p0", "node-1")
        self.finds("pod p0 was on node-0, and is on node-1")

    def test_a_kubelet_that_refuses_a_bound_pod(self):
        self.bind("p0")
        self.change("p0", "node-0", phase="Failed", reason="OutOfcpu")
        self.finds("OutOfcpu")

    def test_a_gang_in_part(self):
        self.plane.tell("podgroups", "ADDED", group("g", 3))
        self.bind("p0", group="g")
        self.bind("p1", group="g")
        self.finds("in part")
        self.checker.errors.clear()
        self.bind("p2", group="g")
        self.checker.check(0.1)

    def test_a_foreign_pod_that_the_kubelet_refuses_is_nobodys_fault(self):
        for i in range(4):
            self.bind(f"p{i}", phase="Running")
        self.plane.tell("pods", "ADDED", pod("thief", "node-0", 2))
        self.plane.tell("pods", "ADDED", pod("other", "node-0", 2, scheduler="default-scheduler"))
        for name in ("thief", "other"):
            self.change(name, "node-0", 2, "Failed", reason="OutOfnvidia.com/gpu")
        self.checker.check(0.1)

    def test_a_binding_beside_a_foreign_pod_that_runs_is_the_schedulers_fault(self):
        self.runs_foreign(3)
        self.bind("p0", gpus=2)
        self.finds("5.0 are used with pod p0")

    def test_a_binding_beside_a_foreign_pod_that_nobody_knew_of_is_not(self):
        self.plane.tell("pods", "ADDED", pod("foreign", "node-0", 3))
        self.bind("p0", gpus=2)
        self.change("foreign", "node-0", 3, "Running")
        self.change("p0", "node-0", 2, "Failed", reason="OutOfnvidia.com/gpu")
        self.checker.check(0.1)
        # Without it there would have been no room either.
        self.bind("p1", gpus=5)
        self.finds("used with pod p1")

    def test_a_resize_that_the_kubelet_has_not_carried_out_takes_nothing(self):
        self.bind("p0", phase="Running")
        self.change("p0", "node-0", 4, "Running", allocated=1)
        self.bind("p1", gpus=3, phase="Running")
        self.checker.check(0.1)

    def test_a_resize_that_it_has_does(self):
        self.bind("p0", phase="Running")
        self.change("p0", "node-0", 2, "Running", allocated=2)
        self.checker.check(0.1)
        self.bind("p1", gpus=3)
        self.finds("5.0 are used with pod p1")

    def test_a_resize_past_the_node_is_no_binding(self):
        self.bind("p0", gpus=3, phase="Running")
        self.change("p0", "node-0", 9, "Running")
        self.checker.check(0.1)

    def test_foreign_pods_are_no_gang(self):
        self.plane.tell("podgroups", "ADDED", group("g", 3))
        self.plane.tell("pods", "ADDED", pod("p0", "node-0", group="g"))
        self.checker.check(0.1)
        self.bind("p1", group="g")
        self.finds("in part")

    def test_what_ran_when_its_minimum_was_raised_goes_on(self):
        self.plane.tell("podgroups", "ADDED", group("g", 2))
        self.bind("p0", group="g")
        self.bind("p1", group="g")
        self.checker.catch_up()
        self.plane.tell("podgroups", "MODIFIED", group("g", 4))
        self.checker.check(0.1)
        self.plane.tell("pods", "DELETED", pod("p0", "node-0", group="g"))
        self.finds("in part")

    def test_a_minimum_that_was_raised_before_counts(self):
        self.plane.tell("podgroups", "ADDED", group("g", 1))
        self.plane.tell("podgroups", "MODIFIED", group("g", 3))
        self.checker.wait("it is known", lambda: self.checker.minimum.get(("default", "g")) == 3, 5)
        self.bind("p0", group="g")
        self.finds("in part")

    def test_a_list_is_looked_at_as_a_whole(self):
        """p0 has ended while the watch was away, and its place was taken."""
        self.bind("p0", gpus=4, phase="Running")
        self.checker.catch_up()
        self.plane.there["pods"] = [pod("a", "node-0", 4), pod("p0", "node-0", 4, "Succeeded")]
        self.plane.list_again("pods")
        self.checker.wait("it is listed", lambda: "a" in self.checker.pods, 5)
        self.checker.check(0.1)
        self.plane.there["pods"].append(pod("b", "node-0", 1))
        self.plane.list_again("pods")
        self.checker.wait("it is listed", lambda: "b" in self.checker.pods, 5)
        self.finds("5.0 are used with pod b")

    def test_what_was_there_before_is_not_looked_at(self):
        self.plane.there["pods"] = [pod("p0", "node-0", 4), pod("p1", "node-0", 1),
                                    pod("p2", "node-0", 1, "Failed", reason="OutOfcpu")]
        late = Checker(self.plane)
        self.addCleanup(late.stop)
        self.assertEqual([], late.errors)
        late._pod("MODIFIED", pod("p2", "node-0", 1, "Failed", reason="OutOfcpu"))
        late._check_room()
        self.assertEqual([], late.errors)
        for change, on in (("ADDED", None), ("MODIFIED", "node-0")):
            late._pod(change, pod("p3", on))
        late._check_room()
        self.assertRegex("".join(late.errors), "6.0 are used with pod p3")

    def test_quantities(self):
        for text, thousandths in (("2", 2000), ("100m", 100), ("1500u", 2), ("2k", 2 * 10**6), ("1Ki", 1024 * 1000),
                                  ("1e18", 10**21), ("100000E", 10**26), ("9223372036854775807", 9223372036854775807000),
                                  ("1.5Gi", 3 * 2**29 * 1000), ("5E3", 5 * 10**6), (4, 4000)):
            self.assertEqual(thousandths, checker.quantity(text), text)

    def test_what_it_does_not_understand_is_no_silence(self):
        self.bind("p0", gpus="much")
        self.finds("does not understand")

    def test_nobody_can_tell_if_the_checker_hears_nothing(self):
        self.plane.create = lambda *_: None
        with unittest.mock.patch.object(self.checker, "wait", side_effect=lambda what, condition: Checker.wait(
                self.checker, what, condition, 0.1)):
            self.finds("up to date")


class LastWordTest(unittest.TestCase):
    """Of each test in test/kube."""

    def test_each_test_ends_with_the_checker(self):
        scripts = sorted(KUBE.glob("*_test.py"))
        self.assertGreater(len(scripts), 15)
        without = set()
        for script in scripts:
            with unittest.mock.patch.object(sys, "argv", [str(script)]):
                module = importlib.import_module(script.stem)
            for one in reported.tests_in(unittest.defaultTestLoader.loadTestsFromModule(module)):
                name = f"{script.stem}.{type(one).__name__}"
                if not isinstance(one, stories.ClusterTest):
                    without.add(name)
                    continue
                with self.subTest(one.id()):
                    self.assertTrue(self.is_asked(one), "the checker is not asked at its end")
        self.assertEqual(WITHOUT_CLUSTER, without)

    def test_each_script_knows_its_arguments(self):
        """Without a control plane: all tests are skipped, and told by their names."""
        with tempfile.TemporaryDirectory() as folder:
            for script in sorted(KUBE.glob("*_test.py")):
                with self.subTest(script.name):
                    results = pathlib.Path(folder, script.stem)
                    program = ["muster-kube"] if "    muster.main()" in script.read_text(encoding="utf-8") else []
                    done = subprocess.run([sys.executable, script, *program], capture_output=True, text=True, env={
                        **os.environ, "MUSTER_KUBE_CACHE": folder, "MUSTER_RESULTS": str(results)}, check=False)
                    self.assertEqual((0, "77"), (done.returncode, (results / "all").read_text()[:2]), done.stderr)
                    listed = subprocess.run([sys.executable, HERE.parents[1] / "reported.py", "--list", script],
                                            capture_output=True, text=True, check=True).stdout
                    self.assertEqual({line.split(":")[1] for line in listed.split()} | {"all"},
                                     {file.name for file in results.iterdir()})

    def test_a_cluster_of_which_something_is_lost_is_never_tried_again(self):
        with unittest.mock.patch.object(sys, "argv", ["checker_test.py"]):
            story = importlib.import_module("muster").StoryTest
        one = unittest.mock.MagicMock()
        one.checker.wait.side_effect = testbed.TimedOut("not within 30 s: a gang has the whole cluster")
        with self.assertRaisesRegex(Unsafe, "the whole cluster") as found:
            story.run_on_all_nodes(one)
        self.assertFalse(testbed.timed_out(found.exception))

    @staticmethod
    def is_asked(test):
        """Whether the checker is, in all ways in which it ends. What it does before is left out."""
        cls, name = type(test), test._testMethodName
        asked = []

        def of(**more):
            with unittest.mock.patch.object(cls, name, **more):
                one = cls(name)
            one.checker, one.plane, one.muster = unittest.mock.MagicMock(), unittest.mock.MagicMock(), None
            one.checker.check.side_effect = Unsafe("found")
            try:
                getattr(one, name)()
            except Unsafe:
                asked.append(one.checker.check.called)

        of(new=lambda self: None)
        of(new=lambda self: self.fail("wrong"))
        return asked == [True, True]


if __name__ == "__main__":
    reported.main()
