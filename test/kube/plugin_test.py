#!/usr/bin/env python3
"""`kubectl muster` finds the replica that leads, and asks it as whom the kubeconfig says.

    plugin_test.py MUSTER_KUBE

The pods of this control plane have no network: the port is forwarded by a script, which does what
`kubectl port-forward` does for the caller, and passes everything else on to kubectl.
"""

import os
import pathlib
import shlex
import socket
import subprocess

import muster
import testbed
from muster import DEFAULT, pod


class PluginTest(muster.StoryTest):
    flags = ("--nodes=1", "--gpus=2")

    def listen(self, *flags):
        """Starts muster-kube; returns the port on which it listens."""
        running = self.run_muster("--listen=127.0.0.1:0", *flags)
        return next(line for line in running.lines if "listens on" in line).rsplit(" ", 1)[1].strip()

    def viewer(self):
        """A service account that may read pods."""
        self.plane.kubectl("apply", "-f", testbed.DEPLOY / "questions.yaml")
        self.plane.service_account("viewer", "view")

    def kubectl_that_forwards(self, port):
        """The path of a kubectl, and that of a file in which it notes how it forwards."""
        path = os.path.join(self.plane.scratch.name, "kubectl")
        pathlib.Path(path).write_text(f"""#!/bin/sh
case "$*" in *port-forward*) echo "$@" > {shlex.quote(path)}.args
  echo "Forwarding from 127.0.0.1:{port} -> 8080"; exec sleep 600;; esac
exec {shlex.quote(self.plane.program)} kubectl "$@"
""", encoding="utf-8")
        os.chmod(path, 0o755)
        return path, path + ".args"

    def ask(self, *arguments):
        """Exit code, output and errors, with the kubeconfig of an administrator, which has a certificate."""
        return muster.ask(muster.PLUGIN, *arguments, kubeconfig=self.plane.info["kubeconfig"])

    def test_the_leader_is_found_and_asked_as_a_service_account(self):
        port = self.listen("--lease-duration=3", "--longest-request=1")
        self.viewer()
        self.plane.create(f"{DEFAULT}/pods", pod(gpus=1, name="small"))
        testbed.wait("one runs", lambda: self.bound() == ["small"])
        self.plane.create(f"{DEFAULT}/pods", pod(gpus=2, name="large"))
        testbed.wait("it is told why it waits", lambda: "large" in self.conditions())
        kubectl, noted = self.kubectl_that_forwards(port)
        arguments = ("explain", "pod/large", f"--kubectl={kubectl}")
        as_viewer = (*arguments, "--service-account=default/viewer")
        testbed.wait("the rights are known", lambda: self.ask(*as_viewer)[0] == 0, 20)
        code, out, error = self.ask(*as_viewer)
        self.assertEqual((0, ""), (code, error))
        self.assertIn("Pod default/large: waiting", out)
        self.assertIn("2 nvidia.com/gpu needed, 1 there", out)
        self.assertEqual(
            f"port-forward --address=127.0.0.1 --namespace=muster-system pod/{socket.gethostname()} :8080",
            pathlib.Path(noted).read_text(encoding="utf-8").strip())
        code, out, error = self.ask(*arguments)
        self.assertEqual((1, ""), (code, out))
        self.assertIn("--service-account", error)
        code, _, error = self.ask(*arguments, "--service-account=default/nobody")
        self.assertEqual(1, code)
        self.assertIn("create token nobody", error)
        code, _, error = self.ask(*as_viewer, "--lease-name=other")
        self.assertEqual(1, code)
        self.assertIn("NotFound", error)
        self.assertEqual([], subprocess.run(
            ["pgrep", "-f", f"{kubectl} port-forward"], capture_output=True, text=True).stdout.split())

    def test_nobody_answers_and_wrong_command_lines(self):
        port = self.listen("--no-leader-elect")
        self.muster.kill()
        self.viewer()
        kubectl, _ = self.kubectl_that_forwards(port)
        account = ("--service-account=default/viewer", f"--kubectl={kubectl}")
        code, out, error = self.ask("queue", f"--server=http://127.0.0.1:{port}", *account)
        self.assertEqual((3, ""), (code, out), error)
        code, _, error = self.ask("queue", "--server=http://example.com:80", *account)
        self.assertEqual(1, code)
        self.assertIn("expected http://127.0.0.1:PORT", error)
        for wrong in ((), ("why",), ("what-if", "--add-nodes=2"), ("queue", "-o", "yaml")):
            self.assertEqual(2, self.ask(*wrong)[0], wrong)


if __name__ == "__main__":
    muster.main()
