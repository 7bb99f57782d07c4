#!/usr/bin/env python3
"""The local runner on real GPUs: gpu_test.py PROGRAMS. Skipped where there is no driver."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import time
import unittest

from daemon import Daemon, main
from tiny_image import NAME, bubblewrap_works, import_into_podman, make_root, podman

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

# Takes so many percent of the first GPU's memory, and tells it; then as SEES.
TAKES = textwrap.dedent("""\
    import ctypes, sys
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, at = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
    assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device) == 0
    assert cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0
    wanted = ctypes.c_size_t(total.value * int(sys.argv[1]) // 100)
    assert cuda.cuMemAlloc_v2(ctypes.byref(at), wanted) == 0, (free.value, total.value)
    print("taken", flush=True)
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

    def take(self, percent, *options):
        """A job that takes so much of a GPU's memory, and keeps it; its id."""
        done = self.d.run("submit", "--json", *options, "--", "sh", "-c",
                          f"sleep 1000 | {sys.executable} -c '{TAKES}' {percent}")
        return json.loads(done.stdout)["jobs"][0]["id"]

    def took(self, job):
        self.d.until(lambda: self.d.job(job)["phase"] == "running", 60)
        self.d.until(lambda: self.d.output(job) != "", 60)
        self.assertEqual(self.d.output(job), "taken\n")

    def test_two_jobs_share_a_gpu(self):
        jobs = [self.take(30, "--gpus", "0.5") for _ in range(2 * GPUS)]
        for job in jobs:
            self.took(job)
        third = self.take(30, "--gpus", "0.5")
        self.assertEqual(self.d.job(third)["phase"], "queued")

    def test_who_preempts_finds_the_memory_free(self):
        for _ in range(3):
            low = [self.take(80, "--gpus", "1") for _ in range(GPUS)]
            for job in low:
                self.took(job)
            high = self.take(80, "--gpus", "1", "--priority", "high")
            self.took(high)
            self.assertEqual(sum(self.d.job(job)["phase"] == "queued" for job in low), 1)
            for job in [*low, high]:
                self.d.delete(f"/v1/jobs/{job}")
                self.d.finished(job)


class ImageTest(unittest.TestCase):
    """Jobs in images see their GPUs, and no others."""

    def binds(self):
        """Where Python and the driver are."""
        ctypes.CDLL("libcuda.so.1")
        maps = pathlib.Path("/proc/self/maps").read_text()
        paths = [line.split()[-1] for line in maps.splitlines() if "libcuda.so" in line]
        tops = {"/" + str(path).split("/")[1] for path in
                [*paths, sys.executable, sys.base_prefix, pathlib.Path(sys.executable).resolve()]}
        folders = {os.path.dirname(paths[0]), "/usr"} | (tops - {"/usr", "/lib", "/lib64", "/bin"})
        return sorted(folder for folder in folders
                      if not any(folder.startswith(f"{other}/") for other in folders))

    def look(self, images, name):
        self.d = Daemon(PROGRAMS)
        config = self.d.folder / "musterd.yaml"
        if "folder" in images:
            make_root(self.d.folder / "images" / name)
            images["folder"] = str(self.d.folder / "images")
        config.write_text(json.dumps({"images": {**images, "binds": self.binds()}}))
        self.d.options = ["--config", str(config)]
        self.d.start()
        self.addCleanup(self.d.end)
        for gpus in (0, 1):
            job = json.loads(self.d.run(
                "submit", "--json", "--chdir", "/usr", "--gpus", str(gpus), "--image", name, "--",
                sys.executable, "-c", SEES).stdout)["jobs"][0]["id"]
            self.d.finished(job)
            self.assertEqual(self.d.output(job).split()[:1], [str(gpus)], self.d.output(job))

    def test_by_bubblewrap(self):
        if not bubblewrap_works():
            self.skipTest("bubblewrap is not there, or may not be used")
        self.look({"by": "bubblewrap", "folder": ""}, "tiny:1")

    def test_by_podman(self):
        if not any(pathlib.Path(folder).glob("nvidia*") for folder in ("/etc/cdi", "/var/run/cdi")):
            self.skipTest("nothing tells podman of the GPUs: nvidia-ctk cdi generate")
        options, why_not = import_into_podman()
        if why_not:
            self.skipTest(why_not)
        self.addCleanup(podman, "rmi", "--force", NAME)
        self.look({"by": "podman", "allow": ["localhost/*"], "options": options}, NAME)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    GPUS = driver()
    main(skip=None if GPUS else "no GPU and driver on this machine")
