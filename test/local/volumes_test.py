#!/usr/bin/env python3
"""Stories of volumes, config maps and secrets, with real processes: volumes_test.py PROGRAMS"""

import json
import os
import sys
import textwrap
import unittest

from daemon import Daemon


class VolumesTest(unittest.TestCase):
    def setUp(self):
        self.d = Daemon(PROGRAMS)
        self.home = self.d.folder / "home"
        self.home.mkdir()
        self.config = self.d.folder / "musterd.yaml"
        (self.d.folder / "team").mkdir()
        self.config.write_text(f"claims: {{team: {self.d.folder}/team}}\n")
        self.d.options = ["--gpus", "0", "--config", str(self.config)]
        self.d.start()
        self.addCleanup(self.d.end)
        self.mounts = "no_mounts" not in self.d.get("/v1/nodes")["nodes"][0]

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


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    unittest.main(verbosity=2)
