#!/usr/bin/env python3
"""What an operator installs: deploy/ and examples/, as the API server takes them, and the image's recipe.

    deploy_test.py MUSTER_KUBE
"""

import re
import subprocess
import unittest

import muster
import stories
import testbed

EXAMPLES = testbed.DEPLOY.parent / "examples"
# In every image of Debian.
BASE = {"libc6", "libgcc-s1", "libstdc++6"}


class ManifestsTest(stories.ClusterTest):
    flags = ()

    @classmethod
    def prepare(cls, plane):
        plane.make_kind("kubeflow.org", "v1", "PyTorchJob")  # Its operator brings it.
        return plane.install_muster()

    def test_the_api_server_takes_every_manifest_and_knows_every_field(self):
        files = sorted([*testbed.DEPLOY.glob("*.yaml"), *EXAMPLES.glob("*.yaml")])
        self.assertGreaterEqual(len(files), 7)
        for file in files:
            with self.subTest(file.name):
                text = file.read_text(encoding="utf-8")
                if file.parent == EXAMPLES:  # What a user fills in.
                    for word, value in (("NAME", "mine"), ("PRIORITY", "low"), ("SECONDS", "60")):
                        text = text.replace(word, value)
                self.plane.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)

    def test_the_deployment_is_of_two_that_may_do_little(self):
        deployment, = self.plane.manifest(testbed.DEPLOY / "deployment.yaml")
        self.assertEqual(2, deployment["spec"]["replicas"])
        spec = deployment["spec"]["template"]["spec"]
        self.assertTrue(spec["securityContext"]["runAsNonRoot"])
        accounts = [one["metadata"]["name"] for one in self.plane.manifest(testbed.DEPLOY / "rbac.yaml")
                    if one["kind"] == "ServiceAccount"]
        self.assertEqual(accounts, [spec["serviceAccountName"]])
        for container in spec["containers"]:
            may = container["securityContext"]
            self.assertTrue(may["readOnlyRootFilesystem"])
            self.assertFalse(may["allowPrivilegeEscalation"])
            self.assertEqual({"drop": ["ALL"]}, may["capabilities"])
            self.assertIn("memory", container["resources"]["limits"])
        for volume in spec.get("volumes", []):
            self.assertNotIn("hostPath", volume)

    def test_its_arguments_are_ones_that_the_program_knows(self):
        deployment, = self.plane.manifest(testbed.DEPLOY / "deployment.yaml")
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        known = subprocess.run([muster.PROGRAM, *arguments, "--help"], capture_output=True, text=True)
        self.assertEqual(0, known.returncode, known.stderr)
        for one in arguments:
            self.assertIn(one.partition("=")[0], known.stdout)

    def test_no_rule_has_a_wildcard(self):
        for one in self.plane.manifest(testbed.DEPLOY / "rbac.yaml"):
            for rule in one.get("rules", []):
                self.assertNotIn("*", rule["apiGroups"] + rule["resources"] + rule["verbs"])


class ContainerfileTest(unittest.TestCase):
    """Of a file: there is no cluster, and nothing to check in it."""

    def setUp(self):
        text = (testbed.DEPLOY / "Containerfile").read_text(encoding="utf-8")
        lines = re.sub(r"^\s*#.*\n", "", text, flags=re.M).replace("\\\n", " ").splitlines()
        self.steps = [tuple(line.split(None, 1)) for line in lines if line.strip()]
        last = max(i for i, (name, _) in enumerate(self.steps) if name == "FROM")
        self.image = self.steps[last:]  # The stage that is kept.

    def packages(self, steps):
        return {word for name, what in steps if name == "RUN" for command in what.split("&&")
                if (words := command.split())[:2] == ["apt-get", "install"] for word in words[2:]
                if not word.startswith("-")}

    def test_steps_are_known_ones(self):
        known = {"FROM", "RUN", "COPY", "LABEL", "USER", "ENTRYPOINT"}
        self.assertEqual(set(), {name for name, _ in self.steps} - known)  # ADD takes what a URL has today.

    def test_bases_name_their_registry_and_version(self):
        for name, what in self.steps:
            if name == "FROM":
                self.assertRegex(what, r"^[a-z0-9.-]+\.[a-z]+/[a-z0-9/_-]+:\d[\w.-]*( AS \w+)?$")

    def test_it_does_not_run_as_root(self):
        users = [what for name, what in self.image if name == "USER"]
        self.assertRegex(users[-1], r"^[1-9]\d*(:[1-9]\d*)?$")
        names = [name for name, _ in self.image]
        self.assertLess(names.index("USER"), names.index("ENTRYPOINT"))
        self.assertNotIn("RUN", names[names.index("USER"):])

    def test_it_starts_without_a_shell(self):
        self.assertEqual([("ENTRYPOINT", '["/usr/bin/muster-kube"]')], self.image[-1:])

    def test_packages_bring_nothing_along_and_leave_no_lists(self):
        for name, what in self.image:
            if name == "RUN" and "apt-get install" in what:
                self.assertIn("--no-install-recommends", what)
                self.assertIn("rm -rf /var/lib/apt/lists/*", what)

    @unittest.skipUnless(subprocess.run("command -v dpkg readelf", shell=True, capture_output=True).returncode == 0,
                         "needs Debian and binutils")
    def test_it_has_the_libraries_that_the_program_needs(self):
        dynamic = subprocess.run(["readelf", "-d", muster.PROGRAM], check=True, capture_output=True, text=True)
        needed = re.findall(r"NEEDED.*\[(.+)\]", dynamic.stdout)
        if any(name.startswith("libasan.") for name in needed):
            self.skipTest("a build with sanitizers is none for an image")
        self.assertTrue(any("curl" in name for name in needed), needed)
        for name in needed:
            owner = subprocess.run(["dpkg", "-S", f"*/{name}"], capture_output=True, text=True)
            packages = {line.partition(":")[0] for line in owner.stdout.splitlines()}
            self.assertTrue(packages & (self.packages(self.image) | BASE), f"{name} is in {packages}")


if __name__ == "__main__":
    muster.main()
