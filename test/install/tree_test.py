#!/usr/bin/env python3
"""What is installed has what its files name: tree_test.py CMAKE BUILD_FOLDER

Units their programs and documents, pages of the manual each other, documents what they
link to, pkg-config files libraries and each other; and every program the notice of what
it loads.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test"))
from reported import main  # noqa: E402

# Of every system, or of the compiler; sanitizers are in no program that is passed on.
RUNTIME = {"c", "m", "dl", "stdc++", "gcc_s", "pthread", "rt", "atomic", "asan", "ubsan", "tsan"}
# The parts of THIRD-PARTY-NOTICES, by the names of shared libraries.
NOTICES = {"curl": "curl", "simdjson": "simdjson", "sqlite3": "SQLite", "hwloc": "hwloc", "z": "zlib",
           "protobuf": "Protocol Buffers", "pugixml": "pugixml", "yaml-cpp": "yaml-cpp"}


class TreeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="muster-tree-")
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name) / "usr"
        done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.prefix], capture_output=True, text=True,
                              timeout=100)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.documents = cls.prefix / "share/doc/muster"

    def test_units_name_programs_and_documents_that_are_there(self):
        units = list(self.prefix.rglob("*.service"))
        self.assertTrue(units)
        for unit in units:
            text = unit.read_text(encoding="utf-8")
            program, = re.findall(r"^ExecStart=(\S+)", text, re.M)
            page, = re.findall(r"^Documentation=file://(\S+)", text, re.M)
            self.assertTrue(pathlib.Path(program).is_relative_to(self.prefix), program)
            self.assertTrue(pathlib.Path(page).is_relative_to(self.prefix), page)
            self.assertTrue(pathlib.Path(program).is_file(), program)
            self.assertTrue(pathlib.Path(page).is_file(), page)

    def test_pages_of_the_manual_name_pages_that_are_there(self):
        if not (BUILD / "man").is_dir():
            self.skipTest("there is no manual: scdoc is not there")
        pages = {page.name: page for page in (self.prefix / "share/man").rglob("*.[158]")}
        self.assertIn("musterd.8", pages)
        for page in pages.values():
            # \fBmuster\fR(1)
            for name, section in re.findall(r"\\fB(muster[\w.\\-]*)\\fR\((\d)\)", page.read_text(encoding="utf-8")):
                name = name.replace("\\", "")
                self.assertIn(f"{name}.{section}", pages, page.name)

    def test_documents_link_to_what_is_there(self):
        pages = list(self.documents.rglob("*.md"))
        self.assertGreater(len(pages), 20)
        for page in pages:
            for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", page.read_text(encoding="utf-8")):
                to = (page.parent / link).resolve()
                # What leads out of them is in the sources: `./dev check` follows it.
                if not re.match(r"[a-z]+:", link) and to.is_relative_to(self.documents.resolve()):
                    self.assertTrue(to.exists(), f"{page.name}: {link}")

    def test_what_documents_say_is_installed_is(self):
        self.assertTrue((self.documents / "LICENSE").is_file())
        for name in ("crds.yaml", "rbac.yaml", "deployment.yaml", "questions.yaml", "dashboard.json"):
            self.assertTrue((self.prefix / "share/muster/kubernetes/deploy" / name).is_file(), name)
        for path in re.findall(r"`share/(muster/[\w./-]+)`", "\n".join(
                page.read_text(encoding="utf-8") for page in self.documents.glob("*.md"))):
            self.assertTrue((self.prefix / "share" / path).exists(), path)

    def test_pkg_config_files_name_libraries_and_files_that_are_there(self):
        files = list(self.prefix.rglob("*.pc"))
        self.assertIn("muster.pc", [file.name for file in files])
        for file in files:
            text = file.read_text(encoding="utf-8")
            values = dict(re.findall(r"^(\w+)=(.*)$", text, re.M)) | {"pcfiledir": str(file.parent)}
            for word in re.findall(r"-[LI](\S+)", text):
                while "${" in word:
                    word = re.sub(r"\$\{(\w+)\}", lambda match: values[match[1]], word)
                self.assertTrue(pathlib.Path(word).is_dir(), f"{file.name}: {word}")
            for library in re.findall(r"-l(muster\w*)", text):
                self.assertTrue(list(self.prefix.rglob(f"lib{library}.*")), f"{file.name}: {library}")
            for other in re.findall(r"\bmuster[\w-]*", " ".join(re.findall(r"^Requires\S*:(.*)$", text, re.M))):
                self.assertTrue((file.parent / f"{other}.pc").is_file(), f"{file.name}: {other}")

    @unittest.skipUnless(shutil.which("readelf"), "readelf is not there")
    def test_what_programs_load_has_a_notice(self):
        notices = (self.documents / "THIRD-PARTY-NOTICES").read_text(encoding="utf-8")
        headings = set(re.findall(r"^={3,}\n(.+?) \(.*\)\n={3,}$", notices, re.M))
        programs = [file for file in (self.prefix / "bin").iterdir() if file.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreater(len(programs), 3)
        loaded = set()
        for file in programs + list(self.prefix.rglob("*.so")):
            dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
            loaded.update(re.findall(r"NEEDED.*\[lib([\w+-]+?)(?:-[\d.]+)?\.so", dynamic))
        loaded -= RUNTIME
        self.assertIn("curl", loaded)
        for library in loaded:
            name = "Abseil" if library.startswith("absl_") else NOTICES.get(library)
            if not library.startswith("muster_"):
                self.assertIn(name, headings, f"lib{library}")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(2))
    CMAKE = sys.argv.pop(1)
    main()
