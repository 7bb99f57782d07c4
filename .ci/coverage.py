#!/usr/bin/env python3
"""How many lines ran, by folder.

    coverage.py SUMMARY FOLDER=PERCENT...

SUMMARY is gcovr's --json-summary. Exits with 1 if in one FOLDER, with all below it,
less than PERCENT of the lines ran.
"""

import collections
import json
import pathlib
import sys


def main(summary, *least):
    files = json.loads(pathlib.Path(summary).read_text(encoding="utf-8"))["files"]
    few = []
    print(f"{'folder':<28}{'lines':>8}{'run':>8}{'%':>8}")
    for folder, percent in (word.split("=") for word in least):
        counts = collections.defaultdict(lambda: [0, 0])
        for file in files:
            path = pathlib.PurePath(file["filename"])
            if path.is_relative_to(folder):
                for name in {str(path.parent), folder}:
                    counts[name][0] += file["line_covered"]
                    counts[name][1] += file["line_total"]
        run, lines = counts.pop(folder, (0, 0))
        for name, (r, n) in [*sorted(counts.items()), (f"all of {folder}", (run, lines))]:
            print(f"{name:<28}{n:>8}{r:>8}{100 * r / max(1, n):>8.1f}")
        if 100 * run < float(percent) * lines or not lines:
            few.append(f"{folder}: less than {percent} %")
    print("\n".join(few), end="\n" if few else "")
    return 1 if few else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
