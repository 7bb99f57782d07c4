#!/usr/bin/env python3
"""Ten thousand pods at once.

    crowd_test.py MUSTER_KUBE
"""

import concurrent.futures
import contextlib
import json
import pathlib
import threading
import time

import muster
import testbed
from muster import DEFAULT, pod

PODS, NODES, GROUPS = 10_000, 200, 20
MOST_MIB = 200


class CrowdTest(muster.StoryTest):
    # Nothing else writes: the pods come to no node's attention, and no controller's.
    flags = (f"--nodes={NODES}", "--gpus=0", "--controller-manager=false", "--kubelet=false")

    def memory(self, field):
        """Of muster-kube, in MiB: VmRSS is what it has now, VmHWM the most that it had."""
        with open(f"/proc/{self.muster.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith(field))

    def create_pods(self, count):
        """On eight connections, and none of them for one pod only."""
        local = threading.local()

        def create(number):
            if not hasattr(local, "connection"):
                local.connection = stack.enter_context(contextlib.closing(self.plane.connect()))
            one = pod(cpu="100m", name=f"p{number}", labels={"crowd": str(number % GROUPS)})
            local.connection.request("POST", f"{DEFAULT}/pods", json.dumps(one),
                                     {"Content-Type": "application/json"})
            with local.connection.getresponse() as answer:
                text = answer.read()
                self.assertEqual(201, answer.status, text)

        with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in pool.map(create, range(count), chunksize=50):
                pass

    def test_ten_thousand_pods_at_once(self):
        start = time.monotonic()
        self.create_pods(PODS)
        made = time.monotonic()
        self.run_muster()
        before = self.memory("VmRSS")

        def bound():
            return sum("nodeName" in one["spec"] for one in list(self.checker.pods.values()))

        self.checker.wait("all pods are bound", lambda: bound() == PODS, 120)
        done = time.monotonic()
        most = self.memory("VmHWM")
        print(f"made in {made - start:.1f} s, bound in {done - made:.1f} s; muster-kube: "
              f"{before} MiB in step, {most} MiB at most", flush=True)
        # A sanitizer has memory of its own for each byte.
        if b"__asan_init" not in pathlib.Path(muster.PROGRAM).read_bytes():
            self.assertLess(most, MOST_MIB)
        # And what comes then is not behind them.
        self.plane.create(f"{DEFAULT}/pods", pod(name="last"))
        self.checker.wait("a later pod is bound", lambda: bound() == PODS + 1, 10)

    def finish(self):
        """The checker alone: nothing takes ten thousand pods away in the time that there is."""
        self.checker.check()


if __name__ == "__main__":
    muster.main()
