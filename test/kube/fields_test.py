#!/usr/bin/env python3
"""deploy/crds.yaml takes the fields that it names and no other, whoever sends them.

    fields_test.py MUSTER_KUBE

The API server is not asked to be strict: what it does by itself is looked at.
"""

import copy

import muster
import stories
import testbed

PATHS = {"Queue": muster.QUEUES, "PodGroup": muster.MUSTER_GROUPS}


def sample(schema):
    """A value that has every field of the schema."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "integer")
    if kind == "array":
        return [sample(schema["items"])]
    if kind == "object":
        if "properties" not in schema:
            return {"key": "x"}
        return {name: sample(part) for name, part in schema["properties"].items() if name != "status"}
    return {"integer": 1, "string": "x", "boolean": True}[kind]


def objects(value, path=()):
    """Paths of all objects in a value but for maps with any keys."""
    if isinstance(value, list):
        for i, one in enumerate(value):
            yield from objects(one, (*path, i))
    elif isinstance(value, dict) and path[-1:] != ("matchLabels",):
        yield path
        for name, one in value.items():
            yield from objects(one, (*path, name))


class FieldsTest(stories.ClusterTest):
    flags = ()

    @classmethod
    def prepare(cls, plane):
        cls.samples = {}
        for one in plane.manifest(testbed.DEPLOY / "crds.yaml"):
            if one["kind"] == "CustomResourceDefinition":
                version, = one["spec"]["versions"]
                kind = one["spec"]["names"]["kind"]
                cls.samples[kind] = {"apiVersion": f"muster.dev/{version['name']}", "kind": kind,
                                     **sample(version["schema"]["openAPIV3Schema"]), "metadata": {"name": "x"}}
        return plane.install_muster()

    def test_every_field_of_a_schema_is_taken_and_kept(self):
        for kind, one in self.samples.items():
            with self.subTest(kind):
                self.assertGreaterEqual(len(list(objects(one["spec"]))), 5)
                code, answer = self.plane.api("POST", PATHS[kind], one)
                self.assertEqual(201, code, answer)
                self.assertEqual(one["spec"], answer["spec"])
                code, answer = self.plane.api("PUT", f"{PATHS[kind]}/x", answer)
                self.assertEqual(200, code, answer)
                self.plane.api("DELETE", f"{PATHS[kind]}/x")

    def test_a_field_that_no_schema_has_is_refused(self):
        for kind, whole in self.samples.items():
            self.assertEqual(201, self.plane.api("POST", PATHS[kind], whole)[0])
            there = self.plane.get(f"{PATHS[kind]}/x")
            for path in objects({name: part for name, part in whole.items() if name != "metadata"}):
                with self.subTest(kind, path=path):
                    self.refuses("POST", PATHS[kind], {**whole, "metadata": {"name": "y"}}, path)
                    self.refuses("PUT", f"{PATHS[kind]}/x", there, path)
            self.plane.api("DELETE", f"{PATHS[kind]}/x")

    def refuses(self, method, path, one, where):
        one = copy.deepcopy(one)
        part = one
        for step in where:
            part = part[step]
        part["limitt"] = 1
        code, answer = self.plane.api(method, path, one)
        self.assertEqual(422, code, answer)
        self.assertIn("unknown field", answer["message"])

    def test_kubectl_that_checks_nothing_is_refused_too(self):
        text = """{"apiVersion": "muster.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "typo"},
                   "spec": {"quotas": [{"resource": "cpu", "limmit": 1}]}}"""
        for more in ((), ("--server-side",)):
            with self.subTest(more), self.assertRaisesRegex(AssertionError, "unknown field: spec.quotas.limmit"):
                self.plane.kubectl("apply", "--validate=false", *more, "-f", "-", stdin=text)

    def test_an_object_of_the_largest_size_is_taken(self):
        """The rules have a budget of steps."""
        level = {"required": "a", "preferred": "b", "slices": [{"required": "c", "size": 1}] * 16}
        group = {"name": "", "minMember": 2, "topology": level}
        for count, code in ((1023, 201), (1024, 422)):
            one = {"apiVersion": "muster.dev/v1alpha1", "kind": "PodGroup", "metadata": {"name": "large"}, "spec": {
                "topology": level, "groups": [{**group, "name": f"g{i}"} for i in range(count)]}}
            got, answer = self.plane.api("POST", muster.MUSTER_GROUPS, one)
            self.assertEqual(code, got, answer.get("message"))
            self.plane.api("DELETE", f"{muster.MUSTER_GROUPS}/large")


if __name__ == "__main__":
    muster.main()
