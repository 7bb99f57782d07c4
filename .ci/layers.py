#!/usr/bin/env python3
"""Who may include what: the walls between Muster's folders (docs/design.md).

    layers.py ROOT

Prints each include that breaks a wall as file:line, each place that lists the
folders otherwise than here, and, as a mere warning, each file that has grown past
600 lines. Exits with 1 if a wall is broken or a place says otherwise.
"""

import pathlib
import re
import sys

# Lower layers first; a layer includes itself and those before it.
LAYERS = ["base", "cluster", "fabric", "scoring", "index", "solver", "queue", "preempt",
          "scheduler", "standalone", "wire", "graphml", "workload"]
# Which other folders of adapters/ each may include; no way leads back.
ADAPTERS = {
    "text": set(),
    "inprocess": {"text"},
    "scenario": {"inprocess", "text"},
    "workloads": {"inprocess", "text"},
    "report": {"inprocess", "text"},
    "experiments": {"inprocess", "report", "scenario", "text", "workloads"},
    "translate": set(),
    "serve": {"text"},
    "kubernetes": {"serve", "text", "translate"},
    "local": {"serve", "text"},
    "cli": {"experiments", "inprocess", "report", "scenario", "text", "workloads"},
}
# Libraries of their own, with a CMakeLists.txt; the other layers are muster::core.
LIBRARIES = {"wire", "graphml", "workload"}
# Who else lists the folders, in this order: the file, what to look for, and the names.
# A group of what is looked for has one name a match, or all names of the only match.
PLACES = [
    ("CMakeLists.txt", r"foreach\(layer IN ITEMS ([\w ]+)\)",
     [layer for layer in LAYERS if layer not in LIBRARIES]),
    ("CONTRIBUTING.md", r"implementation in layers, `([\w\s]+)`", LAYERS),
    ("docs/design.md", r"^\| `lib/(\w+)/` \|", LAYERS),
    ("docs/design.md", r"^\| `adapters/(\w+)/` \|", list(ADAPTERS)),
]
# A decision depends on no clock, thread, random number, file or stream.
IMPURE = {"chrono", "ctime", "fstream", "iostream", "random", "thread", "time.h"}
# The heap's threads wait for each other; no decision knows how long.
PURE = {("include/muster/heap/threads.h", header) for header in ("chrono", "thread")}
# Parts of the public API that its nouns do without, and so do many hosts.
APART = {"fabric", "fields", "fields.h", "heap", "wire", "workload"}
PUBLIC_ABSL = {"absl/status/status.h", "absl/status/statusor.h"}
MAX_LINES = 600

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def is_protobuf(header):
    return header.startswith(("google/protobuf/", "muster/wire")) or header.endswith(".pb.h")


def broken_wall(path, header, quoted):
    """Why a file at `path` may not include `header`, or None."""
    top, folder = path.parts[0], path.parts[1] if len(path.parts) > 2 else ""
    wire = "wire" in path.parts[1:-1]

    if top in ("include", "lib") and not wire:
        if is_protobuf(header):
            return "only the wire layer knows Protobuf"
        if header.startswith("pugi") and (top, folder) != ("lib", "graphml"):
            return "only lib/graphml knows pugixml"
        if header.startswith("yaml-cpp") and (top, folder) != ("lib", "workload"):
            return "only lib/workload knows yaml-cpp"
        if header in IMPURE and (str(path), header) not in PURE:
            return "the core knows no clock, thread, random number, file or stream"
    if top == "include":
        if path.parts[2] not in APART and header.startswith("muster/") and header.split("/")[1] in APART:
            return "the nouns of the API do without this part"
        if quoted and path.parts[2] == "heap" and not header.startswith("muster/heap/"):
            return "the heap is to be had alone: it includes itself only"
        if wire and is_protobuf(header):
            return None
        if header.startswith("absl/") and header not in PUBLIC_ABSL:
            return "of Abseil, public headers may include status and statusor only"
        if header.startswith("boost/"):
            return "public headers do not include Boost"
        if quoted and not header.startswith(("muster/", "absl/")):
            return "public headers include public headers only"
    if top == "lib":
        target = header.split("/")
        if target[0] in ("adapters", "examples", "benchmarks", "test"):
            return f"the library does not include {target[0]}/"
        if target[0] == "lib" and len(target) > 2:
            if target[1] not in LAYERS:
                return f"lib/{target[1]} is not a layer"
            if LAYERS.index(target[1]) > LAYERS.index(folder):
                return f"lib/{folder} is below lib/{target[1]}"
    if top in ("adapters", "examples") and header.startswith("lib/"):
        return "hosts use the public headers only"
    if top == "adapters":
        journals = folder == "cli" or path.parts[1:3] in (("local", "controller"), ("local", "store"))
        if is_protobuf(header) and not journals:
            return "of the adapters only cli and local write and read journals"
        target = header.split("/")
        if target[0] == "test":
            return "a host includes no test"
        if target[0] == "adapters" and target[1] != folder and target[1] not in ADAPTERS[folder]:
            return f"adapters/{folder} does not know adapters/{target[1]}"
    return None


def other_lists(root):
    """What those say that list the folders, where it is something else."""
    for name, pattern, names in PLACES:
        text = (root / name).read_text(encoding="utf-8")
        found = list(re.finditer(pattern, text, re.M))
        listed = re.findall(r"\w+", " ".join(match[1] for match in found))
        if listed != names:
            line = text.count("\n", 0, found[0].start()) + 1 if found else 1
            yield f"{name}:{line}: lists {' '.join(listed) or 'nothing'}, not {' '.join(names)}"


def main(root):
    broken = 0
    for message in other_lists(root):
        print(message)
        broken += 1
    for top in ("include", "lib", "adapters", "examples", "benchmarks", "test"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            name = path.relative_to(root)
            known = {"lib": LAYERS, "adapters": ADAPTERS}.get(top)
            if known is not None and name.parts[1] not in known:
                print(f"{name}: {top}/{name.parts[1]} is not a folder that this script knows")
                broken += 1
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            if len(lines) > MAX_LINES:
                print(f"{name}: warning: {len(lines)} lines, more than {MAX_LINES}")
            for number, line in enumerate(lines, 1):
                include = INCLUDE.match(line)
                if not include:
                    continue
                why = broken_wall(name, include[2], include[1] == '"')
                if why:
                    print(f"{name}:{number}: {include[2]}: {why}")
                    broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
