#!/usr/bin/env python3
"""Stories of volumes, config maps and secrets, with real processes: volumes_test.py PROGRAMS"""

import base64
import hashlib
import json
import os
import sys
import textwrap
import unittest

from daemon import Daemon, main


class VolumesTest(unittest.TestCase):
    def setUp(self):
        self.d = Daemon(PROGRAMS)
        self.home = self.d.folder / "home"
        self.home.mkdir()
        self.config = self.d.folder / "musterd.yaml"
        (self.d.folder / "team").mkdir()
        self.config.write_text(f"claims: {{team: {self.d.folder}/team}}\n")
        self.d.options = ["--gpus", "0", "--config", str(self.config), *self.more_options()]
        self.d.start()
        self.addCleanup(self.d.end)
        self.mounts = "no_mounts" not in self.d.get("/v1/nodes")["nodes"][0]

    def more_options(self):
        return []

    def job(self, script, mounts, volumes, container=None):
        """A manifest whose volumes are mounted below AT."""
        return {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
            "spec": {"backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never", "volumes": volumes,
                "containers": [{"name": "main", "command": ["sh", "-ec", script],
                                "volumeMounts": mounts, **(container or {})}]}}}}

    def apply(self, *documents):
        """`muster apply` of these; what it wrote on its error output."""
        done = self.d.run("apply", "-f", "-", input="---\n".join(
            text if isinstance(text, str) else json.dumps(text) + "\n" for text in documents),
            env={"PATH": os.environ["PATH"], "HOME": str(self.home)})
        return done.stderr

    def output(self, number):
        self.assertEqual(self.d.finished(number)["phase"], "succeeded", self.d.output(number))
        return self.d.output(number)

    def at(self, volume, path):
        """Where a script finds it: at the mount, or where there are none, by the variable."""
        return path if self.mounts else f"$MUSTER_VOLUME_{volume.upper()}"

    def test_folders_are_where_the_manifest_has_them(self):
        at, host = self.d.folder / "at", self.d.folder / "host"
        host.mkdir()
        (host / "set").write_text("42\n")
        volumes = [{"name": "host", "hostPath": {"path": str(host)}},
                   {"name": "scratch", "emptyDir": {}},
                   {"name": "mine", "persistentVolumeClaim": {"claimName": "mine"}},
                   {"name": "team", "persistentVolumeClaim": {"claimName": "team"}}]
        mounts = [{"name": v["name"], "mountPath": f"{at}/{v['name']}"} for v in volumes]
        script = textwrap.dedent(f"""
            cat {self.at('host', at / 'host')}/set
            ls -A {self.at('scratch', at / 'scratch')}
            touch {self.at('scratch', at / 'scratch')}/file
            echo here >> {self.at('mine', at / 'mine')}/kept
            echo $MUSTER_JOB_ID >> {self.at('team', at / 'team')}/seen
            cat {self.at('mine', at / 'mine')}/kept
            echo $MUSTER_VOLUME_SCRATCH
            """)
        said = self.apply(self.job(script, mounts, volumes))
        self.assertEqual("not mounted" in said, not self.mounts, said)
        first = self.output(1).splitlines()
        self.assertEqual(first[:2], ["42", "here"])
        self.apply(self.job(script, mounts, volumes))
        self.assertEqual(self.output(2).splitlines()[:3], ["42", "here", "here"])
        self.assertEqual((self.d.folder / "team/seen").read_text(), "1\n2\n")
        claim = self.home / ".local/share/muster/claims/mine/kept"
        self.assertEqual(claim.read_text(), "here\nhere\n")
        self.d.until(lambda: not os.path.exists(first[-1]))
        if self.mounts:
            self.assertEqual(list((at / "host").iterdir()), [], "others see no mount")

    def test_a_place_that_cannot_be_made_is_told(self):
        if not self.mounts:
            self.skipTest("tasks can have no mounts here")
        self.apply(self.job("true", [{"name": "v", "mountPath": "/proc/nowhere/v"}],
                            [{"name": "v", "emptyDir": {}}]))
        self.assertEqual(self.d.finished(1)["phase"], "failed")
        self.assertIn("muster: mountPath /proc/nowhere/v: No such file or directory",
                      self.d.output(1))

    def test_logs_are_read_where_they_are(self):
        if not self.mounts:
            self.skipTest("tasks can have no mounts here")
        runs = self.d.folder / "runs"
        runs.mkdir()
        at = self.d.folder / "at"
        manifest = self.job("pwd; echo written", [{"name": "runs", "mountPath": str(at)}],
                            [{"name": "runs", "hostPath": {"path": str(runs)}}],
                            {"workingDir": str(at)})
        manifest["metadata"]["annotations"] = {"muster.dev/output": "log"}
        self.apply(manifest)
        self.assertEqual(self.output(1), f"{at}\nwritten\n")
        self.assertEqual((runs / "log").read_text(), f"{at}\nwritten\n")

    def test_config_maps_and_secrets_beside_a_job_are_its_alone(self):
        at = self.d.folder / "at"
        token = "t0k3n-that-nobody-else-sees"
        config = textwrap.dedent("""\
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: app}
            data: {app.yaml: "level: 3", LEVEL: "3"}
            """)
        secret = json.dumps({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"},
            "data": {"token": base64.b64encode(token.encode()).decode()}}) + "\n"
        manifest = self.job(
            f"cat {self.at('app', at / 'app')}/conf/a.yaml; echo; "
            f"stat -c %a {self.at('keys', at / 'keys')}/token; "
            f"[ $TOKEN = $(cat {self.at('keys', at / 'keys')}/token) ]; "
            f"sha256sum {self.at('keys', at / 'keys')}/token; echo $APP_LEVEL",
            [{"name": "app", "mountPath": f"{at}/app"},
             {"name": "keys", "mountPath": f"{at}/keys"}],
            [{"name": "app", "configMap": {"name": "app", "items": [
                {"key": "app.yaml", "path": "conf/a.yaml"}]}},
             {"name": "keys", "secret": {"secretName": "keys", "defaultMode": 0o400}}],
            {"envFrom": [{"prefix": "APP_", "configMapRef": {"name": "app"}}],
             "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {
                 "name": "keys", "key": "token"}}}]})
        self.apply(config, manifest, secret)
        said = self.output(1).splitlines()
        self.assertEqual(said[:2], ["level: 3", "400"])
        self.assertTrue(said[2].startswith(hashlib.sha256(token.encode()).hexdigest()), said)
        self.assertEqual(said[3], "3")
        told = json.dumps([self.d.job(1), self.d.get("/v1/history")])
        self.d.until(lambda: not any("volumes" in folders  # Some vanish meanwhile.
                                     for _, folders, _ in os.walk(self.d.folder / "state")))
        packed = base64.b64encode(token.encode())
        for text in [told.encode(), *(p.read_bytes() for p in
                                      (self.d.folder / "state").rglob("*") if p.is_file())]:
            self.assertNotIn(token.encode(), text)
            self.assertNotIn(packed, text)
        # They go at the next submission, for their job is over.
        files = self.home / ".local/state/muster/files"
        # Or have gone with this one, if its job was over when the client looked.
        self.assertLessEqual(len([p for p in files.iterdir() if p.is_dir()]), 1)
        self.d.run("submit", "true", env={"PATH": os.environ["PATH"], "HOME": str(self.home)})
        self.assertEqual(list(files.iterdir()), [])

    def test_files_of_a_calendar_stay(self):
        job = self.job("true", [], [])
        cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"},
                "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": job["spec"]}}}
        self.apply(cron, textwrap.dedent("""\
            apiVersion: v1
            kind: Secret
            metadata: {name: keys}
            stringData: {token: t0k}
            """))
        files = self.home / ".local/state/muster/files"
        for folder in files.iterdir():
            os.utime(folder, (0, 0))
        self.apply(job)
        self.assertEqual([p.read_text() for p in files.rglob("token")], ["t0k"])

    def test_secrets_are_kept_for_later_jobs_or_told_to_be_missing(self):
        manifest = self.job("echo $TOKEN | rev", [], [], {"env": [{
            "name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}}]})
        self.apply(manifest)
        self.assertEqual(self.d.finished(1)["phase"], "failed")
        self.assertIn("variable 'TOKEN'", self.d.output(1))
        self.assertIn("/.config/muster/secrets/keys: No such file", self.d.output(1))
        said = self.apply(textwrap.dedent("""\
            apiVersion: v1
            kind: Secret
            metadata: {name: keys}
            stringData: {token: t0k}
            """))
        self.assertIn("secret 'keys' is kept for later jobs", said)
        self.apply(manifest)
        self.assertEqual(self.output(2), "k0t\n")


class WithoutMountsTest(VolumesTest):
    """The same where the kernel gives tasks no mount namespace."""

    # There is no place to be made, and no mount to read a log in.
    test_a_place_that_cannot_be_made_is_told = test_logs_are_read_where_they_are = None

    def more_options(self):
        shim = self.d.folder / "shim"
        shim.write_text("#!/bin/sh\n[ $1 != --try-mounts ] || exit 1\n"
                        f"exec {self.d.programs.resolve()}/muster-shim \"$@\"\n")
        shim.chmod(0o755)
        return ["--shim", str(shim)]

    def test_it_is_told(self):
        self.assertFalse(self.mounts)
        self.assertIn("Volumes are not mounted: no mount namespace for tasks: Operation not",
                      self.d.run("nodes").stdout)
        said = self.apply(self.job("true", [{"name": "v", "mountPath": "/v"}],
                                   [{"name": "v", "emptyDir": {}}]))
        self.assertIn("volume 'v' is not mounted (no mount namespace for tasks: ", said)
        self.assertIn("and the volume at $MUSTER_VOLUME_V", said)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
