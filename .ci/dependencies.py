#!/usr/bin/env python3
"""One list of dependencies, in every place that has one.

    dependencies.py ROOT

What the sources find with CMake and include of Boost is what vcpkg.json,
cmake/vcpkg/muster/vcpkg.json and conanfile.py ask for, feature by feature, and what
THIRD-PARTY-NOTICES tells of, as far as it goes into a program. What ./dev installs
(Debian, PyPI), web/package.json and test/kube/controlplane/go.mod name is in the
column Package of docs/dependencies.md, with the version beside it, and nothing else is.
On Debian 12 the versions of packages that are there are compared, too.
Prints what differs, and exits with 1 if something does.
"""

import json
import pathlib
import re
import subprocess
import sys

# What CMake finds: Debian's package, the names in vcpkg and Conan, its heading in
# THIRD-PARTY-NOTICES. Boost is there by the parts that are included.
LIBRARIES = {
    "absl": ("libabsl-dev", "abseil", "abseil", "Abseil"),
    "Protobuf": ("libprotobuf-dev", "protobuf", "protobuf", "Protocol Buffers"),
    "pugixml": ("libpugixml-dev", "pugixml", "pugixml", "pugixml"),
    "yaml-cpp": ("libyaml-cpp-dev", "yaml-cpp", "yaml-cpp", "yaml-cpp"),
    "nlohmann_json": ("nlohmann-json3-dev", "nlohmann-json", None, "JSON for Modern C++"),
    "CLI11": ("libcli11-dev", "cli11", None, "CLI11"),
    "CURL": ("libcurl4-openssl-dev", "curl", None, "curl"),
    "simdjson": ("libsimdjson-dev", "simdjson", None, "simdjson"),
    "SQLite3": ("libsqlite3-dev", "sqlite3", None, "SQLite"),
    "hwloc": ("libhwloc-dev", "hwloc", None, "hwloc"),
    "ZLIB": ("zlib1g-dev", "zlib", None, "zlib"),
    "GTest": ("libgtest-dev", "gtest", None, None),
    "benchmark": ("libbenchmark-dev", "benchmark", None, None),
    "Boost": ("libboost1.81-dev", None, "boost", "Boost"),
}
# Programs that CMake asks for, and what it finds without a package.
PROGRAMS = {"PkgConfig": "pkgconf", "Python3": None, "Threads": None, "muster": None}
# Headings of what goes into programs otherwise: by npm.
BUNDLED = {"uplot": "uPlot"}


def read(root, name):
    return (root / name).read_text(encoding="utf-8")


def git_files(root, *patterns):
    return subprocess.run(["git", "-C", root, "ls-files", "--deduplicate", *patterns], capture_output=True,
                          text=True, check=True).stdout.splitlines()


def feature_of(name):
    """The feature whose sources these are; None: whoever builds it has all of them."""
    top, _, rest = name.partition("/")
    if top in ("lib", "include"):
        part = (rest.removeprefix("muster/") if top == "include" else rest).split("/")[0]
        return part if part in ("wire", "graphml", "workload") else "core"
    if name == "CMakeLists.txt":
        return "core"
    if top == "adapters":
        return "tools"
    if top in ("test", "benchmarks", "fuzz") or name == "cmake/MusterHelpers.cmake":
        return "tests"
    return None


def found(root):
    """Feature -> names of what its CMake files ask for, and Boost's parts that it includes."""
    needs = {feature: set() for feature in ("core", "wire", "graphml", "workload", "tools", "tests")}
    for name in git_files(root, "*CMakeLists.txt", "*.cmake"):
        feature = feature_of(name)
        if feature is None or name.startswith("test/install/"):
            continue
        text = re.sub(r"#.*", "", read(root, name))
        for call in re.finditer(r"find_package\(([\w-]+)([^)]*)\)", text):
            if "QUIET" not in call[2]:  # Who lacks it does without.
                needs[feature].add(call[1])
        needs[feature].update(re.findall(r"pkg_check_modules\(([\w-]+)", text))
    for name in git_files(root, "*.h", "*.cc"):
        feature = feature_of(name)
        if feature is not None:
            needs[feature].update(f"boost-{part}" for part in re.findall(
                r'^#\s*include [<"]boost/(\w+)', read(root, name), re.M))
    return needs


def differ(what, listed, there):
    for name in sorted(set(there) - set(listed)):
        yield f"{what}: lacks {name}"
    for name in sorted(set(listed) - set(there)):
        yield f"{what}: has {name}, which nothing there needs"


def ports(needs, feature):
    names = set()
    for name in needs[feature]:
        if name.startswith("boost-"):
            names.add(name)
        elif name in LIBRARIES:
            names.add(LIBRARIES[name][1])
        else:
            names.add(PROGRAMS.get(name))
    return names - {None}


def check_vcpkg(root, needs):
    core = ports(needs, "core")
    for name, features in (("vcpkg.json", ("wire", "graphml", "workload", "tools", "tests")),
                           ("cmake/vcpkg/muster/vcpkg.json", ("wire", "graphml", "workload"))):
        manifest = json.loads(read(root, name))

        def listed(dependencies):
            return {one if isinstance(one, str) else one["name"] for one in dependencies}

        of_core = {port for port in listed(manifest["dependencies"]) if not port.startswith("vcpkg-")}
        yield from differ(name, of_core, core)
        yield from differ(f"{name}: features", manifest["features"], features)
        for feature in features:
            # Tests look into everything: what they alone need.
            others = core.union(*(ports(needs, one) for one in features if feature == "tests" and one != "tests"))
            yield from differ(f"{name}: {feature}", listed(manifest["features"][feature]["dependencies"]),
                              ports(needs, feature) - others)


