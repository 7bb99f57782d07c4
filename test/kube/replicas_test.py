#!/usr/bin/env python3
"""Two replicas of muster-kube: the one that leads is killed, or stands still for longer than its
lease.

    replicas_test.py MUSTER_KUBE
"""

import math
import signal
import time

import muster
import testbed
from muster import MusterKube
from proxy import At, ProxiedTest

FLAGS = ("--lease-duration=3", "--longest-request=1")


class ReplicasTest(ProxiedTest):
    flags = ("--nodes=4", "--gpus=2")
    shared = True

    def setUp(self):
        super().setUp()
        # The proxy is the first replica's alone.
        self.first = self.run_muster(*FLAGS, kubeconfig=self.proxy.kubeconfig)
        self.second = self.muster = MusterKube(self.kubeconfig, *FLAGS)
        self.addCleanup(self.second.__exit__)
        self.goes_on = math.inf  # When the former leader does.

    def finish(self):
        super().finish()
        # Nor did it ask twice for what another one asks for.
        self.assertEqual([], [one.path for one in self.proxy.of("bind", "evict", since=self.goes_on)])

    def lease(self):
        return self.plane.get("/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-kube")["spec"]

    def test_the_leader_is_killed_while_it_binds(self):
        at = At(self.proxy, "bind", 3, True, self.first.kill)
        self.gang("red", 8)
        self.assertTrue(at.done.wait(30))
        killed = time.monotonic()
        self.checker.catch_up()
        self.assertEqual(3, self.checker.placed("red"))
        self.assertFalse(self.second.says("leads"))
        self.checker.wait("the other one goes on", lambda: self.checker.placed("red") == 8, 30)
        # Its lease, and what a request that it may have left can take.
        self.assertGreater(time.monotonic() - killed, 3)

    def test_the_leader_stands_still_for_longer_than_its_lease_while_it_binds(self):
        at = At(self.proxy, "bind", 3, True, lambda: self.first.send(signal.SIGSTOP))
        self.gang("red", 8)
        self.assertTrue(at.done.wait(30))
        self.second.ready()
        self.checker.wait("the other one goes on", lambda: self.checker.placed("red") == 8, 30)
        holder = self.lease()["holderIdentity"]
        self.proxy.before = self.proxy.after = lambda request: None
        # Work that the former leader would do, if it thought that it still leads.
        self.delete(*self.pods("gang=red"))
        self.gang("blue", 8)
        self.checker.wait("blue runs", lambda: self.checker.placed("blue") == 8, 30)
        self.gang("green", 8)
        self.goes_on = time.monotonic()
        self.first.send(signal.SIGCONT)
        testbed.wait("it asks for its lease", lambda: self.proxy.of("lease", since=self.goes_on), 10)
        testbed.wait("it knows", lambda: self.first.says("does not lead any more"), 10)
        # One that looks may have begun before it knew; none that changes anything.
        time.sleep(1)
        knows = time.monotonic()
        time.sleep(3)
        self.assertEqual([], [f"{one.method} {one.path}" for one in self.proxy.of(since=self.goes_on)
                              if one.kind != "lease" and (one.method != "GET" or one.at >= knows)])
        self.assertEqual(holder, self.lease()["holderIdentity"])


if __name__ == "__main__":
    muster.main()
