#!/usr/bin/env python3
"""muster-kube is killed, and its watches break, at each point of what it does.

    faults_test.py MUSTER_KUBE

A proxy between muster-kube and the API server passes on one write at a time, so that "after the
third binding, before its answer" is a place at which to kill it.
"""

import threading

import muster
from muster import DEFAULT, pod
from proxy import At, Cut, ProxiedTest


class KillTest(ProxiedTest):
    flags = ("--nodes=5", "--gpus=2")
    shared = True

    def start(self):
        self.proxy.before = self.proxy.after = lambda request: None
        self.run_muster(kubeconfig=self.proxy.kubeconfig)

    def kill_at(self, kind, nth, after):
        at = At(self.proxy, kind, nth, after, self.muster.kill)
        return at.done

    def test_it_is_killed_at_twenty_points_of_a_gangs_binding(self):
        self.start()
        for after in (False, True):
            for nth in range(1, 11):
                with self.subTest(nth=nth, after=after):
                    name = f"g{nth}-{after}".lower()
                    killed = self.kill_at("bind", nth, after)
                    self.gang(name, 10)
                    self.assertTrue(killed.wait(30))
                    self.checker.catch_up()
                    self.assertEqual(nth if after else nth - 1, self.checker.placed(name))
                    self.start()
                    self.checker.wait("the gang is whole", lambda: self.checker.placed(name) == 10, 30)
                    self.checker.check()
                    self.clear()

    def test_it_is_killed_at_twenty_points_of_a_preemption(self):
        self.priorities(high=1000)
        self.start()
        points = [(kind, nth, after) for kind in ("evict", "bind") for nth in range(1, 5) for after in (False, True)]
        points += [("grace", nth, False) for nth in range(1, 3)]
        points += [("gone", nth, True) for nth in range(1, 5)]
        for kind, nth, after in points:
            with self.subTest(kind=kind, nth=nth, after=after):
                self.preempt(f"{kind}-{nth}-{after}".lower(), kind, nth, after)

    def preempt(self, name, kind, nth, after):
        """A gang of five on all GPUs is stopped for another one; killed meanwhile."""
        low, high = f"low-{name}", f"high-{name}"
        self.gang(low, 5, gpus=2, stop_for="400ms")
        self.checker.wait("the first gang runs", lambda: self.checker.placed(low) == 5 and all(
            one["status"]["phase"] == "Running" for one in list(self.checker.pods.values())), 30)
        if kind in ("evict", "bind"):
            killed = self.kill_at(kind, nth, after)
            self.gang(high, 5, gpus=2, priority="high")
            self.assertTrue(killed.wait(30))
        else:
            self.gang(high, 5, gpus=2, priority="high")
            leaving = lambda: sum(  # Evicted, and still there.
                "deletionTimestamp" in one["metadata"] for one in list(self.checker.pods.values()))
            there = lambda: sum(
                one["metadata"]["name"].startswith(low) for one in list(self.checker.pods.values()))
            if kind == "grace":
                self.checker.wait("grace periods run", lambda: leaving() >= 2 * nth)
            else:
                self.checker.wait("victims are gone", lambda: there() <= 5 - nth)
            self.muster.kill()
        self.start()
        self.checker.wait("the second gang runs", lambda: self.checker.placed(high) == 5, 30)
        self.checker.check()
        self.assertEqual(0, self.checker.placed(low))
        self.clear()


class WatchTest(ProxiedTest):
    flags = ("--nodes=4", "--gpus=2")
    shared = True

    def setUp(self):
        super().setUp()
        self.run_muster(kubeconfig=self.proxy.kubeconfig)

    def test_watches_that_are_cut_inside_an_object(self):
        lengths = [1, 57, 900, 2_000, 3_333, 20_011, 70_001] * 2
        left = list(lengths)

        def cut(request):
            if not request.path.endswith("/api/v1/pods"):
                return None
            self.proxy.cut_politely = len(left) % 2 == 0  # As if the answer ended there.
            return left.pop() if left else None

        self.proxy.cut_watch = cut
        self.proxy.cut()
        count = 0
        while left and count < 200:
            self.plane.create(f"{DEFAULT}/pods", pod(
                name=f"p{count}", annotations={"example.com/large": "x" * 10_000}))
            count += 1
            if count % 7 == 0:
                self.delete(f"p{count - 3}")
        self.checker.wait("all that are there are bound", lambda: all(
            "nodeName" in one["spec"] for one in list(self.checker.pods.values())))
        self.assertGreaterEqual(self.proxy.cuts, len(lengths) - 1)

    def test_etcd_is_compacted_under_the_watches(self):
        self.plane.run("nodes", "--prefix=extra-", "--gpus=2")
        self.gang("red", 5, gpus=2)
        self.checker.wait("red runs", lambda: self.checker.placed("red") == 5)
        away = threading.Event()

        def before(_):
            if away.is_set():
                raise Cut

        self.proxy.before = before
        away.set()
        self.proxy.cut()
        self.clear()
        self.plane.api("DELETE", "/api/v1/nodes/extra-0")
        self.gang("blue", 4, gpus=2)
        self.plane.run("compact")
        # What the API server remembers itself goes with its process.
        self.plane.run("kill", "kube-apiserver")
        self.plane.run("start", "kube-apiserver")
        away.clear()
        self.checker.wait("blue runs", lambda: self.checker.placed("blue") == 4)
        self.assertTrue(self.muster.says("expired"), self.muster.lines)


if __name__ == "__main__":
    muster.main()
