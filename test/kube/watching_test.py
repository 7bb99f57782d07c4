#!/usr/bin/env python3
"""muster-kube is watched: probes, metrics, the dashboard that shows them, queues' status, and people who ask.

    watching_test.py MUSTER_KUBE
"""

import json
import os
import pathlib
import re
import urllib.error
import urllib.request

import muster
import testbed
from muster import DEFAULT, QUEUES, pod

QUESTIONS = "/apis/muster/v1"
SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')


class WatchingTest(muster.StoryTest):
    flags = ("--nodes=2", "--gpus=2")
    shared = True

    def watch(self):
        """A program that listens, with one gang that runs and one that waits in a queue."""
        muster_kube = self.run_muster("--no-leader-elect", "--listen=127.0.0.1:0")
        line = next(line for line in muster_kube.lines if "listens on" in line)
        self.port = int(line.rsplit(" ", 1)[1])
        self.plane.create(QUEUES, {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue",
                                   "metadata": {"name": "research"}, "spec": {}})
        for name in ("red", "blue"):
            self.group(name, 4)
            for i in range(4):
                self.plane.create(f"{DEFAULT}/pods", pod(
                    gpus=1, group=name, name=f"{name}-{i}", labels={"gang": name, "muster.dev/queue": "research"}))
            testbed.wait("red runs", lambda: len(self.bound("gang=red")) == 4)
        testbed.wait("blue is told why not", lambda: "blue-0" in self.conditions())

    def ask(self, path, token=None, body=None):
        """The status code and the text of an answer."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metrics(self):
        """By name: labels as they stand there, and values."""
        code, text = self.ask("/metrics")
        self.assertEqual(200, code)
        found = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, labels, value = SAMPLE.match(line).groups()
                found.setdefault(name, {})[labels or ""] = float(value)
        return found

    def account(self, name, rules=(), role="Role"):
        """The token of a service account that may do this."""
        if rules:
            self.plane.ensure(testbed.rbac_path(role) + "s", {"metadata": {"name": name}, "rules": list(rules)})
        self.plane.service_account(name, name if rules else None, role)
        return self.plane.kubectl("create", "token", name, "--duration", "1h").strip()

    def accounts(self):
        """Tokens of one who may read pods of the namespace, one who may read everything, and one who may nothing."""
        self.plane.kubectl("apply", "-f", testbed.DEPLOY / "questions.yaml")
        pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
        queues = {"apiGroups": ["muster.dev"], "resources": ["queues"], "verbs": ["list"]}
        return (self.account("tenant", [pods]), self.account("operator", [pods, queues], "ClusterRole"),
                self.account("stranger"))

    def test_probes_and_metrics(self):
        self.watch()
        self.assertEqual((200, "ok\n"), self.ask("/healthz"))
        self.assertEqual((200, "ok\n"), self.ask("/readyz"))
        metrics = self.metrics()
        self.assertEqual(1, metrics["muster_deciding"][""])
        self.assertEqual(4, metrics["muster_queue_pods"]['queue="research",state="running"'])
        self.assertEqual(4, metrics["muster_queue_pods"]['queue="research",state="pending"'])
        self.assertEqual(1, metrics["muster_groups_waiting"]['reason="insufficient"'])
        self.assertEqual(1, metrics["muster_decisions_total"]['kind="start"'])
        self.assertEqual(4, metrics["muster_api_requests_total"][
            'verb="create",resource="pods/binding",outcome="done",code="201"'])
        self.assertGreaterEqual(metrics["muster_event_to_request_seconds_count"][""], 4)
        self.assertLess(metrics["muster_event_to_request_seconds_sum"][""], 1)
        self.assertEqual(2, metrics["muster_nodes"][""])

    def test_the_dashboard_shows_metrics_that_are_there(self):
        self.watch()
        metrics = self.metrics()
        dashboard = json.loads((testbed.DEPLOY / "dashboard.json").read_text(encoding="utf-8"))
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        expressions += [one["query"] for one in dashboard["templating"]["list"]]
        named = set(re.findall(r"\b(?:muster|process)_[a-z_]+", " ".join(expressions)))
        self.assertGreater(len(named), 10)
        self.assertEqual(set(), named - set(metrics))
        labels = {name: set(re.findall(r'(\w+)="', "".join(found))) for name, found in metrics.items()}
        for expression in expressions:
            by = re.search(r"by \(([^)]*)\)", expression)
            name = re.search(r"\b(?:muster|process)_[a-z_]+", expression)
            if by and name:  # Prometheus adds job and instance.
                self.assertLessEqual(set(by[1].split(", ")) - {"job", "instance"}, labels[name[0]], expression)
        self.assertTrue(any("quantile(0.99" in one and "muster_event_to_request_seconds_bucket" in one
                            for one in expressions))
        # What is told and shown nowhere is no mistake, but for queues and reasons.
        self.assertIn("muster_groups_waiting", named)

    def test_a_queues_status_is_what_waits_and_runs_there(self):
        self.watch()
        wanted = {"pendingGroups": 1, "runningGroups": 1, "pendingPods": 4, "runningPods": 4}

        def status():
            found = self.plane.get(f"{QUEUES}/research").get("status", {})
            return found if all(found.get(name) == value for name, value in wanted.items()) else None

        found = testbed.wait("the status says so", status, 15)
        self.assertEqual("4", found["used"]["nvidia.com/gpu"])
        table = self.plane.kubectl("get", "queues.muster.dev", "research")
        heads, values = (line.split() for line in table.splitlines())
        row = dict(zip([head for head in heads if head not in ("PARENT", "CLOSED")], values))
        self.assertEqual(("1", "1", "4"), (row["PENDING"], row["RUNNING"], row["PODS"]), table)

    def test_people_are_told_what_they_may_read(self):
        self.watch()
        tenant, operator, stranger = self.accounts()
        explain = f"{QUESTIONS}/explain?namespace=default&group=blue"
        code, text = testbed.wait("the rights are known", lambda: (
            answer if (answer := self.ask(explain, tenant))[0] == 200 else None), 15)
        answer = json.loads(text)
        self.assertEqual("insufficient", answer["reason"])
        self.assertIn("4 nvidia.com/gpu needed, 0 there", answer["message"])
        self.assertEqual(4, len(answer["pods"]))
        self.assertEqual(403, self.ask(f"{QUESTIONS}/gangs", tenant)[0])
        self.assertEqual(403, self.ask(f"{QUESTIONS}/queues", tenant)[0])
        self.assertEqual(403, self.ask(f"{QUESTIONS}/explain?namespace=kube-system&group=x", tenant)[0])
        self.assertEqual(403, self.ask(f"{QUESTIONS}/what-if", tenant, {})[0])
        self.assertEqual(403, self.ask(explain, stranger)[0])
        self.assertEqual(401, self.ask(explain, "forged")[0])
        self.assertEqual(401, self.ask(explain)[0])
        queues = json.loads(self.ask(f"{QUESTIONS}/queues", operator)[1])["items"]
        self.assertEqual({"default", "research"}, {one["name"] for one in queues})
        code, text = self.ask(f"{QUESTIONS}/what-if", operator, {"finish": [{"namespace": "default", "group": "red"}]})
        self.assertEqual(200, code, text)
        self.assertEqual([("start", "blue")], [(one["kind"], one["group"]) for one in json.loads(text)["decisions"]])
        self.assertEqual(4, len(self.bound("gang=red")))  # It was only asked.
        self.check_secrets(tenant, operator, stranger)

    def check_secrets(self, *tokens):
        for line in list(self.muster.lines):
            for token in tokens:
                self.assertNotIn(token[-40:], line)

    def test_without_the_right_to_review_nobody_is_answered(self):
        self.watch()
        tenant, _, _ = self.accounts()
        self.plane.kubectl("delete", "-f", testbed.DEPLOY / "questions.yaml")
        code, text = testbed.wait("the right is gone", lambda: (
            answer if (answer := self.ask(f"{QUESTIONS}/gangs?namespace=default", tenant))[0] == 503 else None), 30)
        self.assertIn("did not say who asks", text)
        self.assertEqual((200, "ok\n"), self.ask("/readyz"))

    def test_kubectl_muster_asks_as_the_kubeconfig_says(self):
        self.watch()
        tenant, operator, stranger = self.accounts()
        testbed.wait("the rights are known", lambda: self.ask(
            f"{QUESTIONS}/explain?namespace=default&group=blue", tenant)[0] == 200, 15)
        code, out, _ = self.plugin(tenant, "explain", "blue")
        self.assertEqual(0, code)
        self.assertIn("4 nvidia.com/gpu needed, 0 there", out)
        code, out, error = self.plugin(stranger, "explain", "blue")
        self.assertEqual((1, ""), (code, out))
        self.assertIn("may not get pods", error)
        self.assertEqual(1, self.plugin(tenant, "queue")[0])
        code, out, _ = self.plugin(operator, "queue")
        self.assertEqual(0, code)
        self.assertIn("research", out)
        code, out, _ = self.plugin(operator, "queue", "-o", "json")
        self.assertEqual({"default", "research"}, {one["name"] for one in json.loads(out)["items"]})
        code, out, _ = self.plugin(operator, "what-if", "--finish", "red")
        self.assertEqual(0, code)
        self.assertIn("blue", out)

    def plugin(self, token, *arguments):
        """kubectl muster, as kubectl finds it on PATH: exit code, output, errors."""
        path = os.path.join(self.plane.scratch.name, "asker.kubeconfig")
        with open(self.kubeconfig, encoding="utf-8") as file:
            config = json.load(file)
        config["users"][0]["user"]["token"] = token
        pathlib.Path(path).write_text(json.dumps(config), encoding="utf-8")
        return muster.ask(self.plane.program, "kubectl", "muster", *arguments,
                          f"--server=http://127.0.0.1:{self.port}", kubeconfig=path)


if __name__ == "__main__":
    muster.main()
