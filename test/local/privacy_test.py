#!/usr/bin/env python3
"""What is one user's is no other's: two users of one daemon of root, and every door between them:
privacy_test.py PROGRAMS"""

import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from daemon import ROOT, Daemon, main
from users import ALICE, BOB, User, below, tries

# In whatever nobody else may see of a job.
SECRET = "hers-alone-4711"

# Who may do what, by the routes of docs/local-api.yaml. "hers": 403 for another user. "all": he is
# answered, and there is nothing secret in it. "root": 403 for all users. A route that is not here
# fails the test: whoever adds it says whose it is.
ROUTES = {
    "POST /v1/jobs": "all", "POST /v1/what-if": "all", "GET /v1/jobs": "all",
    "GET /v1/jobs/{id}": "all", "DELETE /v1/jobs/{id}": "hers",
    "POST /v1/jobs/{id}/hold": "hers", "POST /v1/jobs/{id}/release": "hers",
    "POST /v1/jobs/{id}/suspend": "hers", "POST /v1/jobs/{id}/resume": "hers",
    "POST /v1/jobs/{id}/priority": "hers", "POST /v1/jobs/{id}/queue": "hers",
    "POST /v1/jobs/{id}/resize": "hers", "POST /v1/jobs/{id}/edit": "hers",
    "GET /v1/jobs/{id}/edit": "hers", "POST /v1/jobs/{id}/order": "hers",
    "GET /v1/jobs/{id}/logs": "hers", "POST /v1/jobs/{id}/input": "hers",
    "GET /v1/jobs/{id}/explain": "hers", "GET /v1/jobs/{id}/timeline": "hers",
    "POST /v1/crons/{id}/suspend": "hers", "POST /v1/crons/{id}/resume": "hers",
    "DELETE /v1/crons/{id}": "hers", "GET /v1/crons": "all",
    "POST /v1/web/token": "all", "DELETE /v1/web/token": "all", "GET /v1/web": "all",
    "POST /v1/nodes/drain": "root", "POST /v1/nodes/resume": "root", "GET /v1/nodes": "all",
    "GET /v1/queue": "all", "GET /v1/events": "all", "GET /v1/history": "all",
    "GET /v1/history/removed": "all", "GET /v1/queues": "all", "GET /v1/users": "all",
    "GET /v1/version": "all", "GET /v1/healthz": "all", "GET /v1/metrics": "all",
}
BODIES = {"priority": {"priority": "low"}, "queue": {"queue": "default"}, "resize": {"size": 1},
          "edit": {"name": "x"}, "order": {"to": "first"}}
QUERIES = {
    "GET /v1/jobs": ["", "?why=1", f"?uid={ALICE}"], "GET /v1/jobs/{id}": ["", "?wait=0"],
    "GET /v1/jobs/{id}/logs": ["", "?stream=error", "?task=0-0", "?attempt=1", "?last=100", "?follow=1"],
    "POST /v1/jobs/{id}/input": ["", "?end=1"], "GET /v1/events": ["", "?after=0", "?after=0&follow=1"],
    "GET /v1/history": ["", f"?uid={ALICE}", "?name=train", "?limit=1000"],
    "GET /v1/history/removed": ["", f"?uid={ALICE}"], "GET /v1/queue": ["", "?limit=100"],
    "GET /v1/crons": ["", f"?uid={ALICE}"]}


def routes():
    """METHOD PATH of all that the document has."""
    found, path = [], None
    for line in (ROOT / "docs/local-api.yaml").read_text().splitlines():
        if named := re.match(r"  (/v1/\S+):$", line):
            path = named[1]
        elif line and not line.startswith(" "):
            path = None
        elif path and (named := re.match(r"    (get|post|put|patch|delete):", line)):
            found.append(f"{named[1].upper()} {path}")
    return found


