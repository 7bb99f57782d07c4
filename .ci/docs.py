#!/usr/bin/env python3
"""The documents name what is there.

    docs.py ROOT

Reads the Markdown files that git knows, CHANGELOG.md apart, which tells of what was.
Prints each of these as file:line, and exits with 1 if there is one:
- a link to a file or heading, a path, source file, benchmark or variable of the
  environment that is not there; a verb that ./dev has not;
- a figure that is not the constant behind it: `64<!-- = kMost FILE -->`;
- a list that is not complete: README's folders, documents, adapters and examples; the
  verbs in CONTRIBUTING.md and in `./dev help`; the metrics of a program; the kinds of
  manifests; the labels and annotations of muster.dev; the variables that programs read and tasks are given.
What programs say themselves (options, commands) test/docs/options_test.py compares.
"""

import json
import pathlib
import re
import subprocess
import sys

TOPS = (".ci", "adapters", "benchmarks", "cmake", "docs", "examples", "fuzz", "include", "lib", "proto",
        "test", "test_package", "web")
CODE = (".cc", ".h", ".py", ".cmake", ".txt", ".mjs", ".js", ".go", ".sh", ".json", ".in", "")
# The documents with the metrics of a program, and where the program makes them.
METRICS = {"docs/kubernetes.md": "adapters/kubernetes/host/metrics_answer.cc",
           "docs/local.md": "adapters/local/api/metrics_page.cc"}
# Known to the library or its tests alone, and of no use to others.
OWN_KEYS = {"muster.dev/code", "muster.dev/decision", "muster.dev/task", "muster.dev/scheduler"}


class Documents:
    """The text of each document, and what is wrong in it."""

    def __init__(self, root):
        self.root = root
        files = subprocess.run(["git", "-C", root, "ls-files", "--deduplicate", "--cached", "--others",
                                "--exclude-standard"], capture_output=True, text=True, check=True).stdout
        self.files = [name for name in files.splitlines() if (root / name).is_file()]
        self.pages = {name: self.read(name) for name in self.files
                      if name.endswith(".md") and name != "CHANGELOG.md"}
        self.wrong = []

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def sources(self, *tops):
        for name in self.files:
            if name.startswith(tops) and pathlib.Path(name).suffix in CODE and "regressions" not in name:
                yield name, self.read(name)

    def tell(self, page, at, what):
        line = (self.pages.get(page) or self.read(page)).count("\n", 0, at) + 1
        self.wrong.append(f"{page}:{line}: {what}")

    def compare(self, page, what, listed, there, at=0):
        """A list of a document, with what there is."""
        for name in sorted(set(there) - set(listed)):
            self.tell(page, at, f"{what}: {name} is not listed")
        for name in sorted(set(listed) - set(there)):
            self.tell(page, at, f"{what}: {name} is not there")


