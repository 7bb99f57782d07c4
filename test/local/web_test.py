#!/usr/bin/env python3
"""What the page is made of, without a browser: web_test.py PROGRAMS [NVML]

NVML is a library that stands for the driver's, of which the tests of adapters/local tell.
"""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import urllib.parse

from daemon import Daemon, main


def refused(*options):
    """What musterd says that does not start."""
    with tempfile.TemporaryDirectory(prefix="muster-") as folder:
        done = subprocess.run(
            [PROGRAMS / "musterd", "--state", f"{folder}/state", "--socket", f"{folder}/socket",
             *options], capture_output=True, text=True, timeout=20, check=False)
    return done.returncode, done.stderr


class Web:
    """The daemon's address, and requests to it."""

    def __init__(self, daemon):
        url = urllib.parse.urlsplit(daemon.run("web").stdout.strip())
        self.host = url.netloc
        self.token = urllib.parse.parse_qs(url.query)["token"][0]

    def ask(self, path, method="GET", body=None, token=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, body,
                               {name.replace("_", "-"): text for name, text in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())
        finally:
            connection.close()


class WebTest(unittest.TestCase):
    def daemon(self, *options, **more):
        return Daemon.of(self, PROGRAMS, *options, **more)

    def test_without_listen_there_is_no_page_and_no_token(self):
        d = self.daemon("--gpus", 1)
        done = d.run("web", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--listen 127.0.0.1:8750", done.stderr)
        self.assertFalse((d.folder / "state" / "web-token").exists())

    def test_other_addresses_than_the_loopback_interfaces_are_refused(self):
        for address in ("0.0.0.0:8750", ":8750", "192.0.2.1:80", "[::]:1", "localhost:80", "8750"):
            code, said = refused("--listen", address)
            self.assertEqual(code, 1, address)
            self.assertIn("127.0.0.1:", said)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("default_queue: default\nlisten: 0.0.0.0:8750\n")
            config.flush()
            code, said = refused("--config", config.name)
        self.assertEqual(code, 1)
        self.assertIn(":2:", said)
        self.assertIn("loopback", said)

    def test_the_token_is_the_daemons_users_alone_and_outlives_a_restart(self):
        d = self.daemon("--gpus", 1, "--listen", "127.0.0.1:0")
        web = Web(d)
        self.assertRegex(web.token, "^[0-9a-f]{64}$")
        for name in ("web-token", "web-session"):
            self.assertEqual((d.folder / "state" / name).stat().st_mode & 0o777, 0o600)
        self.assertEqual(d.run("--json", "web").stdout.count(web.token), 1)
        d.kill()
        d.start()
        self.assertEqual(Web(d).token, web.token)
        d.stop()
        (d.folder / "state" / "web-token").chmod(0o644)
        code = subprocess.run([PROGRAMS / "musterd", "--state", d.folder / "state", "--socket", d.socket,
                               "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=20,
                              check=False)
        self.assertEqual(code.returncode, 1)
        self.assertIn("chmod 600", code.stderr)
        (d.folder / "state" / "web-token").chmod(0o600)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to be another user")
    def test_another_user_is_himself_there_and_learns_no_other_token(self):
        d = self.daemon("--gpus", 1, "--listen", "127.0.0.1:0")
        web = Web(d)
        his = urllib.parse.urlsplit(d.run("web", user=65534, group=65534).stdout.strip())
        token = urllib.parse.parse_qs(his.query)["token"][0]
        self.assertNotEqual(token, web.token)
        users = json.loads(web.ask("/v1/users", token=token)[1])
        self.assertEqual((users["self"], users["privileged"]), (65534, False))
        job = d.submit(["sleep", "60"])
        self.assertEqual(web.ask(f"/v1/jobs/{job}", "DELETE", token=token)[0], 403)
        self.assertEqual(web.ask("/v1/web/token", "POST", token=token)[0], 403)
        cookie = web.ask(f"/login?token={token}")[2]["Set-Cookie"].split(";")[0]
        self.assertEqual(json.loads(web.ask("/v1/users", Cookie=cookie)[1])["self"], 65534)
        d.kill()
        d.start()
        web = Web(d)  # It has another port.
        self.assertEqual(web.ask("/v1/users", token=token)[0], 200)
        cookie = web.ask(f"/login?token={token}")[2]["Set-Cookie"].split(";")[0]
        renewed = d.run("web", "--new", user=65534, group=65534).stdout
        self.assertNotIn(token, renewed)
        for headers in ({"token": token}, {"Cookie": cookie}):
            self.assertEqual(web.ask("/v1/users", **headers)[0], 401)
        self.assertEqual(web.ask("/v1/users", token=web.token)[0], 200)

    def test_who_signs_out_is_out_and_the_token_of_the_daemons_user_can_be_another(self):
        d = self.daemon("--gpus", 1, "--listen", "127.0.0.1:0")
        web = Web(d)
        cookie = web.ask(f"/login?token={web.token}")[2]["Set-Cookie"].split(";")[0]
        self.assertEqual(web.ask("/logout", "POST", Cookie=cookie)[0], 403)
        status, _, headers = web.ask("/logout", "POST", Cookie=cookie, Origin=f"http://{web.host}")
        self.assertEqual(status, 204)
        self.assertIn("Max-Age=0", headers["Set-Cookie"])
        self.assertNotIn(web.token, d.run("web", "--new").stdout)
        for headers in ({"token": web.token}, {"Cookie": cookie}):
            self.assertEqual(web.ask("/v1/users", **headers)[0], 401)
        again = Web(d)
        self.assertEqual(json.loads(again.ask("/v1/users", token=again.token)[1])["self"], os.geteuid())

    def test_a_port_that_is_taken_is_told(self):
        d = self.daemon("--gpus", 1, "--listen", "127.0.0.1:0")
        code, said = refused("--listen", Web(d).host)
        self.assertEqual(code, 1)
        self.assertIn(Web(d).host.split(":")[1], said)

    def test_programs_ask_with_the_token_as_the_daemons_user(self):
        d = self.daemon("--gpus", 2, "--listen", "127.0.0.1:0")
        web = Web(d)
        self.assertEqual(web.ask("/v1/jobs")[0], 401)
        self.assertEqual(web.ask("/v1/jobs", token="0" * 64)[0], 401)
        self.assertEqual(web.ask("/v1/jobs", token=web.token, Host="evil.example")[0], 421)
        status, body, headers = web.ask("/v1/users", token=web.token)
        self.assertEqual((status, json.loads(body)["self"]), (200, os.geteuid()))
        self.assertNotIn("Access-Control-Allow-Origin", headers)
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        job = d.submit(["sleep", "60"], gpus=1)
        self.assertEqual(web.ask(f"/v1/jobs/{job}", "DELETE", token=web.token)[0], 200)
        self.assertEqual(d.finished(job)["exit_code"], 143)

    def test_a_browsers_cookie_is_no_token_and_changes_need_the_page(self):
        d = self.daemon("--gpus", 1, "--listen", "127.0.0.1:0")
        web = Web(d)
        status, _, headers = web.ask(f"/login?token={web.token}")
        self.assertEqual((status, headers["Location"]), (303, "/"))
        cookie = headers["Set-Cookie"].split(";")[0]
        self.assertNotIn(web.token, cookie)
        self.assertEqual(web.ask("/v1/jobs", Cookie=cookie)[0], 200)
        self.assertEqual(web.ask("/v1/jobs", token=cookie.split("=")[1])[0], 401)
        self.assertEqual(web.ask("/v1/jobs", Cookie=cookie, Sec_Fetch_Site="same-site")[0], 403)
        job = d.submit(["sleep", "60"])
        for headers in ({}, {"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
            self.assertEqual(web.ask(f"/v1/jobs/{job}", "DELETE", Cookie=cookie, **headers)[0], 403)
        self.assertEqual(web.ask(f"/v1/jobs/{job}", "DELETE", Cookie=cookie,
                                 Origin=f"http://{web.host}")[0], 200)

    def test_what_happened_before_a_crash_is_in_the_time_line(self):
        d = self.daemon("--gpus", 1)
        first = d.submit(["sh", "-c", "touch $MUSTER_CHECKPOINT; sleep 60"], gpus=1, priority="low", grace=0)
        d.until(lambda: any(e["what"] == "checkpoint" for e in self.line(d, first)))
        second = d.submit(["sleep", "1"], gpus=1, priority="high")
        d.finished(second)
        d.kill()
        d.start()
        d.until(lambda: d.job(first)["phase"] == "running")
        told = self.line(d, first)
        # The job saves its work at the start of each attempt.
        self.assertEqual([event["what"] for event in told][:5],
                         ["submitted", "started", "checkpoint", "preempted", "started again"])
        lost = told[3]["lost"]
        attempt = d.get(f"/v1/jobs/{first}/timeline")["attempts"][0]
        self.assertAlmostEqual(lost, attempt["ended"] - told[2]["at"], places=3)

    def test_who_else_computes_on_a_gpu_is_told(self):
        if NVML is None:
            self.skipTest("needs the library that stands for the driver's")
        other = subprocess.Popen(["sleep", "100"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-nvml-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "libnvidia-ml.so.1").symlink_to(NVML)
        (folder / "world").write_text("".join(
            f"gpu GPU-{i} NVIDIA_H100_80GB_HBM3 85520809984 00000000:{i}7:00.0 1 0\n" for i in (0, 1))
            + f"process 1 {other.pid} 4096\nprocess 1 4194999 4096\n")
        environment = {"LD_LIBRARY_PATH": str(folder), "FAKE_NVML": str(folder / "world")}
        with unittest.mock.patch.dict(os.environ, environment):
            d = self.daemon()
        devices = d.get("/v1/nodes")["nodes"][0]["devices"]
        self.assertEqual([device["others"] for device in devices], [0, 1000])
        self.assertEqual(devices[1]["processes"], [{"pid": other.pid, "uid": os.getuid(), "memory": 4096}])
        self.assertNotIn("processes", devices[0])

    @staticmethod
    def line(daemon, job):
        return daemon.get(f"/v1/jobs/{job}/timeline")["events"]


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1))
    NVML = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
    main()
