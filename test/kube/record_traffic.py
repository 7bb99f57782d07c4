#!/usr/bin/env python3
"""Records what kube-apiserver says to the requests of muster-kube, for tests that have no API server.

    record_traffic.py FOLDER            writes FOLDER/pods.txt and FOLDER/writes.txt
    record_traffic.py --check FOLDER    records likewise, and fails if the API server answers otherwise now

The format, a line for each part; test/adapters/kubernetes_client/traffic.h reads it:

    # a comment
    REQUEST METHOD PATH
    BODY one line of JSON
    ANSWER STATUS
    RETRY-AFTER SECONDS
    LINE a line of the answer's body, with its end

Requests of which nothing is expected (what happens between a watch's events) are not written down."""

import contextlib
import json
import pathlib
import re
import socket
import sys
import threading
import time

import testbed

DEFAULT = "/api/v1/namespaces/default"
PODS = f"{DEFAULT}/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


class Recorder:
    """A conversation of a client with the API server of `plane`, as lines."""

    def __init__(self, plane, title):
        self.plane = plane
        self.lines = [f"# {title}", "# Recorded by test/kube/record_traffic.py from kube-apiserver "
                      + plane.api("GET", "/version")[1]["gitVersion"] + "."]

    def ask(self, method, path, body=None):
        """One request and its whole answer; returns the answer's object."""
        text = None if body is None else json.dumps(body, separators=(",", ":"))
        self.lines += ["", f"REQUEST {method} {path}", *([f"BODY {text}"] if text else [])]
        with contextlib.closing(self.plane.connect()) as connection:
            connection.request(method, path, text, {"Content-Type": "application/json", "User-Agent": "muster-test"})
            with connection.getresponse() as answer:
                return json.loads(self.answer(answer, answer.read().decode()))

    def answer(self, answer, text):
        self.lines.append(f"ANSWER {answer.status}")
        if after := answer.headers["Retry-After"]:
            self.lines.append(f"RETRY-AFTER {after}")
        assert text.endswith("\n"), text[-100:]
        self.lines += [f"LINE {line}" for line in text[:-1].split("\n")]
        return text

    def watch(self, path, version, seconds, meanwhile):
        """A watch until the server ends it; meanwhile() is called once it is open. Returns its events."""
        path += f"?watch=1&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={seconds}"
        self.lines += ["", f"REQUEST GET {path}"]
        with self.plane.open(path, timeout=60) as answer:
            thread = threading.Thread(target=meanwhile)
            thread.start()
            text = answer.read().decode()
            thread.join()
            return [json.loads(line) for line in self.answer(answer, text).splitlines()]

    def text(self):
        """Without what belongs to the machine; AssertionError if some of it is left."""
        text = "\n".join(self.lines) + "\n"
        for word in {socket.gethostname(), str(pathlib.Path.home()), self.plane.dir, self.plane.scratch.name}:
            assert not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text), f"{word} is in the recording"
        for pattern in (r"eyJ[\w-]+\.eyJ[\w-]+\.", "Bearer ", "BEGIN CERTIFICATE"):
            assert not re.search(pattern, text), f"{pattern} is in the recording"
        own = {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None)}
        for address in own - {"127.0.0.1", "::1"}:
            assert address not in text, f"{address} is in the recording"
        return text


def pod(name, **labels):
    return {"metadata": {"name": name, "labels": {"app": "recorded", **labels}},
            "spec": {"schedulerName": "muster", "automountServiceAccountToken": False, "enableServiceLinks": False,
                     "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "main", "image": "example.com/main",
                                     "resources": {"requests": {"cpu": "100m"}}}]}}


