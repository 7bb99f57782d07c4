#!/usr/bin/env python3
"""Runs a demo, and compares what it prints with what it is to print.

    demo.py sim | local | kube [--write] [--from FILE]

test/demo/NAME.txt has what is expected. That of `sim` is compared as it is, but for the numbers
of what it took the machine (COST), which are N. In the others time passes and processes have numbers: each number is N there, and of each story, a title
and the lines under it, lines may come in any order and more than once; one that begins with
`? ` may be missing. --write puts down what was printed; which lines may be missing is for a
person to say. Lines in brackets are mpirun's own, of the machine. --from takes a file instead of
running the demo. Exits with 1 if it differs.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Where a story begins.
TITLE = {"local": re.compile(r"^(One GPU|Two gangs|An elastic|An MPIJob|kill -N of|\$ muster history)"),
         "kube": re.compile(r"^\s*N s\s+-- ")}


# Lines of `sim` about time and memory.
COST = re.compile(r"^  (decisions a second|longest pass|allocations a pass|CPU time|memory, at most)\b")


def without_costs(text):
    return "".join(re.sub(r" +\d+(\.\d+)?", " N", line) if COST.match(line) else line
                   for line in text.splitlines(keepends=True))


def plain(line):
    """Without what differs from run to run: numbers, and the spaces that line them up."""
    return re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)?", "N", line)).strip()


def stories(name, lines):
    """[(title, lines)]."""
    result = [("", [])]
    for line in map(plain, lines):
        if TITLE[name].match(line):
            result.append((line, []))
        elif line and not line.startswith("["):
            result[-1][1].append(line)
    return result


def written(name, text):
    if name == "sim":
        return without_costs(text)
    parts = []
    for title, lines in stories(name, text.splitlines()):
        parts.append("\n".join([title, *sorted(set(lines))]).strip())
    return "\n\n".join(part for part in parts if part) + "\n"


def differences(name, expected, text):
    if name == "sim":
        return list(difflib.unified_diff(expected.splitlines(), without_costs(text).splitlines(), "expected", "printed", lineterm=""))
    wanted = [block.splitlines() for block in expected.strip().split("\n\n")]
    found = [block.splitlines() for block in written(name, text).strip().split("\n\n")]
    result = []
    if [block[0] for block in wanted] != [block[0] for block in found]:
        result += difflib.unified_diff([block[0] for block in wanted], [block[0] for block in found],
                                       "stories expected", "stories told", lineterm="")
    for want, have in zip(wanted, found):
        must = {line for line in want[1:] if not line.startswith("? ")}
        may = {line[2:] for line in want[1:] if line.startswith("? ")}
        told = set(have[1:])
        result += [f"missing of «{want[0]}»: {line}" for line in sorted(must - told)]
        result += [f"new in «{want[0]}»: {line}" for line in sorted(told - must - may)]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["sim", "local", "kube"])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE")
    args = parser.parse_args()
    file = ROOT / "test/demo" / f"{args.name}.txt"
    if args.source:
        text = args.source.read_text(encoding="utf-8")
    else:
        words = [] if args.name == "sim" else [args.name]
        done = subprocess.run([ROOT / "dev", "demo", *words], stdout=subprocess.PIPE, text=True, check=False, timeout=1800)
        text = done.stdout
        print(text, end="")
        if done.returncode:
            sys.exit(f"demo {args.name}: exit status {done.returncode}")
    if args.write:
        file.parent.mkdir(exist_ok=True)
        file.write_text(written(args.name, text), encoding="utf-8")
        return
    found = differences(args.name, file.read_text(encoding="utf-8"), text)
    print("\n".join(found) if found else f"demo {args.name}: prints what it is to print")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
