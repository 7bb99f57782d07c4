#!/usr/bin/env python3
"""Makes the manual's pages of docs/man/*.scd: make_pages.py PROGRAMS SCDOC TO

A line "@options PROGRAM WORDS..." becomes the options that the program tells with
--help, "@commands PROGRAM" its commands, each with its options. PROGRAMS is their
folder; a page PAGE.N.scd is TO/PAGE.N.
"""

import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path(__file__).parent


def help_of(programs, words):
    done = subprocess.run([programs / words[0], *words[1:], "--help"], capture_output=True,
                          text=True, check=True)
    return done.stdout


def entries(text):
    """(section, name, what it is) of each line of a help text that has a name."""
    section = ""
    found = []
    for line in text.splitlines():
        if re.fullmatch(r"\S.*:", line):
            section = line[:-1]
        elif section and re.match(r"  \S", line):
            name, _, rest = line.strip().partition("  ")
            found.append([section, name, rest.strip()])
        elif found and re.match(r"\s{10,}\S", line):
            found[-1][2] = (found[-1][2] + " " + line.strip()).strip()
    return found


def escaped(text):
    return re.sub(r"^-|[\\*_`<>#]", r"\\\g<0>", text)


def option(name):
    """"-q,--queue TEXT" as a heading; what is only this machine's is left out."""
    names, _, value = re.sub(r"\(Env:\w+\)|=\S+|:\S+|in \[.*\]", "", name).partition(" ")
    value = value.replace("...", "").strip()
    heading = ", ".join(f"*{escaped(part)}*" for part in names.split(","))
    if not value:
        return heading
    return f"{heading} _{'NUMBER' if value in ('INT', 'UINT') else 'VALUE'}_"


def options(text):
    lines = []
    section = "Options"
    for name, what, why in entries(text):
        if name == "Subcommands":
            continue
        if name != section:
            section = name
            lines.append(f"{escaped(section)}:\n")
        variable = re.search(r"\(Env:(\w+)\)", what)
        more = f" By default ${escaped(variable[1])}." if variable else ""
        heading = option(what) if what.startswith("-") else f"_{escaped(what.split()[0])}_"
        why = why or "As its name says"
        lines.append(f"{heading}\n\t{escaped(why[0].upper() + why[1:])}.{more}\n")
    return "\n".join(lines)


def commands(programs, program):
    lines = []
    for section, name, what in entries(help_of(programs, [program])):
        if section == "Subcommands":
            lines.append(f"## muster {name}\n\n{escaped(what)}.\n")
            lines.append(options(help_of(programs, [program, name])))
    return "\n".join(lines)


def source_of(page, programs):
    lines = []
    for line in page.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if line.startswith("@options "):
            text = options(help_of(programs, words[1:]))
            lines.append(text if len(words) > 2 else f"# OPTIONS\n\n{text}")
        elif line.startswith("@commands "):
            lines.append(commands(programs, words[1]))
        else:
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def main(programs, scdoc, to):
    programs, to = pathlib.Path(programs), pathlib.Path(to)
    to.mkdir(parents=True, exist_ok=True)
    for page in sorted(SOURCES.glob("*.scd")):
        made = subprocess.run([scdoc], input=source_of(page, programs), capture_output=True,
                              text=True, check=False)
        if made.returncode != 0:
            sys.exit(f"{page.name}: {made.stderr}")
        # Without the day on which it was made: equal sources, equal pages.
        text = re.sub(r'^(\.TH "[^"]*" "\d") "[^"]*"', r'\1 ""', made.stdout, flags=re.M)
        (to / page.stem).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