def bind(one, node):
    """As adapters/kubernetes/api/writers.h writes it."""
    meta = one["metadata"]
    return {"apiVersion": "v1", "kind": "Binding",
            "metadata": {"annotations": {"muster.dev/decision": "7", "muster.dev/task": "0"}, "name": meta["name"],
                         "namespace": "default", "uid": meta["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}}


def evict(one):
    meta = one["metadata"]
    return {"apiVersion": "policy/v1", "kind": "Eviction",
            "deleteOptions": {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": meta["uid"]}},
            "metadata": {"name": meta["name"], "namespace": "default"}}


def forget_the_past(plane):
    """The API server's own memory goes with its process, and etcd's with compaction."""
    plane.run("compact")
    plane.run("kill", "kube-apiserver")
    plane.run("start", "kube-apiserver")


def lists_and_watches(plane):
    """A list in pages; a watch with a bookmark; one that is too old; a page that is; the list as a whole."""
    record = Recorder(plane, "A list of pods in pages, watches, and what is said of versions that are too old.")
    for name in ("a", "b", "c"):
        plane.create(PODS, pod(name))
    testbed.wait("the namespace is ready", lambda: plane.get("/api/v1/namespaces/kube-public/serviceaccounts/default"))
    first = record.ask("GET", f"{PODS}?resourceVersion=&limit=2")
    last = record.ask("GET", f"{PODS}?resourceVersion=&limit=2&continue={first['metadata']['continue']}")

    def meanwhile():
        plane.create(PODS, pod("d"))
        plane.create(f"{PODS}/d/binding", {"metadata": {"name": "d"}, "target": {"name": "node-0"}})
        plane.api("DELETE", f"{PODS}/b?gracePeriodSeconds=0")
        testbed.wait("d runs", lambda: plane.get(f"{PODS}/d")["status"]["phase"] == "Running")
        # Of another namespace: a bookmark alone tells of it.
        plane.create("/api/v1/namespaces/kube-public/pods", pod("elsewhere"))

    events = record.watch(PODS, last["metadata"]["resourceVersion"], 6, meanwhile)
    version = events[-1]["object"]["metadata"]["resourceVersion"]
    for name in ("e", "f"):
        plane.create(PODS, pod(name))
    forget_the_past(plane)
    record.watch(PODS, version, 6, lambda: None)
    first = record.ask("GET", f"{PODS}?resourceVersion=&limit=2")
    plane.create(PODS, pod("g"))
    forget_the_past(plane)
    record.ask("GET", f"{PODS}?resourceVersion=&limit=2&continue={first['metadata']['continue']}")
    whole = record.ask("GET", f"{PODS}?resourceVersion=")
    record.watch(PODS, whole["metadata"]["resourceVersion"], 4, lambda: plane.create(PODS, pod("h")))
    return record.text()


def writes(plane):
    """Bindings and evictions: done, refused, of a pod that is gone."""
    record = Recorder(plane, "Bindings and evictions of pods that a list has told.")
    for name in ("bound", "gone", "guarded"):
        plane.create(PODS, pod(name, budget=name))
    plane.create(BUDGETS, {"metadata": {"name": "guarded"}, "spec": {
        "minAvailable": 1, "selector": {"matchLabels": {"budget": "guarded"}}}})
    bound, gone, guarded = record.ask("GET", f"{PODS}?resourceVersion=")["items"]
    record.ask("POST", f"{PODS}/bound/binding", bind(bound, "node-0"))
    record.ask("POST", f"{PODS}/guarded/binding", bind(guarded, "node-1"))
    record.ask("POST", f"{PODS}/bound/binding", bind(bound, "node-1"))  # It has a node.
    record.ask("GET", f"{PODS}/bound")
    plane.api("DELETE", f"{PODS}/gone?gracePeriodSeconds=0")
    record.ask("POST", f"{PODS}/gone/binding", bind(gone, "node-0"))
    plane.create(PODS, pod("gone"))
    record.ask("POST", f"{PODS}/gone/binding", bind(gone, "node-0"))  # Another one of that name.
    testbed.wait("the budget is counted", lambda: plane.get(f"{BUDGETS}/guarded").get("status", {})
                 .get("currentHealthy") == 1)
    record.ask("POST", f"{PODS}/guarded/eviction", evict(guarded))
    plane.api("DELETE", f"{BUDGETS}/guarded")
    testbed.wait("the API server knows it", lambda: plane.get(f"{BUDGETS}/guarded") is None)
    record.ask("POST", f"{PODS}/guarded/eviction", evict(guarded))
    testbed.wait("the pod is gone", lambda: plane.get(f"{PODS}/guarded") is None)
    record.ask("POST", f"{PODS}/guarded/eviction", evict(guarded))
    return record.text()


RECORDINGS = {"pods.txt": lists_and_watches, "writes.txt": writes}


def shape(text):
    """Of a recording: what would be the same another time."""
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "REQUEST":
            yield re.sub(r"(resourceVersion|continue)=[^&]+", r"\1=", rest)
        elif word == "LINE":
            answer = json.loads(rest)
            about = answer.get("object", answer)
            what = [about.get("kind"), about.get("code"), about.get("reason"), about.get("status")
                    if isinstance(about.get("status"), str) else "", about["metadata"].get("name")]
            yield " ".join(str(one) for one in [answer.get("type", ""), *what])
        elif word in ("ANSWER", "RETRY-AFTER"):
            yield line


def steady(lines):
    """Of changes to one object in a row, the first: a kubelet may write its status in one or in two."""
    last = None
    for line in lines:
        if line != last:
            yield line
        last = line


def main():
    check, folder = "--check" in sys.argv, pathlib.Path(sys.argv[-1])
    testbed.require()
    for name, record in RECORDINGS.items():
        begin = time.monotonic()
        with testbed.Testbed("--nodes=2") as plane:
            text = record(plane)
        print(f"{name}: {len(text)} bytes, {time.monotonic() - begin:.1f} s", file=sys.stderr)
        if not check:
            (folder / name).write_text(text, encoding="utf-8")
            continue
        was, now = (list(steady(shape(one))) for one in ((folder / name).read_text(encoding="utf-8"), text))
        if was != now:
            print(f"{name}: the API server answers otherwise now", *(f"- {one}" for one in was),
                  *(f"+ {one}" for one in now), sep="\n")
            sys.exit(1)


if __name__ == "__main__":
    main()
