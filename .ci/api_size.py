#!/usr/bin/env python3
"""The public API stays small and explained.

    api_size.py ROOT

Counts lines of include/muster, but for the parts that a host may do without
(heap, fabric, wire, fields, workload): of code (without include guards, #include and
namespace lines) at most 1,700, and of comment at least two for three of code. A
comment behind code on its line counts as code. Exits with 1 and the numbers if
either is broken.
"""

import pathlib
import re
import sys

# What muster.h leaves out. `workload` is a library of its own, muster::workload, which nothing else in lib/ includes:
# a host that has jobs of its own kind never reads it.
APART = {"heap", "fabric", "wire", "fields", "workload"}
MAX_CODE = 1700

FRAME = re.compile(r"#\s*include\b|#\s*(ifndef|define|endif)\b.*\bMUSTER_\w+_H_$|namespace\b.*\{$|\}\s*// namespace")


def count(path):
    """Lines of code and of comment."""
    code = comment = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if line.startswith("//"):
            comment += 1
        elif line and not FRAME.match(line):
            code += 1
    return code, comment


def main(root):
    api = root / "include" / "muster"
    headers = [path for path in sorted(api.rglob("*.h")) if path.relative_to(api).parts[0] not in APART]
    counts = {path: count(path) for path in headers}
    code = sum(c for c, _ in counts.values())
    comment = sum(m for _, m in counts.values())
    if code <= MAX_CODE and 3 * comment >= 2 * code:
        return 0
    print(f"include/muster: {code} lines of code (at most {MAX_CODE}), "
          f"{comment} of comment (at least {-(-2 * code // 3)})")
    for path, (c, m) in counts.items():
        if 3 * m < 2 * c:
            print(f"  {path.relative_to(root)}: {c} of code, {m} of comment")
    return 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
