#!/usr/bin/env python3
"""The manual's pages, and docs/slurm.md, tell all that the programs do: man_test.py PROGRAMS PAGES"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from daemon import ROOT, main

SLURM = ["sbatch", "squeue", "scancel", "sinfo", "sacct", "srun"]
PAGES = ["muster.1", "muster-slurm.1", "muster-shim.8", "musterd.8", "musterd.conf.5"]


def help_of(*words):
    return subprocess.run([PROGRAMS / words[0], *words[1:], "--help"], capture_output=True,
                          text=True, check=True, timeout=10).stdout


def options_of(text):
    """Long options of a help text, by its sections."""
    section, found = "", {}
    for line in text.splitlines():
        if re.match(r"\S.*:$", line):
            section = line[:-1]
        elif line.startswith("  -"):
            names = line.split()[0].split(",")
            found.setdefault(section, []).extend(n for n in names if n.startswith("--"))
    return found


class ManTest(unittest.TestCase):
    def shown(self, page):
        """As it is read, without line breaks in words."""
        done = subprocess.run(["man", "--warnings", "-E", "ascii", "-l", MANUAL / page],
                              capture_output=True, text=True, check=False, timeout=30,
                              env={"MANWIDTH": "1000", "PATH": "/usr/bin:/bin", "LC_ALL": "C"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), page)
        return re.sub(".\b", "", done.stdout)

    def assert_has(self, text, options, where):
        missing = [o for o in options if not re.search(re.escape(o) + r"(?![\w-])", text)]
        self.assertEqual(missing, [], where)

    def test_pages_have_no_mistakes(self):
        self.assertEqual(sorted(p.name for p in MANUAL.iterdir()), sorted(PAGES))
        for page in PAGES:
            self.assertIn("NAME", self.shown(page))

    def test_each_option_of_each_command_is_in_its_section(self):
        page = self.shown("muster.1")
        parts = re.split(r"^ +muster ([a-z-]+)$", page, flags=re.M)
        sections = dict(zip(parts[1::2], parts[2::2]))
        listed = help_of("muster").split("Subcommands:")[1]
        commands = re.findall(r"^  ([a-z-]+)", listed, flags=re.M)
        self.assertEqual(sorted(sections), sorted(commands))
        for command in commands:
            options = options_of(help_of("muster", command))
            self.assert_has(sections[command], options["Options"], command)
        self.assert_has(parts[0], options_of(help_of("muster"))["Options"], "muster")
        self.assert_has(self.shown("musterd.8"), options_of(help_of("musterd"))["Options"],
                        "musterd")

    def test_each_option_of_slurms_names_is_in_its_section(self):
        page = self.shown("muster-slurm.1")
        for name in SLURM:
            section = re.split(rf"^{name.upper()}$", page, flags=re.M)[1]
            section = re.split(r"^[A-Z]", section, flags=re.M)[0]
            for options in options_of(help_of("muster", "slurm", name)).values():
                self.assert_has(section, options, name)

    def test_docs_say_of_each_option_of_slurms_names_what_it_does(self):
        text = (ROOT / "docs/slurm.md").read_text(encoding="utf-8")
        rows = {"Options": "works", "Accepted, without effect": "accepted, without effect",
                "Refused": "refused"}
        for name in SLURM:
            section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
            options = options_of(help_of("muster", "slurm", name))
            for group, row in rows.items():
                line = re.search(rf"^\| {row} \|(.*)\|$", section, flags=re.M)[1]
                self.assertEqual(sorted(re.findall(r"`(--[\w-]+)`", line)
                                        if name != "sbatch" or group != "Refused" else
                                        re.findall(r"`(--[\w-]+)`", line.split(";")[0])),
                                 sorted(options[group]), f"{name}: {row}")


if __name__ == "__main__":
    MANUAL = pathlib.Path(sys.argv.pop(2))
    PROGRAMS = pathlib.Path(sys.argv.pop(1))
    there = MANUAL.is_dir() and shutil.which("man")
    main(skip=None if there else "no pages (scdoc), or no man")
