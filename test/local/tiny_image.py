"""Images made of the machine's own programs, for tests that fetch nothing."""

import os
import pathlib
import shutil
import subprocess
import tempfile

NAME = "localhost/muster-test:1"


def make_root(root):
    """A root file system of its own, with the machine's programs where /usr is bound."""
    for name in ("etc", "usr", "home"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        if os.path.isdir(f"/usr/{name}"):
            (root / name).symlink_to(f"usr/{name}")
    (root / "etc/os").write_text("tiny\n")


def podman(*words, **more):
    return subprocess.run(["podman", *words], check=False, capture_output=True, text=True, **more)


def bubblewrap_works():
    return shutil.which("bwrap") is not None and subprocess.run(
        ["bwrap", "--ro-bind", "/", "/", "true"], check=False, capture_output=True).returncode == 0


def apptainer():
    """The program, where it can run a directory; None: it is not there, or cannot."""
    program = shutil.which("apptainer") or shutil.which("singularity")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        make_root(root)
        tried = subprocess.run(
            [program, "exec", "--no-privs", "--bind=/usr:/usr:ro", str(root), "true"],
            check=False, capture_output=True)
    return program if tried.returncode == 0 else None


def import_into_podman():
    """Makes the image NAME, whose own command is `echo own`. Options by which podman can run it, and
    None: or nothing, and why it cannot."""
    if not shutil.which("podman"):
        return [], "podman is not there"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        make_root(root)
        tar = pathlib.Path(folder) / "tar"
        subprocess.run(["tar", "-C", root, "-cf", tar, "."], check=True)
        made = podman("import", "--change", 'CMD=["echo","own"]', str(tar), NAME)
    if made.returncode != 0:
        return [], "podman makes no image: " + made.stderr.strip()
    # Where root may not raise limits, podman's own are too high.
    for options in ([], ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]):
        tried = podman("run", "--rm", "--pull=never", "--cgroups=disabled", "--init",
                       "--network=host", "--volume=/usr:/usr:ro", *options, NAME, "true")
        if tried.returncode == 0:
            return options, None
    return [], "podman does not work here: " + tried.stderr.strip()