def check_conan(root, needs):
    recipe = read(root, "conanfile.py")
    body = recipe.split("def requirements(self):")[1].split("\n    def ")[0]
    parts = re.split(r"if self\.options\.(\w+):", body)
    listed = dict(zip(("core", *parts[1::2]), parts[0::2]))
    for feature in ("core", "wire", "graphml", "workload"):
        there = {"boost" if name.startswith("boost-") else LIBRARIES[name][2] for name in needs[feature]}
        if feature != "core":
            there -= {"boost"}
        asked = re.findall(r'requires\("([\w-]+)/', listed.get(feature, ""))
        yield from differ(f"conanfile.py: {feature}", asked, there)


def check_notices(root, needs):
    text = read(root, "THIRD-PARTY-NOTICES")
    headings = re.findall(r"^={3,}\n(.+?)(?: \(.*\))?\n={3,}$", text, re.M)
    there = set()
    for feature in ("core", "wire", "graphml", "workload", "tools"):
        there.update("Boost" if name.startswith("boost-") else LIBRARIES[name][3]
                     for name in needs[feature] if name not in PROGRAMS)
    for package in json.loads(read(root, "web/package.json"))["dependencies"]:
        there.add(BUNDLED.get(package, package))
    yield from differ("THIRD-PARTY-NOTICES", headings, there - {None})


def debian_version(package):
    """Of a package that is there, on the system whose packages the documents name."""
    release = pathlib.Path("/etc/os-release")
    if not release.is_file() or 'VERSION_ID="12"' not in release.read_text(encoding="utf-8"):
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return done.stdout.split(":")[-1].split("+really")[-1] or None


def installed_by_dev(root):
    """Package -> version that it is fixed to, or None: Debian's and PyPI's."""
    dev = read(root, "dev")
    packages = {}
    for words in re.findall(r'^packages_\w+="([^"]*)"', dev, re.M):
        for word in re.sub(r"\$\{boost:-([\d.]+)\}", r"\1", words).split():
            if not word.startswith("$"):
                packages[word] = None
    for package, version in re.findall(r"from_pypi \w+ ([\w-]+) '?([\d.]+[\d])", dev):
        packages[f"{package} of PyPI"] = version
    for package, version in re.findall(r"pip\" install '(\w+)>=([\d.]+)", read(root, ".ci/install-check")):
        packages[f"{package} of PyPI"] = version
    return packages


def documented(text):
    """Package -> version, of the tables with a column Package."""
    listed = {}
    for row in re.findall(r"^\|[^|]*\|(.*)\|$", text, re.M):
        cells = [cell.strip() for cell in row.split("|")]
        names = re.findall(r"`([^`]+)`( of PyPI| of Go)?", cells[0])
        versions = [version.strip() for version in cells[1].split(",")]
        for (name, origin), version in zip(names, versions + [""] * len(names)):
            listed[name + origin] = version
    return listed


def check_document(root):
    page = "docs/dependencies.md"
    text, _, others = read(root, page).partition("\n## Used where it is there\n")
    listed = documented(text)
    there = installed_by_dev(root)
    package = json.loads(read(root, "web/package.json"))
    there.update(package["dependencies"] | package["devDependencies"])
    modules = read(root, "test/kube/controlplane/go.mod")
    for module in ("k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"):
        there[f"{module} of Go"] = re.search(rf"^\s*{re.escape(module)} v([\d.]+)", modules, re.M)[1]
    yield from differ(page, listed, there)
    yield from (f"{page}: ./dev installs {name}" for name in documented(others.split("\n## ")[0])
                if name in there)
    for name, version in listed.items():
        fixed = there.get(name)
        said = version.removesuffix(" or newer")
        if fixed is not None and said != fixed:
            yield f"{page}: {name} is fixed to {fixed}, not {version}"
        actual = debian_version(name) if fixed is None and said not in ("", "-") else None
        if actual is not None and said == version and not re.match(rf"{re.escape(said)}(?![0-9])", actual):
            yield f"{page}: {name} is {actual} on Debian 12, not {version}"
    for other in ("docs/kubernetes.md", "test/kube/README.md"):
        for version in re.findall(r"Kubernetes (\d+\.\d+\.\d+)", read(root, other)):
            if version != there["k8s.io/kubernetes of Go"]:
                yield f"{other}: Kubernetes {version} is not the one that go.mod names"
    for name, (debian, *_) in LIBRARIES.items():
        if debian not in there:
            yield f"dev: does not install {debian}, for {name}"
    for name, least in sorted(least_versions(root)):
        rows = [row for row in text.splitlines() if row.startswith("|") and f"`{LIBRARIES[name][0]}`" in row]
        if not any(re.search(rf"(?<![\d.]){re.escape(least)}(?![\d])", row) for row in rows):
            yield f"{page}: the rows of {name} do not say that CMake asks for {least}"


def least_versions(root):
    """What CMake asks for: a package, and the version from which on it serves."""
    for name in git_files(root, "*CMakeLists.txt", "*.cmake"):
        text = read(root, name)
        yield from re.findall(r"find_package\((?!muster)([\w-]+) ([\d.]+)", text)
        yield from re.findall(r"pkg_check_modules\(([\w-]+)[^)]*>=([\d.]+)", text)


def main(root):
    needs = found(root)
    unknown = {name for names in needs.values() for name in names
               if name not in LIBRARIES and name not in PROGRAMS and not name.startswith("boost-")}
    wrong = [f"CMake finds {name}, which this script does not know" for name in sorted(unknown)]
    if not unknown:
        for check in (check_vcpkg, check_conan, check_notices):
            wrong.extend(check(root, needs))
    wrong.extend(check_document(root))
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
