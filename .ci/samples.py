#!/usr/bin/env python3
"""Samples in the documents are copies of tested files.

    samples.py ROOT [--write]

A line `<!-- sample: FILE [TAG] -->` says where the fenced block behind it comes
from: from the whole FILE, or from what stands in it between two lines that are
nothing but a comment with [TAG]. Prints each block that differs and exits with
1; with --write puts the right text in instead.
"""

import pathlib
import re
import sys
import textwrap

BLOCK = re.compile(
    r"^(?P<head><!-- sample: (?P<file>\S+)(?: (?P<tag>\S+))? -->\n```\w*\n)(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL)
TAG_LINE = re.compile(r"^\s*(//|#) \[[\w-]+\]$")


def sample(root, file, tag):
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    if tag:
        marks = [i for i, line in enumerate(lines) if re.fullmatch(rf"\s*(//|#) \[{re.escape(tag)}\]", line)]
        if len(marks) != 2:
            raise SystemExit(f"{file}: [{tag}] should stand there twice")
        lines = lines[marks[0] + 1:marks[1]]
    text = "\n".join(line for line in lines if not TAG_LINE.match(line))
    return textwrap.dedent(text).strip("\n") + "\n"


def main(root, write):
    wrong = 0
    for page in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")]):
        old = page.read_text(encoding="utf-8")

        def replace(block):
            return f"{block['head']}{sample(root, block['file'], block['tag'])}```"

        new = BLOCK.sub(replace, old)
        marks, blocks = len(re.findall("^<!-- sample: ", old, re.MULTILINE)), len(BLOCK.findall(old))
        if marks != blocks:
            raise SystemExit(f"{page.relative_to(root)}: {marks} samples are named, {blocks} have a block behind them")
        if new == old:
            continue
        if write:
            page.write_text(new, encoding="utf-8")
        else:
            wrong += 1
            print(f"{page.relative_to(root)}: a sample is not what its file says: ./dev format")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), "--write" in sys.argv[2:]))
