#!/usr/bin/env python3
"""The local runner on real GPUs: gpu_test.py PROGRAMS. Skipped where there is no driver."""

import ctypes
import os
import subprocess
import sys
import textwrap
import time
import unittest

from daemon import Daemon

# Tells how many GPUs CUDA shows, and the first one's UUID; then holds a context on it until
# its standard input ends.
SEES = textwrap.dedent("""\
    import ctypes, sys, uuid
    cuda = ctypes.CDLL("libcuda.so.1")
    count, device, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0 or not count.value:
        sys.exit(print("0"))
    name = (ctypes.c_ubyte * 16)()
    assert cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
    assert cuda.cuDeviceGetUuid(name, device) == 0
    assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device) == 0
    print(count.value, "GPU-" + str(uuid.UUID(bytes=bytes(name))), flush=True)
    sys.stdin.read()
    """)


# Where the driver's libraries are, if that has to be said.
WHERE = [f"{name}={os.environ[name]}" for name in ["LD_LIBRARY_PATH"] if name in os.environ]


def driver():
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        count = ctypes.c_uint()
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0:
            return count.value
    except OSError:
        pass
    return 0


class GpuTest(unittest.TestCase):
    def setUp(self):
        self.d = Daemon(PROGRAMS)
        self.d.start()
        self.addCleanup(self.d.end)

    def submit(self, command, gpus):
        return self.d.submit(command, gpus=gpus, environment=WHERE)

    def devices(self):
        return self.d.get("/v1/nodes")["nodes"][0]["devices"]

    def test_the_drivers_gpus_are_the_nodes(self):
        smi = subprocess.run(["nvidia-smi", "--query-gpu=name,memory.total",
                              "--format=csv,noheader,nounits"],
                             capture_output=True, text=True, check=True).stdout
        told = [line.split(", ") for line in smi.splitlines()]
        self.assertEqual(len(self.devices()), GPUS)
        for device, (model, mebibytes) in zip(self.devices(), told):
            self.assertTrue(device["healthy"])
            self.assertIn(device["model"].split()[-1], model)
            self.assertAlmostEqual(device["memory"] / 2**20, int(mebibytes), delta=1024)

    def test_a_job_sees_the_gpus_that_it_was_given(self):
        job = self.submit([sys.executable, "-c", SEES], 1)
        self.assertEqual(self.d.finished(job)["exit_code"], 0)
        count, uuid = self.d.output(job).split()
        self.assertEqual(count, "1")
        visible = self.submit(["sh", "-c", "echo $CUDA_VISIBLE_DEVICES"], 1)
        self.d.finished(visible)
        self.assertEqual(self.d.output(visible).strip(), uuid)
        none = self.submit([sys.executable, "-c", SEES], 0)
        self.d.finished(none)
        self.assertEqual(self.d.output(none), "0\n")

    def test_what_a_job_computes_is_not_somebody_elses(self):
        job = self.submit(["sh", "-c", f"sleep 1000 | {sys.executable} -c '{SEES}'"], 1)
        self.d.until(lambda: "GPU-" in self.d.output(job), 60)
        self.d.until(lambda: any(device["held"] for device in self.devices()))
        # It looks each five seconds.
        for _ in range(2):
            time.sleep(6)
            self.assertEqual([device["others"] for device in self.devices()], [0] * GPUS)

    def test_a_job_waits_for_who_computes_without_the_queue(self):
        others = [subprocess.Popen([sys.executable, "-c", SEES], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "CUDA_VISIBLE_DEVICES": str(i)}) for i in range(GPUS)]
        try:
            for other in others:
                self.assertIn("GPU-", other.stdout.readline())
            self.d.until(lambda: all(device["others"] for device in self.devices()), 20)
            job = self.submit(["true"], 1)
            self.assertEqual(self.d.job(job)["phase"], "queued")
        finally:
            for other in others:
                other.communicate(timeout=60)
        self.assertEqual(self.d.finished(job)["exit_code"], 0)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    GPUS = driver()
    if GPUS == 0:
        print("SKIPPED: no GPU and driver on this machine")
        sys.exit(77)
    unittest.main(verbosity=2)