def programs_for_all(test):
    """A copy that any user may execute, wherever they were built."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-bin-"))
    test.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
    for name in ("musterd", "muster", "muster-shim"):
        shutil.copy2(pathlib.Path(PROGRAMS) / name, folder)
    (folder / "muster-exec").symlink_to("muster")
    subprocess.run([folder / "muster", "slurm", "install", folder], check=True, capture_output=True)
    folder.chmod(0o755)
    return folder


@unittest.skipUnless(os.geteuid() == 0, "other users: needs root")
class PrivacyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = programs_for_all(cls)

    def setUp(self):
        config = pathlib.Path(tempfile.mkdtemp(prefix="muster-conf-")) / "musterd.yaml"
        self.addCleanup(shutil.rmtree, config.parent, ignore_errors=True)
        config.write_text("node: {name: box, cpus: 16, gpus: 2}\nlisten: 127.0.0.1:0\n")
        self.d = Daemon(self.programs, "--config", config)
        self.d.start()
        self.addCleanup(self.d.end)
        self.alice = User(self, ALICE, self.d, self.programs)
        self.bob = User(self, BOB, self.d, self.programs)

    def submit_all_kinds(self):
        """Alice's jobs: what runs, has run, waits and comes again, with secrets in all that can be."""
        run = self.alice.run
        hidden = {"environment": {"TOKEN": SECRET}}
        script = self.alice.home / "train.sh"
        script.write_text(f"#!/bin/sh\n# {SECRET}\necho {SECRET}; echo {SECRET} >&2\nexec sleep 1000\n")
        run("apply", "-f", script, "--name", "train", **hidden)
        run("submit", "--name", "input", "--input", "--", "sh", "-c",
            f": {SECRET}; echo {SECRET} > $MUSTER_CHECKPOINT; cat", **hidden)
        run("submit", "--name", "over", "--wait", "--", "sh", "-c", f"echo {SECRET}", **hidden)
        run("submit", "--name", "held", "--hold", "--env", f"KEY={SECRET}", "--", "true", SECRET)
        run("submit", "--name", "points", "--hold", "--grid", f"key={SECRET}", "--", "true", "{key}")
        run("submit", "--name", "tick", "--cron", "0 3 * * *", "--", "echo", SECRET, **hidden)
        manifest = json.dumps({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "volumes"},
            "spec": {"backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never",
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "s", "secret": {"secretName": "s"}}],
                "containers": [{
                    "name": "main", "image": "", "volumeMounts": [
                        {"name": "v", "mountPath": f"{self.alice.home}/v"},
                        {"name": "s", "mountPath": f"{self.alice.home}/s"}],
                    "env": [{"name": "KEY", "value": SECRET}],
                    "command": ["sh", "-c", f"echo {SECRET} > $MUSTER_VOLUME_V/file; echo up; sleep 1000"]}]}}}})
        secret = json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
                             "stringData": {"key": SECRET}})
        run("apply", "-f", "-", input=f"{manifest}\n---\n{secret}\n")
        jobs = {job["name"]: job["id"] for job in self.d.get("/v1/history")["jobs"]}
        self.d.until(lambda: SECRET in self.d.output(jobs["train"]))
        self.d.until(lambda: "up" in self.d.output(jobs["volumes"]))
        self.d.until(lambda: self.d.job(jobs["input"])["phase"] == "running")
        self.d.post(f"/v1/jobs/{jobs['input']}/suspend")
        self.d.until(lambda: self.d.job(jobs["input"])["phase"] == "suspended")
        return jobs

    # --- Files ---

    def test_he_reads_and_changes_no_file_of_hers(self):
        self.submit_all_kinds()
        state = self.d.folder / "state"
        paths = below(state)
        names = {path.name for path in paths}
        self.assertLessEqual({"spec", "script", "output", "lock", "started", "exit", "muster.db", "file",
                              "input", "size", "checkpoint", "web-token", "clock"}, names)
        self.assertEqual(self.bob.do(lambda: tries(paths)), [])
        # Nor does he learn how much she has written, and when.
        inner = [path for path in paths if path.parts[len(state.parts):][:1] == ("jobs",)
                 and len(path.parts) > len(state.parts) + 2]
        self.assertGreater(len(inner), 20)

        def seen():
            there = []
            for path in inner:
                try:
                    os.lstat(path)
                    there.append(str(path))
                except OSError:
                    pass
            return there
        self.assertEqual(self.bob.do(seen), [])

    def test_her_own_files_are_hers_to_read_and_the_daemons_to_place(self):
        jobs = self.submit_all_kinds()
        job = self.d.folder / f"state/jobs/{jobs['train']}"
        attempt = job / "0-0/1"
        read = self.alice.do(lambda: ((attempt / "output").read_text(), (attempt / "script").read_text()))
        self.assertTrue(all(SECRET in text for text in read))
        for name in ("output", "script", "size", "checkpoint"):
            is_ = (attempt / name).stat()
            self.assertEqual((is_.st_uid, is_.st_mode & 0o077), (ALICE, 0), name)
        # Else she could put a link in the place of what root opens.
        paths = below(job)
        could = {what for _, what in self.alice.do(lambda: tries(paths))}
        self.assertLessEqual({"read", "write"}, could)
        self.assertLessEqual(could, {"read", "write", "list", "chmod", "link"})
        folders = [path for path in [job, *job.rglob("*")] if path.is_dir() and "volumes" not in path.parts]
        self.assertEqual({path.stat().st_uid for path in folders}, {0})

    def test_what_her_client_keeps_is_hers(self):
        code = self.alice.home / "project"
        code.mkdir()
        (code / "train.py").write_text(SECRET)
        shutil.chown(code, ALICE, ALICE)
        code.chmod(0o700)
        self.alice.run("submit", "--snapshot", "--hold", "--", "true", cwd=code)
        self.submit_all_kinds()
        kept = [path for path in below(self.alice.home / ".local") if path.is_file()]
        self.assertTrue(any(SECRET in path.read_text(errors="replace") for path in kept))
        open_ = self.bob.do(lambda: [str(path) for path in kept if os.access(path, os.R_OK)
                                     and SECRET in path.read_text(errors="replace")])
        self.assertEqual(open_, [])

    def test_files_of_an_earlier_version_are_closed_at_the_start(self):
        jobs = self.submit_all_kinds()
        state = self.d.folder / "state"
        self.d.kill()
        # As version 0.1 had them.
        state.chmod(0o755)
        for path in below(state / "jobs"):
            if path.is_dir():
                path.chmod(0o755)
                os.chown(path, 0, 0)
            elif path.name in ("output", "script", "size", "error", "checkpoint"):
                path.chmod(0o755 if path.name == "script" else 0o644)
        self.assertNotEqual(self.bob.do(lambda: tries(below(state / "jobs"))), [])
        self.d.start()
        paths = below(state)
        self.assertEqual(self.bob.do(lambda: tries(paths)), [])
        self.assertEqual(self.d.job(jobs["train"])["phase"], "running")
        self.assertIn(SECRET, self.alice.run("logs", "train").stdout)
        script = state / f"jobs/{jobs['train']}/0-0/1/script"
        self.assertIn(SECRET, self.alice.do(script.read_text))

    # --- The API and the page ---

    def ask_all(self, ids, ask):
        """Bob's questions at every route; what is wrong."""
        wrong = []
        for route in routes():
            method, path = route.split()
            for number in ids["crons" if "/crons/" in path else "jobs"] if "{id}" in path else [0]:
                for query in QUERIES.get(route, [""]):
                    if route == "POST /v1/jobs" or path == "/v1/web/token":
                        continue  # Others tell.
                    body = BODIES.get(path.rsplit("/", 1)[-1])
                    if path.startswith("/v1/nodes/"):
                        body = {"node": "box"}
                    if path == "/v1/what-if":
                        body = {"manifest": "#!/bin/sh\ntrue\n", "directory": "/"}
                    body = None if method == "GET" else body
                    status, said = ask(method, path.replace("{id}", str(number)) + query, body)
                    right = 200 if ROUTES[route] == "all" else 403
                    if status != right or SECRET in said:
                        wrong.append((route, number, query, status, said[:300]))
        return wrong

    def test_he_learns_and_changes_nothing_by_any_route(self):
        self.assertEqual(set(routes()), set(ROUTES), "each route says whose it is")
        jobs = self.submit_all_kinds()
        before = {job["id"]: (job["phase"], job["name"], job.get("held")) for job in self.d.jobs()}
        ids = {"jobs": list(jobs.values()), "crons": [1]}
        self.assertEqual(self.ask_all(ids, self.bob.ask), [])
        after = {job["id"]: (job["phase"], job["name"], job.get("held")) for job in self.d.jobs()}
        self.assertEqual(before, after)
        self.assertFalse(self.d.get("/v1/crons")["crons"][0]["suspended"])
        # She herself is answered, and it is there.
        self.assertIn(SECRET, self.alice.ask("GET", f"/v1/jobs/{jobs['train']}/logs")[1])
        # What he sees of a job is this, and no more.
        seen = json.loads(self.bob.ask("GET", f"/v1/jobs/{jobs['train']}")[1])
        self.assertLessEqual(set(seen), {"id", "name", "uid", "queue", "priority", "phase", "submitted",
                                         "started", "finished", "held", "reason", "exit_code", "restarts",
                                         "preemptions", "array", "array_index", "array_limit", "why"})
        # His own jobs take no place of hers.
        own = self.bob.submit(["true"], hold=True)
        self.assertEqual(self.bob.ask("POST", f"/v1/jobs/{own}/order",
                                      {"to": "before", "job": jobs["held"]})[0], 409)

    def test_the_page_knows_him_by_his_token_alone(self):
        jobs = self.submit_all_kinds()
        ids = {"jobs": list(jobs.values()), "crons": [1]}
        url = urllib.parse.urlsplit(self.bob.run("web").stdout.strip())
        his = urllib.parse.parse_qs(url.query)["token"][0]
        self.assertEqual(self.ask_all(
            {**ids, "jobs": [jobs["train"]]},
            lambda method, path, body: self.bob.ask_page(
                url.netloc, method, path.replace("follow=1", "follow=0"), his, body)), [])
        for route in routes():
            method, path = route.split()
            status, said = self.bob.ask_page(url.netloc, method, path.replace("{id}", "1"))
            self.assertEqual(status, 401, route)
            self.assertNotIn(SECRET, said)
        hers = urllib.parse.parse_qs(urllib.parse.urlsplit(
            self.alice.run("web").stdout.strip()).query)["token"][0]
        self.assertNotEqual(his, hers)
        for text in (self.bob.ask("GET", "/v1/web")[1], self.bob.ask("POST", "/v1/web/token")[1]):
            self.assertNotIn(hers, text)

    # --- Programs ---

    def test_no_program_tells_him_or_does_for_him(self):
        jobs = self.submit_all_kinds()
        self.alice.run(self.programs / "sbatch", "--wrap", f"echo {SECRET}; sleep 1000", "-J", "slurm")
        job = str(jobs["train"])
        for words in (["queue", "--all"], ["describe", job], ["history", "--all"], ["nodes"], ["cron", "list", "--all"],
                      ["top", "--once"], ["--json", "queue", "--all"], ["--json", "describe", job],
                      ["/squeue"], ["/squeue", "--json"], ["/squeue", "-o", "%i %j %u %t %M %R %Z %o"], ["/sacct", "-a"],
                      ["/sacct", "-j", job, "-o", "JobID,User,State,WorkDir,SubmitLine"], ["/sinfo"]):
            if words[0].startswith("/"):
                words = [str(self.programs) + words[0], *words[1:]]
            done = self.bob.run(*words, check=False)
            self.assertNotIn(SECRET, done.stdout + done.stderr, words)
            self.assertNotIn(str(self.alice.home), done.stdout + done.stderr, words)
        for words in (["logs", job], ["explain", job], ["cancel", job], ["hold", job], ["release", job],
                      ["suspend", job], ["resume", job], ["priority", job, "low"], ["move", job, "--first"],
                      ["resize", job, "2"], ["edit", job, "--name", "x"], ["send", job, "x"],
                      ["cron", "suspend", "1"], ["cron", "remove", "1"], ["node", "drain", "box"],
                      ["/scancel", job], ["/scancel", "-u", str(ALICE)]):
            if words[0].startswith("/"):
                words = [str(self.programs) + words[0], *words[1:]]
            done = self.bob.run(*words, check=False)
            self.assertNotEqual((done.returncode, words[0][0]), (0, words[0][0] != "/"), words)
            self.assertNotIn(SECRET, done.stdout + done.stderr, words)
        self.assertEqual(self.d.job(job)["phase"], "running")
        self.assertEqual(len(self.d.get("/v1/crons")["crons"]), 1)

    def test_names_do_nothing_to_the_terminal_of_others(self):
        body = {"manifest": "#!/bin/sh\ntrue\n", "directory": "/", "hold": True}
        for control in ("\x1b[31m", "\u009b31m", "\r", "\n"):
            status, said = self.alice.ask("POST", "/v1/jobs", {**body, "name": f"x{control}"})
            self.assertEqual(status, 422, said)
        self.assertEqual(self.d.jobs(), [])

    # --- /proc ---

    def test_proc_tells_him_what_ps_tells_of_any_process(self):
        jobs = self.submit_all_kinds()

        def look():
            told = []
            for process in pathlib.Path("/proc").iterdir():
                if not process.name.isdigit():
                    continue
                try:
                    words = (process / "cmdline").read_bytes()
                    owner = process.stat().st_uid
                except OSError:
                    continue
                # His own, this one among them, he may look into.
                if owner == self.bob.uid or (b"muster" not in words and owner != ALICE):
                    continue
                for name in ("environ", "maps", "auxv", "io", "syscall", "stack", "smaps"):
                    try:
                        if (process / name).read_bytes():
                            told.append((words, name))
                    except OSError:
                        pass
                for name in ("cwd", "root", "exe"):
                    try:
                        told.append((words, os.readlink(process / name)))
                    except OSError:
                        pass
                try:
                    told.append((words, "fd", os.listdir(process / "fd")))
                except OSError:
                    pass
                if SECRET.encode() in words and owner == 0:
                    told.append((words, "cmdline"))
            return told
        self.assertEqual(self.bob.do(look), [])
        # The daemon and the shims are told neither variables nor words of a job by their command lines
        # and environments, which root alone could read besides.
        shims = [process for process in pathlib.Path("/proc").iterdir() if process.name.isdigit()
                 and b"muster-shim\0" in (process / "cmdline").read_bytes()
                 and str(self.d.folder).encode() in (process / "cmdline").read_bytes()]
        self.assertGreaterEqual(len(shims), 2)
        for shim in shims:
            self.assertEqual((shim / "environ").read_bytes(), b"")
        self.assertTrue(jobs)

    # --- The umask ---

    def test_a_job_has_the_umask_of_who_submits_it(self):
        make = "umask; touch $MADE"
        ways = {
            "muster": lambda umask, made, out: self.alice.run(
                "submit", "--wait", "--output", out, "--", "sh", "-c", make, umask=umask,
                environment={"MADE": made}),
            "sbatch": lambda umask, made, out: self.alice.run(
                self.programs / "sbatch", "--wait", "-o", out, "--wrap", make, umask=umask,
                environment={"MADE": made}),
            "srun": lambda umask, made, out: self.alice.run(
                self.programs / "srun", "-o", out, "sh", "-c", make, umask=umask,
                environment={"MADE": made})}
        for way, submit in ways.items():
            for umask in (0o077, 0o027, 0o002):
                made, out = (self.alice.home / f"{way}-{umask:o}.{end}" for end in ("made", "out"))
                submit(umask, str(made), str(out))
                self.assertEqual(out.read_text().strip(), f"{umask:04o}", way)
                for path in (made, out):
                    self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o666 & ~umask, (way, path))
        # By the API it is a field, and 022 without it.
        for umask, right in (("0027", "0027"), (None, "0022")):
            job = self.alice.submit(["sh", "-c", "umask"], umask=umask)
            self.d.finished(job)
            self.assertEqual((self.d.output(job).strip(), self.d.job(job)["umask"]), (right, right))
            out = self.d.folder / f"state/jobs/{job}/0-0/1/output"
            self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)
        for wrong in ("1000", "9", "", 18, "0o22", "-1"):
            status, said = self.alice.ask("POST", "/v1/jobs", {
                "manifest": "#!/bin/sh\ntrue\n", "directory": "/", "umask": wrong})
            self.assertEqual((status, "umask" in said), (400, True), said)

    # --- Root's rights ---

    def test_nothing_is_opened_for_her_with_the_rights_of_root(self):
        precious = self.d.folder / "precious"
        precious.write_text(SECRET)
        precious.chmod(0o600)
        closed = self.d.folder / "closed"
        closed.mkdir(mode=0o700)
        home = self.alice.home
        os.mkfifo(home / "fifo", 0o666)
        os.chown(home / "fifo", ALICE, ALICE)
        self.alice.do(lambda: os.symlink(precious, home / "link"))
        for output in (str(precious), str(closed / "out"), str(home / "link"), str(home / "fifo"), "/etc/muster-out",
                       str(self.d.folder / "state/jobs/out"), str(self.d.folder / "state/muster.db"),
                       "../0-0/2/spec", "spec", "lock"):
            job = self.alice.submit(["echo", "written"], annotations={"muster.dev/output": output},
                                    directory=str(home))
            ended = self.d.finished(job)
            if output not in ("spec", "lock", "../0-0/2/spec"):
                self.assertEqual(ended["exit_code"], 126, output)
            self.assertNotIn(SECRET, self.alice.ask("GET", f"/v1/jobs/{job}/logs")[1], output)
        self.assertEqual(precious.read_text(), SECRET)
        self.assertEqual(list(closed.iterdir()), [])
        self.assertFalse(pathlib.Path("/etc/muster-out").exists())
        # A file of hers that has become a link by the time it is read.
        out = home / "later"
        job = self.alice.submit(["echo", "written"], annotations={"muster.dev/output": str(out)})
        self.d.finished(job)
        self.alice.do(lambda: (out.unlink(), os.symlink(precious, out)))
        self.assertEqual(self.alice.ask("GET", f"/v1/jobs/{job}/logs")[1], "")
        # Nor by a directory, a volume, or variables of a secret.
        for more in ({"directory": str(closed)},):
            job = self.alice.submit(["true"], **more)
            self.assertEqual(self.d.finished(job)["exit_code"], 126)
        for source in (precious, closed):
            manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "volume"}, "spec": {
                "backoffLimit": 0, "template": {"spec": {
                    "restartPolicy": "Never", "volumes": [{"name": "v", "hostPath": {"path": str(source)}}],
                    "containers": [{"name": "m", "image": "", "volumeMounts": [
                        {"name": "v", "mountPath": f"{home}/{source.name}"}],
                        "command": ["sh", "-c", f"cat {home}/{source.name} $MUSTER_VOLUME_V; ls -l {home}/{source.name}/"]}]}}}}
            status, said = self.alice.ask("POST", "/v1/jobs", {"manifest": json.dumps(manifest), "directory": "/",
                                                               "environment": ["PATH=/usr/bin:/bin"]})
            self.assertEqual(status, 201, said)
            job = json.loads(said)["jobs"][0]["id"]
            self.d.finished(job)
            self.assertIn("Permission denied", self.d.output(job))
            self.assertNotIn(SECRET, self.d.output(job))

    def test_her_variables_do_nothing_to_programs_of_root(self):
        library = self.alice.home / "evil.so"
        library.write_bytes(b"no library")
        job = self.alice.submit(["sh", "-c", "echo ran"], environment=[
            f"LD_PRELOAD={library}", f"LD_LIBRARY_PATH={self.alice.home}", "LD_DEBUG=all",
            f"LD_DEBUG_OUTPUT={self.alice.home}/debug"])
        self.d.finished(job)
        owners = {path.stat().st_uid for path in self.alice.home.glob("debug*")}
        self.assertEqual(owners, {ALICE})

    # --- The daemon of one user ---

    def test_a_daemon_of_hers_runs_nothing_for_others(self):
        folder = self.alice.home / "own"
        self.alice.do(lambda: folder.mkdir(mode=0o755))
        at = str(folder / "socket")
        process = subprocess.Popen(
            [self.programs / "musterd", "--state", folder / "state", "--socket", at, "--gpus", "0"],
            user=ALICE, group=ALICE, extra_groups=[], stderr=subprocess.PIPE, umask=0)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        # Where lines are counted, it says of each file of counts that it may not write it.
        said = next(line for line in process.stderr if not line.startswith(b"profiling:"))
        self.assertEqual(said, b"musterd: ready\n")
        hers = User(self, ALICE, self.d, self.programs)
        his = User(self, BOB, self.d, self.programs)
        for user in (hers, his):
            user.daemon = type("Other", (), {"socket": at})()

        def connects():
            with socket.socket(socket.AF_UNIX) as client:
                try:
                    client.connect(at)
                    return True
                except PermissionError:
                    return False
        self.assertEqual((his.do(connects), hers.do(connects)), (False, True))
        # Though it may have been opened: jobs there run as her.
        os.chmod(at, 0o666)
        body = {"manifest": "#!/bin/sh\nid -u\n", "directory": "/", "environment": []}
        for path in ("/v1/jobs", "/v1/what-if"):
            status, said = his.ask("POST", path, body)
            self.assertEqual(status, 403, said)
        self.assertIn(f"user {ALICE}", said)
        self.assertEqual(hers.ask("POST", "/v1/jobs", body)[0], 201)
        self.assertEqual(self.bob.do(lambda: tries(below(folder / "state"))), [])

    def test_a_daemon_without_its_shim_does_not_start(self):
        alone = self.d.folder / "alone"
        alone.mkdir()
        shutil.copy2(self.programs / "musterd", alone)
        done = subprocess.run([alone / "musterd", "--state", alone / "state", "--socket", alone / "socket"],
                              capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{alone}/muster-shim: No such file or directory", done.stderr)
        self.assertNotIn("ready", done.stderr)
        self.assertFalse((alone / "state").exists())

    # --- Who fills the disk ---

    def test_who_fills_the_disk_stops_nobody_from_reading_and_can_be_cancelled(self):
        disk = self.d.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m,mode=755", "none", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("a full disk: nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        d = Daemon(self.programs, "--gpus", 1, folder=disk)
        d.start()
        self.addCleanup(d.end)
        alice, bob = (User(self, uid, d, self.programs) for uid in (ALICE, BOB))
        over = bob.submit(["echo", "his"], name="over")
        d.finished(over)
        runs = bob.submit(["sh", "-c", "echo up; exec sleep 1000"], name="runs")
        waits = bob.submit(["true"], name="waits", gpus=1, hold=True)
        d.until(lambda: "up" in d.output(runs))
        fills = alice.submit(["sh", "-c", "while :; do head -c 65536 /dev/zero; done"], name="fills", gpus=1)
        # Until nothing more can be kept.
        d.until(lambda: bob.ask("POST", "/v1/jobs", {
            "manifest": "#!/bin/sh\nexec sleep 1000 # " + "x" * 30000 + str(time.monotonic()), "directory": "/", "hold": True})[0] == 503,
            60)
        for words in (["queue", "--all"], ["history", "--all"], ["explain", waits], ["describe", runs], ["nodes"],
                      ["logs", over], [self.programs / "squeue"], [self.programs / "sacct"]):
            self.assertTrue(bob.run(*words).stdout, words)
        self.assertEqual(bob.run("logs", over).stdout, "his\n")
        self.assertEqual(bob.ask("DELETE", f"/v1/jobs/{fills}")[0], 403)
        self.assertEqual(d.job(fills)["phase"], "running")
        alice.run("cancel", fills)
        ended = d.finished(fills)
        self.assertEqual((ended["phase"], ended["exit_code"]), ("forgotten", 143))
        self.assertEqual(d.job(runs)["phase"], "running")
        self.assertIn("full", bob.ask("POST", "/v1/jobs", {"manifest": "#!/bin/sh\ntrue\n", "directory": "/"})[1])
        # What it wrote is hers to remove.
        output = d.folder / f"state/jobs/{fills}/0-0/1/output"
        alice.do(lambda: os.truncate(output, 0))
        d.until(lambda: bob.ask("POST", "/v1/jobs", {
            "manifest": "#!/bin/sh\ntrue\n", "directory": "/"})[0] == 201, 20)
        bob.run("release", waits)
        self.assertEqual(d.finished(waits)["exit_code"], 0)
        d.kill()
        d.start()
        self.assertEqual(d.job(fills)["phase"], "forgotten")

    def test_while_nothing_can_be_kept_all_that_was_is_told(self):
        job = self.alice.submit(["sleep", "1000"])
        self.d.until(lambda: self.d.job(job)["phase"] == "running")
        over = self.alice.submit(["echo", "said"])
        self.d.finished(over)
        store = sqlite3.connect(self.d.folder / "state/muster.db", isolation_level=None)
        self.addCleanup(store.close)
        store.execute("BEGIN IMMEDIATE")
        status, said = self.alice.ask("POST", "/v1/jobs", {"manifest": "#!/bin/sh\ntrue\n", "directory": "/"})
        self.assertEqual(status, 503, said)
        for words in (["queue"], ["history"], ["explain", job], ["describe", over], ["logs", over]):
            self.assertTrue(self.alice.run(*words).stdout, words)
        self.assertEqual(self.d.job(job)["phase"], "running")
        store.execute("ROLLBACK")
        self.d.until(lambda: self.alice.ask("POST", "/v1/jobs", {
            "manifest": "#!/bin/sh\ntrue\n", "directory": "/"})[0] == 201)
        self.alice.run("cancel", job)
        self.assertEqual(self.d.finished(job)["exit_code"], 143)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
