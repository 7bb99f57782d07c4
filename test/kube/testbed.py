"""A control plane for tests in Python: what test/kube/README.md describes, as a class."""

import contextlib
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "adapters/kubernetes/deploy"


def binary():
    """The path of kubetestbed, or None if it is not built."""
    if path := os.environ.get("MUSTER_KUBE_BINARY"):
        return path
    found = subprocess.run([ROOT / "dev", "kube", "path"], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def missing():
    """Why there is no control plane to test with; None if there is one."""
    return None if binary() else "no control plane: ./dev kube build makes one, and needs Go"


def require():
    """Ends the program as skipped if there is no control plane."""
    if why := missing():
        print(f"[  SKIPPED ] {why}")
        sys.exit(77)


class TimedOut(AssertionError):
    """What a test waits for did not come in time."""


def wait(what, condition, seconds=60):
    """Returns the first true value of condition(); TimedOut if none comes in time."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimedOut(f"not within {seconds} s: {what}")
        time.sleep(0.05)
    return value


def timed_out(error):
    """Whether nothing else is wrong than that something did not come in time. Tests of what has two cores
    together with a whole control plane are tried again for that, and for nothing else."""
    while isinstance(error, TimedOut):
        error = error.__cause__ or error.__context__
    return error is None


def rbac_path(kind):
    """The path of Roles of the namespace `default`, or of ClusterRoles, but for its last letter."""
    namespace = "/namespaces/default" if kind == "Role" else ""
    return f"/apis/rbac.authorization.k8s.io/v1{namespace}/{kind.lower()}"


class Testbed:
    """A running control plane; it ends with `with`, and with this process."""

    def __init__(self, *flags, audit=None):
        """`audit`: of which user each request is written down, to be read by audited()."""
        self.program = binary()
        self.scratch = tempfile.TemporaryDirectory(prefix="muster-kube-")
        self.dir = os.path.join(self.scratch.name, "plane")
        self.audit_log = pathlib.Path(self.scratch.name, "audit.log")
        if audit:
            policy = pathlib.Path(self.scratch.name, "audit.json")
            policy.write_text(json.dumps({
                "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                "rules": [{"level": "Metadata", "users": [audit]}, {"level": "None"}]}), encoding="utf-8")
            flags += (f"--arg=kube-apiserver=--audit-policy-file={policy}",
                      f"--arg=kube-apiserver=--audit-log-path={self.audit_log}")
        text = self.run("up", "--json", f"--owner={os.getpid()}", *flags)
        self.info = json.loads(text)
        self.server = self.info["server"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if os.path.exists(self.dir):
            self.run("down")
        self.scratch.cleanup()

    def run(self, command, *arguments):
        """Runs a command of kubetestbed on this control plane; returns what it prints."""
        done = subprocess.run([self.program, command, f"--dir={self.dir}", *arguments],
                              capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"{command} {arguments}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def status(self):
        done = subprocess.run([self.program, "status", f"--dir={self.dir}", "--json"],
                              capture_output=True, text=True)
        return json.loads(done.stdout)

    def component(self, name):
        """What status says of a component."""
        return next(one for one in self.status()["components"] if one["name"] == name)

    def kubectl(self, *arguments, stdin=None):
        done = subprocess.run([self.program, "kubectl", *arguments], input=stdin, capture_output=True,
                              text=True, env={**os.environ, "KUBECONFIG": self.info["kubeconfig"]})
        if done.returncode:
            raise AssertionError(f"kubectl {arguments}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def manifest(self, file):
        """The objects of a file of YAML, as kubectl reads them."""
        text = self.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", file)
        objects, decoder = [], json.JSONDecoder()
        while text := text.strip():
            one, end = decoder.raw_decode(text)
            objects += one["items"] if one["kind"] == "List" else [one]
            text = text[end:]
        return objects

    def install_muster(self):
        """Applies what muster-kube needs. Returns the path of a kubeconfig with the token of its
        service account, which may do what deploy/rbac.yaml says."""
        self.kubectl("apply", "-f", DEPLOY / "crds.yaml", "-f", DEPLOY / "rbac.yaml")
        # Until then there are no such objects, and some moments longer their lists are refused.
        self.kubectl("wait", "--for=condition=Established", "--timeout=30s",
                     "crd/queues.muster.dev", "crd/podgroups.muster.dev")
        for kind, path in (("Queue", "queues"), ("PodGroup", "namespaces/default/podgroups")):
            # A policy holds some moments after it was made.
            wait(f"unknown fields of a {kind} are refused", lambda: self.api(
                "POST", f"/apis/muster.dev/v1alpha1/{path}?dryRun=All", {
                    "apiVersion": "muster.dev/v1alpha1", "kind": kind, "metadata": {"name": "x"},
                    "spec": {"unknown": 1}})[0] == 422)
        token = self.kubectl("create", "token", "muster-kube", "-n", "muster-system", "--duration", "2h").strip()
        path = os.path.join(self.scratch.name, "muster-kube.kubeconfig")
        pathlib.Path(path).write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "muster",
            "clusters": [{"name": "muster", "cluster": {
                "server": self.server, "certificate-authority": self.info["certificate_authority"]}}],
            "users": [{"name": "muster", "user": {"token": token}}],
            "contexts": [{"name": "muster", "context": {"cluster": "muster", "user": "muster"}}],
        }), encoding="utf-8")
        return path

    def make_kind(self, group, version, kind, plural=None):
        """Serves objects of this namespaced kind, with whatever fields, unless another version of it is served.
        Returns their path in the namespace `default`."""
        plural = plural or f"{kind.lower()}s"
        self.ensure("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": f"{plural}.{group}",
                         # Without it the API server takes no names of Kubernetes' own groups.
                         "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
            "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
        self.kubectl("wait", "--for=condition=Established", "--timeout=30s", f"crd/{plural}.{group}")
        return f"/apis/{group}/{version}/namespaces/default/{plural}"

    def trust(self, user="admin"):
        """A TLS context that trusts the API server alone, with the certificate of a user."""
        context = ssl.create_default_context(cafile=self.info["certificate_authority"])
        context.load_cert_chain(f"{self.dir}/users/{user}.crt", f"{self.dir}/users/{user}.key")
        return context

    def connect(self, timeout=30):
        """A connection for many requests, as http.client has them."""
        address = urllib.parse.urlsplit(self.server)
        return http.client.HTTPSConnection(address.hostname, address.port, context=self.trust(), timeout=timeout)

    @contextlib.contextmanager
    def open(self, path, timeout=600):
        """The answer to a GET, to be read line by line: a watch."""
        with contextlib.closing(self.connect(timeout)) as connection:
            connection.request("GET", path)
            with connection.getresponse() as answer:
                yield answer

    def api(self, method, path, body=None, user="admin", timeout=30):
        """The status code and the decoded answer of one request."""
        context = self.trust(user)
        request = urllib.request.Request(
            self.server + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "muster-test"})
        try:
            with urllib.request.urlopen(request, context=context, timeout=timeout) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def audited(self, begin=0):
        """The requests of the audited user behind the first `begin` bytes, and how many bytes there are."""
        if not self.audit_log.exists():
            return [], 0
        text = self.audit_log.read_bytes()
        whole = text[begin:text.rfind(b"\n") + 1]
        return [json.loads(line) for line in whole.splitlines()], begin + len(whole)

    def create(self, path, body, fine=(201,)):
        code, answer = self.api("POST", path, body)
        if code not in fine:
            raise AssertionError(f"POST {path}: {code}: {answer.get('message')}")
        return answer

    def ensure(self, path, body):
        """Creates it, unless it is there already."""
        self.create(path, body, fine=(201, 409))

    def service_account(self, name, role=None, kind="ClusterRole"):
        """Of the namespace `default`, with the rights of this role: there, or everywhere if it is a ClusterRole."""
        self.ensure("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": name}})
        if role:
            self.ensure(rbac_path(kind) + "bindings", {
                "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})

    def get(self, path):
        """The object, or None if there is none."""
        code, answer = self.api("GET", path)
        if code not in (200, 404):
            raise AssertionError(f"GET {path}: {code}: {answer.get('message')}")
        return answer if code == 200 else None