def anchors(text):
    """The headings of a page, as links name them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def check_links(docs):
    for page, text in docs.pages.items():
        for link in re.finditer(r"\]\(([^)\s]+)\)", text):
            target, _, anchor = link[1].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = (docs.root / page).parent / target if target else docs.root / page
            if not file.exists():
                docs.tell(page, link.start(), f"link to {link[1]}, which is not there")
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
                docs.tell(page, link.start(), f"link to {link[1]}, which has no such heading")


def braces(path):
    """a.{h,cc} is a.h and a.cc."""
    found = re.search(r"\{([^}]*)\}", path)
    if not found:
        return [path]
    return [path[:found.start()] + part.strip() + path[found.end():] for part in found[1].split(",")]


def check_paths(docs):
    names = {pathlib.Path(name).name for name in docs.files}
    folders = {str(parent) for name in docs.files for parent in pathlib.Path(name).parents}
    inside = re.compile(r"(?<![\w./-])(?:\./)?((?:%s)/[\w./*{},-]*[\w/*}])" % "|".join(map(re.escape, TOPS)))

    def there(path):
        path = re.sub(r"/[A-Z]+$", "", path.rstrip("/"))  # TARGET stands for any name.
        if path in folders or path in docs.files:
            return True
        if path.endswith(("_test", "_benchmark")):  # A program, beside its sources.
            return any(name.startswith(path.rsplit("/", 1)[0]) for name in docs.files)
        return "*" in path and any(docs.root.glob(path))

    tests = {pathlib.Path(name).stem for name in docs.files}
    for _, text in docs.sources("test/", "fuzz/"):
        tests.update(re.findall(r"(?:muster_test\(|NAME )(\w+)", text))

    for page, text in docs.pages.items():
        for match in inside.finditer(text):
            if text[match.start() - 2:match.start()] == "](":
                continue
            for path in braces(match[1]):
                if not there(path):
                    docs.tell(page, match.start(), f"{path} is not there")
        for match in re.finditer(r"`(?:[\w./]+/)?(\w+_test)`", text):
            if match[1] not in tests and match[1] != "muster_test":
                docs.tell(page, match.start(), f"{match[1]} is no test")
        # Sources and headers by their names, muster/gang.h as hosts include them.
        for match in re.finditer(r"`((?:[\w-]+/)*[\w-]+\.(?:h|cc|cmake)|[\w-]+_test\.py)`", text):
            name = match[1]
            if name.split("/")[0] in TOPS:
                continue
            known = any(f"/{file}".endswith(f"/{name}") for file in docs.files) if "/" in name else name in names
            if not known and not name.endswith(".pb.h"):
                docs.tell(page, match.start(), f"{name}: no file has this name")


def check_benchmarks(docs):
    there = set()
    for _, text in docs.sources("benchmarks/", "test/"):
        there.update(re.findall(r"BM_\w+", text))
    for page, text in docs.pages.items():
        for match in re.finditer(r"\bBM_[A-Za-z]\w*", text):
            if not any(name.startswith(match[0]) for name in there):
                docs.tell(page, match.start(), f"{match[0]} is no benchmark")


def check_verbs(docs):
    dev = docs.read("dev")
    verbs = set(re.findall(r"^verb_([\w-]+)\(\)", dev, re.M)) - {"help"}
    usage = dev.split("usage: ./dev VERB", 1)[1].split("\nHELP\n")[0]
    docs.compare("dev", "help", re.findall(r"^  ([a-z][\w-]*)", usage, re.M), verbs)
    table = docs.pages["CONTRIBUTING.md"].split("\n## The verbs\n")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `\./dev ([\w-]+)", table, re.M)
    docs.compare("CONTRIBUTING.md", "the verbs", set(listed), verbs)
    for page, text in docs.pages.items():
        for match in re.finditer(r"\./dev ([a-z][\w-]*)", text):
            if match[1] not in verbs | {"help"}:
                docs.tell(page, match.start(), f"./dev has no verb {match[1]}")


def row(text, key):
    """The row of a table that begins with this key: where, and its second cell."""
    found = re.search(rf"^\| `{re.escape(key)}`[^|]*\|(.*)\|$", text, re.M)
    return (found.start(), found[1]) if found else (0, "")


def check_readme(docs):
    text = docs.pages["README.md"]
    table = text.split("\n## Where things are\n")[1].split("\n## ")[0]
    tops = {name.split("/")[0] for name in docs.files if "/" in name}
    docs.compare("README.md", "folders",
                 [name for first in re.findall(r"^\|([^|]*)\|", table, re.M)
                  for name in re.findall(r"`([\w.]+)/(?:\w+/)?`", first)], tops)
    for folder in ("adapters", "examples"):
        at, cell = row(text, f"{folder}/")
        there = {name.split("/")[1] for name in docs.files if re.match(rf"{folder}/[^/]+/", name)}
        listed = set(re.findall(r"`([\w-]+)`", cell)) - programs(docs)
        docs.compare("README.md", f"{folder}/", listed, there, at)
    at, cell = row(text, "docs/")
    there = [name[5:] for name in docs.files if re.fullmatch(r"docs/[^/]+\.md", name)]
    there += {f"{name.split('/')[1]}/" for name in docs.files if name.startswith("docs/") and name.count("/") > 1
              and not name.endswith((".svg", ".png"))}
    docs.compare("README.md", "docs/", set(re.findall(r"`([\w-]+(?:\.md|/))`", cell)), there, at)


def programs(docs):
    return {name for _, text in docs.sources("adapters/") for name in re.findall(r"muster_tool\(([\w-]+)", text)}


def check_metrics(docs):
    for page, source in METRICS.items():
        made = set(re.findall(r'"((?:muster|process)_[a-z_]+)"', docs.read(source)))
        section = re.search(r"^#+ Metrics\n.*?(?=^#|\Z)", docs.pages[page], re.M | re.S)
        if section is None:
            docs.tell(page, 0, f"has no heading Metrics, for those of {source}")
            continue
        told = set(re.findall(r"(?<![\w/])((?:muster|process)_[a-z_]+)", section[0]))
        docs.compare(page, "Metrics", told, made, section.start())


def check_kinds(docs):
    """The manifests that docs/jobs.md lists are those that lib/workload reads."""
    code = docs.read("lib/workload/kinds.cc")
    groups = dict(re.findall(r'string_view (k\w+) = "([^"]+)"', code))
    read = {f"{kind} of {groups.get(group, group)}/{version}" for group, version, kind in re.findall(
        r'\{"?([\w.-]+)"?, "(v\w+)", (?:"|k)(\w+)"?, Kind::', code)}
    listed = set()
    for row in re.findall(r"^\| (\w+(?:, \w+)*) \((`[^)]*)\) \|", docs.pages["docs/jobs.md"], re.M):
        listed.update(f"{kind} of {version}" for kind in row[0].split(", ")
                      for version in re.findall("`([^`]+)`", row[1]))
    docs.compare("docs/jobs.md", "kinds", listed, read)


def check_keys(docs):
    key = r"muster\.dev/([a-z][a-z-]+)(?![\w-]*[:/]v1)"
    used = {f"muster.dev/{name}" for _, text in docs.sources("adapters/", "lib/", "include/")
            for name in re.findall(r'"' + key + r'["":=]', text)} - OWN_KEYS
    told = {f"muster.dev/{name}" for name, text in docs.pages.items() if name.startswith("docs/")
            for name in re.findall(key, text)} - {"muster.dev/v1alpha1"}
    docs.compare("docs/jobs.md", "labels and annotations of muster.dev in docs/", told, used)


def check_variables(docs):
    """Variables of the environment: what documents name is read or set somewhere."""
    name = r"MUSTER_[A-Z][A-Z0-9_]*"
    known, given = "", set()
    for file, text in docs.sources(*(f"{top}/" for top in TOPS), "CMakeLists.txt", "dev", "conanfile.py"):
        known += "\n".join(re.findall(name, text)) + "\n"
        if file.startswith("adapters/"):
            given.update(re.findall(rf'"({name})=?"', text))
    known = set(known.split())
    for page, text in docs.pages.items():
        for match in re.finditer(rf"\b{name}", text):
            prefix = match[0].rsplit("_", 1)[0] + "_"  # MUSTER_VOLUME_NAME: of the volume NAME.
            if match[0] not in known and not (match[0].endswith(("NAME", "lr")) and prefix in known):
                docs.tell(page, match.start(), f"nothing reads or sets {match[0]}")
    told = {match for page, text in docs.pages.items() for match in re.findall(rf"\b{name}", text)}
    manual = " ".join(docs.read(file) for file in docs.files if file.endswith(".scd"))
    told.update(re.findall(name, manual))
    for variable in sorted(given):
        if not any(word == variable or variable.endswith("_") and word.startswith(variable) for word in told):
            docs.wrong.append(f"docs: no document tells of {variable}")


def check_scripts(docs):
    """The npm scripts of web/ run files that are there, and all of test/web that needs no browser."""
    scripts = json.loads(docs.read("web/package.json"))["scripts"]
    named = {f"test/web/{name}" for name in re.findall(r"\.\./test/web/(\S+)", scripts["test"])}
    listed = re.search(r"foreach\(name ([^)]*)\)\n  if\(MUSTER_NODE\)", docs.read("test/web/CMakeLists.txt"))[1]
    docs.compare("web/package.json", "test", named, {f"test/web/{name}.mjs" for name in listed.split()})


def check_figures(docs):
    """The number before `<!-- = NAME FILE -->` is the constant's in that file."""
    for page, text in docs.pages.items():
        for mark in re.finditer(r"(?P<shown>[\d,]*)<!-- = (\w+) (\S*[a-z]\S*) -->", text):
            shown, constant, file = mark["shown"].replace(",", ""), mark[2], mark[3]
            source = docs.read(file) if file in docs.files else ""
            value = re.search(rf"\b{constant}(?:\{{|\s*=\s*)([\d']+)(?:\s*<<\s*(\d+))?", source)
            number = int(value[1].replace("'", "")) << int(value[2] or 0) if value else None
            if not shown or number is None or int(shown) != number:
                docs.tell(page, mark.start(),
                          f"{shown or 'nothing'} stands for {constant}, which is {number} in {file}")


def main(root):
    docs = Documents(root)
    for check in (check_links, check_paths, check_benchmarks, check_verbs, check_readme, check_metrics, check_kinds,
                  check_keys, check_scripts, check_variables, check_figures):
        check(docs)
    print("\n".join(docs.wrong), end="\n" if docs.wrong else "")
    return 1 if docs.wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
