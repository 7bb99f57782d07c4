#!/usr/bin/env python3
"""musterd with real processes: five stories, told by the daemon itself.

    demo.py PROGRAMS

PROGRAMS is the folder of musterd, muster and muster-shim. The GPUs are invented; all else is
real. Nothing stays behind.
"""

import json
import os
import shlex
import shutil
import signal
import sys
import time

from daemon import ROOT, Daemon

TRAIN = ROOT / "examples/local_jobs/train.py"
GANG = ROOT / "examples/local_jobs/gang.yaml"
MPI = ROOT / "examples/local_jobs/mpi.yaml"
ELASTIC = ROOT / "examples/local_jobs/elastic.yaml"
PHASES = {"queued": "waits", "running": "runs", "stopping": "is stopped",
          "backoff": "is about to start anew", "succeeded": "is done", "failed": "has failed",
          "suspended": "is suspended", "checkpointing": "saves its work", "forgotten": "is gone"}


class Story:
    def __init__(self, daemon):
        self.daemon = daemon
        self.begin = time.monotonic()
        self.known = {}
        self.names = {}

    def say(self, text):
        print(f"{time.monotonic() - self.begin:6.2f} s  {text}", flush=True)

    def submit(self, *words, **more):
        words = [str(word) for word in words]
        shown = shlex.join(words).replace(str(ROOT) + "/", "").replace(str(self.daemon.folder), "WORK")
        print(f"          $ muster {shown}", flush=True)
        said = self.daemon.run(words[0], "--json", *words[1:], **more).stdout
        job = json.loads(said)["jobs"][0]
        self.names[job["id"]] = job["name"]
        return job["id"]

    def look(self):
        """Says what is new of the jobs; whether all have ended."""
        ended = True
        for number, name in self.names.items():
            job = self.daemon.job(number)
            runs = [task["attempt"] for task in job["tasks"] if task["state"] in ("start", "run")]
            if job["phase"] == "running" and not runs:
                ended = False  # It is about to end.
                continue
            attempt = min(runs, default=0)
            now = (job["phase"],) + ((attempt, len(runs)) if job["phase"] == "running" else ())
            if now != self.known.get(number):
                self.known[number] = now
                more = (f", attempt {attempt}" if now[1:] and attempt > 1 else "") + \
                       (f", {len(runs)} processes" if now[1:] and len(runs) > 1 else "")
                self.say(f"{name:10} {PHASES.get(job['phase'], job['phase'])}{more}")
            ended &= bool(job.get("finished"))
        return ended

    def until(self, true, seconds=60):
        end = time.monotonic() + seconds
        while not true():
            self.look()
            if time.monotonic() > end:
                raise RuntimeError("the story does not go on:\n" + self.daemon.said())
            time.sleep(0.02)

    def end(self):
        self.until(self.look)

    def attempt(self, job, number):
        return self.daemon.output(job, attempt=number)


def title(text):
    print(f"\n{text}\n", flush=True)


def one_device(daemon):
    title("One GPU, three jobs in turn; test-p1 is urgent and takes it from test2, which goes on "
          "from its last checkpoint.")
    story = Story(daemon)
    pace, steps, every = 0.05, 60, 5

    def train(name, count, *options):
        return story.submit("submit", "--name", name, "--gpus", 1, "--grace", "5s", *options, "--",
                            "python3", TRAIN, count, pace, every, daemon.folder / f"{name}.json")

    jobs = [train(f"test{i}", steps) for i in (1, 2, 3)]
    story.until((daemon.folder / "test2.json").exists)
    time.sleep(3 * pace)
    train("test-p1", 20, "--priority", "high")
    story.end()
    stopped = int(story.attempt(jobs[1], 1).split()[-1])
    resumed = int(story.attempt(jobs[1], 2).split("step ")[1].split()[0])
    print(f"\ntest2 was stopped at step {stopped} and resumed at step {resumed}: "
          f"{stopped - resumed} steps of work lost, fewer than the {every} between two checkpoints.")
    return stopped - resumed < every


def gangs(daemon):
    title("Two gangs of four processes on four GPUs: never two and two. A rank of the first is "
          "killed, and the whole gang is back from its checkpoint.")
    story = Story(daemon)
    ids = [story.submit("apply", "--name", f"gang{i}", "-f", GANG, cwd=GANG.parent,
                        env={**os.environ, "GANG_FILES": str(daemon.folder / f"gang{i}")})
           for i in (1, 2)]
    saved = daemon.folder / "gang1.json"
    story.until(saved.exists)
    pid = int((daemon.folder / "gang1.3.pid").read_text())
    story.say(f"kill -9 {pid}, the process of rank 3 of gang1")
    os.kill(pid, signal.SIGKILL)
    story.end()
    print("\nits first attempt: " + story.attempt(ids[0], 1).splitlines()[0] +
          "\nits second:        " + story.attempt(ids[0], 2).splitlines()[0])
    return all(daemon.job(job)["exit_code"] == 0 for job in ids)


def elastic(daemon):
    title("An elastic job of two to four workers on four GPUs: an urgent job takes two of them, and "
          "gives them back. No worker is restarted.")
    story = Story(daemon)
    saved = daemon.folder / "elastic.json"
    job = story.submit("apply", "-f", ELASTIC, cwd=ELASTIC.parent,
                       env={**os.environ, "ELASTIC_FILE": str(saved)})
    story.until(saved.exists)
    story.submit("submit", "--name", "urgent", "--gpus", 2, "--priority", "high", "--", "sleep", "0.4")
    story.end()
    print("\nworker 0 says:")
    said = daemon.output(job, task="worker-0").splitlines()
    print("".join(f"  {line}\n" for line in said), end="")
    sizes = [int(line.split()[0]) for line in said if "workers from" in line]
    # Those who leave do so one by one.
    return (sizes[0], min(sizes), sizes[-1]) == (4, 2, 4) and daemon.job(job)["exit_code"] == 0


def mpi(daemon):
    if not shutil.which("mpirun"):
        title("An MPIJob: not told, there is no mpirun.")
        return True
    title("An MPIJob: mpirun starts a rank in the place of each worker, by muster exec in place of "
          "ssh.")
    story = Story(daemon)
    job = story.submit("apply", "-f", MPI)
    story.end()
    print("\n" + daemon.output(job, task="launcher-0"), end="")
    return daemon.job(job)["exit_code"] == 0


def crash(daemon):
    title("kill -9 of the daemon: jobs run on, and the next daemon has their real exit codes.")
    story = Story(daemon)
    jobs = [story.submit("submit", "--name", f"exit{code}", "--gpus", 1, "--", "sh", "-c",
                         f"sleep 1; exit {code}") for code in (0, 7)]
    story.until(lambda: all(daemon.job(job)["phase"] == "running" for job in jobs))
    story.say(f"kill -9 {daemon.process.pid}, musterd")
    daemon.kill()
    time.sleep(1.5)
    daemon.start()
    story.say("musterd is back")
    story.end()
    codes = [daemon.job(job)["exit_code"] for job in jobs]
    print(f"\nexit codes: {codes[0]} and {codes[1]}")
    return codes == [0, 7]


def main():
    ok = True
    for gpus, stories in ((1, [one_device]), (4, [gangs, elastic, mpi, crash])):
        with Daemon(sys.argv[1], "--gpus", gpus) as daemon:
            for tell in stories:
                ok &= tell(daemon)
            title("$ muster history")
            print(daemon.run("history").stdout, flush=True)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
