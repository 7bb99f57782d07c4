#!/usr/bin/env python3
"""clang-tidy on lib/ and adapters/, with the checks of .clang-tidy.

    tidy.py ROOT BUILD [--jobs N] [--part K/N] [--since COMMIT] [FILE...]

BUILD has a compile_commands.json. Nearly all of clang-tidy's time goes into headers
of the system, so files of one folder are looked at as one, which includes them; those
whose names collide with the others' are looked at apart. Without FILE (.cc) it is
all that git knows, or of N parts the K-th. With COMMIT it is what changed after it: a
header by way of a source that includes it. Exits with 1 if something was found.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from parts import part

MOST_FILES = 12  # At once: few enough for all cores to have work to the end.
KEPT = re.compile(r"-(I|D|isystem|std=)")  # What matters of a compiler's options.
ERROR = re.compile(r"^(\S+?):\d+:\d+: error: .*\[clang-diagnostic-error[],]", re.M)


def options(command):
    words, kept = shlex.split(command), []
    for i, word in enumerate(words):
        if KEPT.match(word):
            kept.append(word)
            if word in ("-I", "-D", "-isystem"):
                kept.append(words[i + 1])
    return tuple(kept)


def batches(root, build, wanted):
    """[(options, files)], files of one folder and with the same options."""
    known = subprocess.check_output(
        ["git", "-C", root, "ls-files", "lib/*.cc", "adapters/*.cc"], text=True).split()
    groups = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = os.path.relpath(entry["file"], root)
        if file in known and (not wanted or file in wanted):
            key = os.path.dirname(file), options(entry["command"])
            groups.setdefault(key, set()).add(file)
    result = []
    for (_, flags), files in groups.items():
        files, parts = sorted(files), -(-len(files) // MOST_FILES)
        result += [(flags, files[i::parts]) for i in range(parts)]
    return sorted(result, key=lambda batch: -len(batch[1]))


def tidy(root, folder, flags, files):
    """What clang-tidy says of the files."""
    unit = folder / ("+".join(files)[:100].replace("/", "-") + f"-{len(files)}.cc")
    unit.write_text("".join(f'#include "{root / file}"\n' for file in files), encoding="utf-8")
    told = subprocess.run(
        ["clang-tidy-19", "--quiet", f"--config-file={root / '.clang-tidy'}", unit, "--", *flags],
        cwd=root, text=True, capture_output=True, check=False)
    broken = {os.path.relpath(file, root) for file in ERROR.findall(told.stdout)}
    if broken and len(files) > 1:
        apart = [file for file in files[1:] if file in broken] or files[1:]
        rest = [file for file in files if file not in apart]
        return tidy(root, folder, flags, rest) + tidy(root, folder, flags, apart)
    return told.stdout or (told.stderr if told.returncode else "")


def changed(root, commit):
    """The sources that changed since the commit, and one for each header that did."""
    def git(*words):
        return subprocess.run(["git", "-C", root, *words], text=True, stdout=subprocess.PIPE, check=False).stdout.split()
    result = set()
    for file in git("diff", "--name-only", "--diff-filter=d", commit, "--", "lib", "adapters", "include"):
        if file.endswith(".cc"):
            result.add(file)
        elif file.endswith(".h"):
            users = git("grep", "-lF", f'"{file.removeprefix("include/")}"', "--", "lib/*.cc", "adapters/*.cc")
            result.update([user for user in users if user == file[:-1] + "cc"] or users[:1])
    return result


def findings(text):
    """The messages, each with its notes, in the order in which they are said."""
    return re.split(r"^(?=\S+:\d+:\d+: (?:warning|error): )", text, flags=re.M)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--part", type=part, default=(1, 1), metavar="K/N")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("files", nargs="*", metavar="FILE")
    args = parser.parse_intermixed_args()
    root, build = args.root.resolve(), args.build.resolve()
    wanted = {os.path.relpath(file, root) for file in args.files}
    if args.since:
        wanted |= changed(root, args.since)
        if not wanted:
            print(f"nothing changed since {args.since}")
            return
    k, n = args.part
    todo = batches(root, build, wanted)[k - 1::n]
    count = sum(len(files) for _, files in todo)
    if count < max(0 if args.since else 1, len(args.files)):
        sys.exit("tidy: not every FILE is a .cc file of lib/ or adapters/ that is built")
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)

    start, seen = time.monotonic(), set()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for text in pool.map(lambda batch: tidy(root, folder, *batch), todo):
            for finding in findings(text):
                if finding.strip() and finding not in seen:  # Of a header once.
                    seen.add(finding)
                    print(finding, end="", flush=True)
    print(f"{count} files, {len(seen)} findings, {time.monotonic() - start:.0f} s")
    sys.exit(1 if seen else 0)


if __name__ == "__main__":
    main()
