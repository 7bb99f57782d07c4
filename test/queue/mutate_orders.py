#!/usr/bin/env python3
"""Weakens each memory order of the priority heap, one at a time, and has the
model checker find the fault.

    mutate_orders.py [--compiler CXX] [--check FILE]

Prints a table of what was found, in Markdown; with --check, the rows must stand
in FILE. Fails if a weaker order goes unnoticed. Ends with 77, as ctest's
SKIP_RETURN_CODE, where Relacy is missing.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ["owned_heap.h", "combiner.h"]
ORDER = re.compile(r"std::memory_order_(acquire|release|acq_rel|seq_cst)")
CALL = re.compile(r"([\w>-]+?)(?:\.|->)(load|store|exchange|compare_exchange_weak)\(\s*[^;]*$")
# What each may become. seq_cst means more than acquire and release do.
WEAKER = {"acquire": ["relaxed"], "release": ["relaxed"], "acq_rel": ["relaxed"]}
SOURCES = ["test/queue/heap_mutant.cc", "test/queue/heap_model.cc", "test/queue/linearizability.cc"]


def weaker(order, operation):
    if order != "seq_cst":
        return WEAKER[order]
    return {"load": ["acquire"], "store": ["relaxed", "release"]}.get(operation, ["relaxed", "acq_rel"])


def mutants():
    """(header, place, old order, new order, the header's new text)"""
    for header in HEADERS:
        text = (ROOT / "include/muster/heap" / header).read_text(encoding="utf-8")
        for match in ORDER.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if line.lstrip().startswith("//"):
                continue
            call = CALL.search(text[: match.start()])
            place = f"{call[1]}, {call[2].removesuffix('_weak')}"
            for order in weaker(match[1], call[2]):
                mutated = text[: match.start(1)] + order + text[match.end(1) :]
                yield header, place, match[1], order, mutated


def objects(compiler, folder, sources, include):
    for source in sources:
        output = folder / (pathlib.Path(source).stem + ".o")
        subprocess.run(
            [*compiler, "-std=c++20", "-O0", "-w", "-fno-sized-deallocation", *include, f"-I{ROOT}/include",
             f"-I{ROOT}", "-c", ROOT / source, "-o", output],
            check=True)
        yield output


def found(compiler, work, header, text):
    """(program, fault) for this text of the header, or None."""
    folder = work / "mutant"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "muster/heap").mkdir(parents=True)
    (folder / "muster/heap" / header).write_text(text, encoding="utf-8")
    model = list(objects(compiler, folder, SOURCES[1:2], [f"-I{folder}"]))
    rest = [work / (pathlib.Path(source).stem + ".o") for source in SOURCES[::2]]
    subprocess.run([*compiler, *model, *rest, "-o", folder / "mutant"], check=True)
    run = subprocess.run([folder / "mutant"], capture_output=True, text=True, timeout=300)
    return run.stdout.strip().split("\t") if run.returncode == 0 else None


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--compiler", default="g++")
    options.add_argument("--check", type=pathlib.Path)
    args = options.parse_args()
    compiler = args.compiler.split()
    if not pathlib.Path("/usr/include/relacy/relacy.hpp").exists():
        print("[  SKIPPED ] no Relacy: apt-get install -y relacy-dev", file=sys.stderr)
        return 77

    rows, survived = ["| header | operation | order | weakened to | found by | as |", "|---|---|---|---|---|---|"], 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        list(objects(compiler, work, SOURCES[::2], []))
        for header, place, old, new, text in mutants():
            program, fault = found(compiler, work, header, text) or ("**nothing**", "")
            survived += not fault
            rows.append(f"| `{header}` | `{place}` | {old} | {new} | {program} | {fault.split(' (')[0].lower()} |")
            print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join(rows))
    if args.check:
        missing = [row for row in rows if row not in args.check.read_text(encoding="utf-8")]
        print(*[f"not in {args.check}: {row}" for row in missing], sep="\n", file=sys.stderr)
        survived += len(missing)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
