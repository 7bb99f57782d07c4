#!/usr/bin/env python3
"""Documents and programs name the same options: options_test.py PROGRAMS

Options that a document names are those of its programs, and of a program that no page
of the manual is made of, the document names all. docs/slurm.md and the manual's pages:
test/local/man_test.py.
"""

import functools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test"))
from reported import main  # noqa: E402

OPTION = r"(?<![\w-])--[a-z][\w-]*"
# A program, its command, what it is given.
CALL = r"(?:^|[\s`/])(muster-sim|muster|kubectl muster) ([a-z][\w-]*)([^`\n#|]*)"
# At the beginning of a line, or of what is in backticks.
COMMAND = r"(?:`|^)(?:\$ )?(?:\./dev run |\./)?(muster|muster-sim|kubectl muster) ([a-z][\w-]*)"
# What is said of other programs: of kubectl, git, systemd and the like.
OTHERS = {
    "docs/kubernetes.md": {"--overwrite", "--field-selector", "--install"},
    "docs/local.md": {"--install", "--lr", "--bs", "--init", "--nv", "--container-image"},
}
GLOBAL = {"--help", "--version"}
# Programs of ours that documents call beside their own.
KNOWN = {"muster-sim", "muster-kube", "kubectl-muster", "musterd", "muster"}


@functools.cache
def help_of(*words):
    return subprocess.run([PROGRAMS / words[0], *words[1:], "--help"], capture_output=True, text=True,
                          check=True, timeout=20).stdout


def commands_of(*words):
    listed = help_of(*words).partition("\nSubcommands:\n")[2]
    return re.findall(r"^  ([a-z][\w-]*)", listed, re.M)


def options_of(*words):
    """Option -> its default, of a help text."""
    found = {}
    for line in help_of(*words).splitlines():
        if line.startswith("  -"):
            names = line.strip().split("  ")[0]
            default = re.search(r"(?:TEXT|INT in \[[\d -]+\]|FLOAT|UINT)(?::[^=]*)?=(\S+)", line)
            for name in re.findall(OPTION, names.split(" ")[0]):
                found[name] = default[1] if default else ""
    return found


def all_options(program):
    found = dict(options_of(program))
    for command in commands_of(program):
        found |= options_of(program, command)
        for inner in commands_of(program, command):  # muster cron list, muster node drain
            found |= options_of(program, command, inner)
    return found


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


class OptionsTest(unittest.TestCase):
    def assert_known(self, name, programs):
        known = set().union(*(all_options(program) for program in programs)) | GLOBAL
        with self.subTest(name):
            self.assertEqual(OTHERS.get(name, set()), set(re.findall(OPTION, page(name))) - known)

    def test_documents_name_options_that_are_there(self):
        self.assert_known("docs/muster-sim.md", ["muster-sim"])
        self.assert_known("docs/workload.md", ["muster-sim"])
        self.assert_known("docs/placement-policies.md", ["muster-sim"])
        self.assert_known("docs/scenario-format.md", ["muster-sim"])
        self.assert_known("docs/kubernetes.md", ["muster-kube", "kubectl-muster"])
        self.assert_known("docs/local.md", ["musterd", "muster"])
        self.assert_known("docs/jobs.md", ["musterd", "muster"])

    def test_commands_in_documents_have_the_options_that_they_are_given(self):
        """A line that calls a command of a program gives it its own options."""
        looked_at = 0
        for name in ("README.md", *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs").glob("*.md"))):
            text = page(name).replace("\\\n", " ")
            for call in re.finditer(CALL, text, re.M):
                program, command, rest = call[1].replace(" ", "-"), call[2], call[3]
                if command not in COMMANDS[program] or command == "slurm":
                    continue
                rest = re.split(r" -- ", rest)[0]  # Then comes the user's own command.
                options = options_of(program, command) | options_of(program) | dict.fromkeys(GLOBAL)
                inner = rest.split()[:1]
                if inner and inner[0] in commands_of(program, command):
                    options |= options_of(program, command, inner[0])
                for option in re.findall(OPTION, rest):
                    looked_at += 1
                    self.assertIn(option, options, f"{name}: {call[0].strip()}")
        self.assertGreater(looked_at, 50)

    def test_commands_in_documents_are_there_and_each_is_told(self):
        told = {}
        for name in ("README.md", *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs").glob("*.md"))):
            for program, command in re.findall(COMMAND, page(name), re.M):
                told.setdefault(program.replace(" ", "-"), set()).add(command)
        for program, commands in told.items():
            with self.subTest(program):
                self.assertEqual(set(COMMANDS[program]), commands)

    def test_documents_name_every_option_of_programs_without_a_page_of_the_manual(self):
        pages = {"muster-sim": ("docs/muster-sim.md", "docs/workload.md"), "kubectl-muster": ("docs/kubernetes.md",),
                 "muster-kube": ("docs/kubernetes.md",), "musterd": ("docs/local.md",)}
        for program, names in pages.items():
            with self.subTest(program):
                told = set(re.findall(OPTION, "\n".join(page(name) for name in names))) | GLOBAL
                self.assertEqual(set(), set(all_options(program)) - told)
                for command in commands_of(program):
                    self.assertRegex(page(names[0]), rf"\b{command}\b")

    def test_the_table_of_muster_kubes_options_has_its_defaults(self):
        section = page("docs/kubernetes.md").split("\n### Options\n")[1].split("\n#")[0]
        rows = dict(re.findall(r"^\| `(--[\w-]+)[^`]*` \|\s*`?([^|`]*?)`?\s*\|", section, re.M))
        options = {name: default.strip("[]") for name, default in options_of("muster-kube").items()
                   if name not in GLOBAL and not name.startswith("--no-")}
        self.assertEqual(options, rows)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1))
    COMMANDS = {program: commands_of(program) for program in KNOWN}
    main()
