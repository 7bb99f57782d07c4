#!/usr/bin/env python3
"""How many lines ran, by folder.

    coverage.py SUMMARY PERCENT

SUMMARY is gcovr's --json-summary. Exits with 1 if less than PERCENT of all
lines ran.
"""

import collections
import json
import pathlib
import sys


def main(summary, percent):
    folders = collections.defaultdict(lambda: [0, 0])
    for file in json.loads(pathlib.Path(summary).read_text(encoding="utf-8"))["files"]:
        for name in (str(pathlib.PurePath(file["filename"]).parent), "total"):
            folders[name][0] += file["line_covered"]
            folders[name][1] += file["line_total"]
    total = folders.pop("total", [0, 0])
    print(f"{'folder':<16}{'lines':>8}{'run':>8}{'%':>8}")
    for name, (run, lines) in [*sorted(folders.items()), ("total", total)]:
        print(f"{name:<16}{lines:>8}{run:>8}{100 * run / max(1, lines):>8.1f}")
    if 100 * total[0] < percent * total[1] or not total[1]:
        print(f"less than {percent} %")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
