#!/usr/bin/env python3
"""Stories of images, with real processes: images_test.py PROGRAMS"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import unittest

import tiny_image
from daemon import Daemon, Refused, main
from tiny_image import bubblewrap_works, make_root, podman

NOBODY = 65534
SECONDS = str(100_000 + os.getpid())  # To sleep, as nobody else does on this machine.


class ImagesTest(unittest.TestCase):
    def begin(self, images):
        """A daemon with this configuration of images."""
        self.d = Daemon(PROGRAMS)
        self.addCleanup(self.d.end)
        self.config = self.d.folder / "musterd.yaml"
        self.config.write_text(json.dumps({"images": images}))
        self.d.options = ["--gpus", "2", "--config", str(self.config)]
        self.work = self.d.folder / "work"
        self.work.mkdir()
        self.work.chmod(0o777)

    def environment(self):
        return [f"HOME={self.work}"]

    def job(self, container, volumes=(), **more):
        manifest = {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
            "spec": {"backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never", "volumes": list(volumes),
                "containers": [{"name": "main", **container}], **more}}}}
        answer = self.d.post("/v1/jobs", {
            "manifest": json.dumps(manifest), "directory": str(self.work),
            "environment": [f"PATH={os.environ['PATH']}", *self.environment()]})
        return answer["jobs"][0]["id"]

    image = "tiny:1"

    def script(self, text, **more):
        return {"image": self.image, "command": ["sh", "-ec", textwrap.dedent(text)], **more}

    def output(self, number):
        self.assertEqual(self.d.finished(number)["phase"], "succeeded", self.d.output(number))
        return self.d.output(number)


def runs(*words):
    """Whether the machine has a process of this command."""
    line = b"".join(word.encode() + b"\0" for word in words)
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes() == line:
                return True
        except OSError:
            pass  # It has ended meanwhile.
    return False


class Stories:
    """Of whatever runs images."""

    def test_a_stop_is_heeded_and_nothing_is_left(self):
        number = self.job(self.script(f"""
            trap 'echo saved; exit 3' TERM
            setsid sleep {SECONDS} &
            echo up > up
            while :; do sleep 0.02; done
            """), terminationGracePeriodSeconds=60)
        self.d.until(lambda: (self.work / "up").exists() and runs("sleep", SECONDS))
        self.d.delete(f"/v1/jobs/{number}")
        self.d.finished(number)
        # The shell may tell of the sleep that was stopped with it.
        self.assertEqual(self.d.output(number).splitlines()[-1], "saved")
        self.d.until(lambda: not runs("sleep", SECONDS))

    def test_the_daemon_may_be_killed_meanwhile(self):
        number = self.job(self.script("""
            echo up > up
            while test ! -e go; do sleep 0.02; done
            exit 7"""))
        self.d.until(lambda: (self.work / "up").exists())
        self.d.kill()
        self.d.start()
        (self.work / "go").touch()
        self.assertEqual(self.d.finished(number)["exit_code"], 7)


class ContainerStories(Stories):
    """Of programs that run containers."""

    of_container = {}  # Further fields of a task's.

    def test_a_job_runs_in_its_image_with_its_volumes_and_files(self):
        data = self.d.folder / "data"
        data.mkdir()
        (data / "set").write_text("42\n")
        number = self.job(self.script("""
            cat /etc/os /data/set
            (: > /data/new) 2> /dev/null || echo read-only
            pwd; echo made > made
            echo $MUSTER_VOLUME_DATA
            touch $MUSTER_CHECKPOINT; cat $MUSTER_SIZE_FILE
            test -S $MUSTER_SOCKET && echo socket
            """, volumeMounts=[{"name": "data", "mountPath": "/data", "readOnly": True}],
            **self.of_container),
            [{"name": "data", "hostPath": {"path": str(data)}}])
        self.assertEqual(self.output(number).splitlines(), [
            "tiny", "42", "read-only", str(self.work), "/data", "1", "socket"])
        self.assertEqual((self.work / "made").read_text(), "made\n")

    def test_who_heeds_no_stop_is_killed(self):
        number = self.job(self.script("""
            trap '' TERM
            echo up > up
            while :; do sleep 0.02; done"""), terminationGracePeriodSeconds=1)
        self.d.until(lambda: (self.work / "up").exists())
        self.d.delete(f"/v1/jobs/{number}")
        self.d.finished(number)


class BubblewrapTest(Stories, ImagesTest):
    def setUp(self):
        if not bubblewrap_works():
            self.skipTest("bubblewrap is not there, or may not be used")
        self.begin({"by": "bubblewrap", "folder": "/FOLDER", "binds": ["/usr"]})
        images = self.d.folder / "images"
        self.config.write_text(self.config.read_text().replace("/FOLDER", str(images)))
        make_root(images / "tiny:1")
        self.d.start()

    def test_a_job_runs_in_its_image_with_its_volumes_and_files(self):
        data = self.d.folder / "data"
        data.mkdir()
        (data / "set").write_text("42\n")
        volumes = [{"name": "data", "hostPath": {"path": str(data)}},
                   {"name": "shm", "emptyDir": {"medium": "Memory"}}]
        mounts = [{"name": "data", "mountPath": "/data", "readOnly": True},
                  {"name": "shm", "mountPath": "/etc/deep/shm"}]
        number = self.job(self.script("""
            cat /etc/os /data/set
            (: > /data/new) 2> /dev/null || (: > /new) 2> /dev/null || echo read-only
            stat -f -c %T /etc/deep/shm
            pwd; echo made > made
            echo $MUSTER_VOLUME_DATA
            touch $MUSTER_CHECKPOINT; cat $MUSTER_SIZE_FILE
            test -S $MUSTER_SOCKET && echo socket
            test ! -e /etc/debian_version && echo elsewhere
            """, volumeMounts=mounts, resources={"limits": {"nvidia.com/gpu": "1"}}), volumes)
        self.assertEqual(self.output(number).splitlines(), [
            "tiny", "42", "read-only", "tmpfs", str(self.work), "/data", "1", "socket",
            "elsewhere"])
        self.assertEqual((self.work / "made").read_text(), "made\n")
        self.assertIn("Image:        tiny:1\n", self.d.run("describe", str(number)).stdout)
        self.assertEqual(self.d.job(number)["images"], {"task": "tiny:1"})
        self.assertIn("Images are run by bubblewrap", self.d.run("nodes").stdout)

    def test_what_is_not_allowed_is_refused_with_its_field(self):
        for image, why in (("../work", "expected a name"), ("/etc", "expected a name"),
                           ("tiny:1/usr", "is none of those allowed here"),
                           ("other", "is none of those allowed here: tiny:1")):
            with self.assertRaises(Refused) as refused:
                self.job({"image": image, "command": ["true"]})
            self.assertIn(f"image '{image}': ", str(refused.exception))
            self.assertIn(why, str(refused.exception))
        with self.assertRaises(Refused) as refused:
            self.job({"image": "tiny:1"})
        self.assertIn("command: is missing, and bubblewrap does not know",
                      str(refused.exception))

    def test_submit_runs_a_command_in_an_image(self):
        done = self.d.run("submit", "--image", "tiny:1", "--chdir", str(self.work), "--wait",
                          "--", "sh", "-c", "cat /etc/os; pwd")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.d.output(1), f"tiny\n{self.work}\n")

    @unittest.skipIf(os.geteuid() != 0, "only root's daemon runs jobs of others")
    def test_a_job_of_another_user_gets_no_rights(self):
        (self.d.folder / "images/tiny:1/etc/root").write_text("root\n")
        (self.d.folder / "images/tiny:1/etc/root").chmod(0o600)
        shutil.copy(shutil.which("id"), self.d.folder / "images/tiny:1/home/id")
        (self.d.folder / "images/tiny:1/home/id").chmod(0o4755)
        script = self.d.folder / "submit.py"
        manifest = {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "his"},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
                self.script("""
                    id -u
                    cat /etc/root 2> /dev/null || echo refused
                    grep CapEff /proc/self/status
                    /home/id -u
                    : > mine
                    """, name="main")]}}}}
        script.write_text(textwrap.dedent(f"""
            import os, sys
            sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
            from daemon import Daemon
            d = Daemon({str(PROGRAMS)!r}, folder={str(self.d.folder)!r})
            os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
            print(d.post("/v1/jobs", {{"manifest": {json.dumps(manifest)!r},
                                      "directory": {str(self.work)!r},
                                      "environment": ["PATH=/usr/bin:/bin"]}})["jobs"][0]["id"])
            """))
        number = int(subprocess.run([sys.executable, "-B", script], check=True, text=True,
                                    capture_output=True).stdout)
        said = self.output(number).splitlines()
        self.assertEqual(said[:3], [str(NOBODY), "refused", "CapEff:\t0000000000000000"])
        self.assertEqual(said[3], str(NOBODY), "a program has no rights of its owner")
        self.assertEqual((self.work / "mine").stat().st_uid, NOBODY)


class PodmanTest(ImagesTest):
    """A script that stands for podman: it keeps its words, and runs the command as podman does."""

    def setUp(self):
        self.begin({"by": "podman", "program": "/PROGRAM", "allow": ["localhost/*"]})
        program = self.d.folder / "podman"
        self.config.write_text(self.config.read_text().replace("/PROGRAM", str(program)))
        program.write_text(textwrap.dedent(f"""\
            #!{sys.executable}
            import os, signal, subprocess, sys
            words = sys.argv[1:]
            with open({str(self.d.folder)!r} + "/words", "a") as kept:
                kept.write("\\n".join(words) + "\\n--end--\\n")
            if "rm" in words:
                sys.exit()
            if "kill" in words:
                with open({str(self.d.folder)!r} + "/" + words[-1]) as file:
                    os.kill(int(file.read()), signal.SIGTERM)
                sys.exit()
            image = next(i for i, word in enumerate(words) if word.startswith("localhost/"))
            entry = [w.split("=", 1)[1] for w in words if w.startswith("--entrypoint=")]
            name, directory = (next(w.split("=", 1)[1] for w in words if w.startswith(f"--{{option}}="))
                               for option in ("name", "workdir"))
            command = (entry or ["echo", "entrypoint"]) + words[image + 1:]
            # As conmon: the container is in a session of its own. And as podman without root, it
            # passes no signals on.
            child = subprocess.Popen(command, cwd=directory, start_new_session=True)
            with open({str(self.d.folder)!r} + "/" + name, "w") as file:
                file.write(str(child.pid))
            code = child.wait()
            sys.exit(code if code >= 0 else 128 - code)
            """))
        program.chmod(0o755)
        (self.d.folder / "words").touch()
        (self.d.folder / "words").chmod(0o666)
        self.d.start()

    def words(self):
        """Of each call."""
        text = (self.d.folder / "words").read_text()
        return [call.splitlines() for call in text.split("--end--\n") if call]

    def test_the_command_or_that_of_the_image_is_run(self):
        number = self.job({"image": "localhost/train:1", "command": ["sh", "-c", "pwd; exit 3"]})
        self.assertEqual(self.d.finished(number)["exit_code"], 3)
        self.assertEqual(self.d.output(number), f"{self.work}\n")
        number = self.job({"image": "localhost/train:1", "args": ["--lr", "1"]})
        self.assertEqual(self.output(number), "entrypoint --lr 1\n")
        first, second = self.words()
        self.assertIn("--name=muster-1-0-0-1", first)
        self.assertIn("--entrypoint=sh", first)
        self.assertIn("--env=MUSTER_JOB_ID", first)
        self.assertEqual(second[-3:], ["localhost/train:1", "--lr", "1"])

    def test_a_stop_reaches_the_container_and_none_outlives_it(self):
        number = self.job({"image": "localhost/train:1", "command": ["sh", "-c", textwrap.dedent("""
            trap 'echo saved' TERM
            echo $$$$ > pid; mv pid up
            while :; do sleep 0.02; done""")]}, terminationGracePeriodSeconds=5)
        self.d.until(lambda: (self.work / "up").exists())
        container = int((self.work / "up").read_text())
        self.d.delete(f"/v1/jobs/{number}")
        self.d.finished(number)
        self.assertEqual(self.d.output(number).splitlines()[-1], "saved")
        self.assertFalse(os.path.exists(f"/proc/{container}"))
        self.d.until(lambda: len(self.words()) >= 3)
        _, *stops, removed = self.words()
        for stop in stops:
            self.assertEqual(stop, ["--remote=false", "kill", "--signal=TERM", "muster-1-0-0-1"])
        self.assertEqual(removed[-5:], ["rm", "--force", "--ignore", "--time=0", "muster-1-0-0-1"])

    def test_a_stop_waits_for_the_container(self):
        """It is told while podman is about to make the container, and reaches it when it is there."""
        program, words = self.d.folder / "podman", self.d.folder / "words"
        made = "child = subprocess.Popen(command, cwd=directory, start_new_session=True)"
        before, after = program.read_text().split(made)
        program.write_text(before + textwrap.dedent(f"""\
            import time
            while "\\nkill\\n" not in open({str(words)!r}).read():
                time.sleep(0.02)
            {made}
            # Nobody knows of it before the shell has its trap: else the signal would end it.
            while not os.path.exists(directory + "/up"):
                time.sleep(0.02)
            """) + after)
        number = self.job({"image": "localhost/train:1", "command": ["sh", "-c", textwrap.dedent("""
            trap 'echo saved; exit 3' TERM
            : > up
            while :; do sleep 0.02; done""")]}, terminationGracePeriodSeconds=60)
        self.d.until(self.words)
        self.d.delete(f"/v1/jobs/{number}")
        self.d.finished(number)
        self.assertEqual(self.d.output(number), "saved\n")
        self.assertGreater(len(self.words()), 2)

    def test_other_images_are_refused(self):
        for image in ("docker.io/library/debian", "localhost/../x", "--rootfs=/", "dir:/tmp"):
            with self.assertRaises(Refused) as refused:
                self.job({"image": image, "command": ["true"]})
            self.assertIn(f"image '{image}': ", str(refused.exception))


class RealPodmanTest(ContainerStories, ImagesTest):
    image = tiny_image.NAME
    of_container = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}

    @classmethod
    def setUpClass(cls):
        cls.options, why_not = tiny_image.import_into_podman()
        if why_not:
            raise unittest.SkipTest(why_not)
        cls.addClassCleanup(podman, "rmi", "--force", cls.image)

    def setUp(self):
        self.begin({"by": "podman", "allow": ["localhost/*"], "binds": ["/usr"],
                    "options": self.options})
        self.d.start()

    def environment(self):
        """Where it has its images."""
        return [f"{name}={os.environ[name]}" for name in ("HOME", "XDG_RUNTIME_DIR")
                if name in os.environ]

    def tearDown(self):
        self.d.until(lambda: "muster-" not in podman("ps", "--all").stdout)

    def test_its_own_command_is_run_and_codes_are_told(self):
        self.assertEqual(self.output(self.job({"image": self.image})), "own\n")
        number = self.job(self.script("exit 9"))
        self.assertEqual(self.d.finished(number)["exit_code"], 9)

    def test_who_knows_nothing_of_stops_is_stopped(self):
        """The first process of a namespace would ignore them."""
        number = self.job({"image": self.image, "command": ["sleep", "1000"]},
                          terminationGracePeriodSeconds=1000)
        self.d.until(lambda: self.d.job(number)["phase"] == "running")
        self.d.until(lambda: "muster-" in podman("ps").stdout)
        self.d.delete(f"/v1/jobs/{number}")
        self.d.finished(number)


class ApptainerTest(ContainerStories, ImagesTest):
    """A real one, or its sibling SingularityCE, which has the same options."""

    def setUp(self):
        program = tiny_image.apptainer()
        if program is None:
            self.skipTest("apptainer is not there, or does not work here")
        self.begin({"by": "apptainer", "program": program, "folder": "/FOLDER", "binds": ["/usr"]})
        images = self.d.folder / "images"
        self.config.write_text(self.config.read_text().replace("/FOLDER", str(images)))
        make_root(images / "tiny:1")
        # What it tells of otherwise.
        for name in ("passwd", "group"):
            (images / "tiny:1/etc" / name).touch()
        (images / "tiny:1/var/tmp").mkdir(parents=True)
        (images / "tiny:1/tmp").mkdir()
        self.d.start()

    def test_variables_codes_and_input_pass(self):
        number = self.job(self.script("read line; echo $line $OF_THE_JOB; exit 9", stdin=True,
                                      env=[{"name": "OF_THE_JOB", "value": "a b,c"}]))
        self.d.until(lambda: self.d.job(number)["phase"] == "running")
        self.d.run("send", str(number), "hello")
        self.assertEqual(self.d.finished(number)["exit_code"], 9)
        self.assertEqual(self.d.output(number).splitlines()[-1], "hello a b,c")

    def test_who_knows_nothing_of_stops_is_stopped(self):
        number = self.job({"image": self.image, "command": ["/usr/bin/sleep", SECONDS]},
                          terminationGracePeriodSeconds=1000)
        self.d.until(lambda: runs("/usr/bin/sleep", SECONDS))
        self.d.delete(f"/v1/jobs/{number}")
        self.d.finished(number)
        self.d.until(lambda: not runs("/usr/bin/sleep", SECONDS))


class NoneTest(ImagesTest):
    def test_a_program_that_is_not_there_refuses_images(self):
        self.begin({"by": "apptainer", "program": "/proc/no-apptainer", "folder": "/srv/images"})
        self.d.start()
        with self.assertRaises(Refused) as refused:
            self.job({"image": "x", "command": ["true"]})
        self.assertIn("image 'x': images are to be run by apptainer, which does not work: "
                      "/proc/no-apptainer: No such file", str(refused.exception))
        self.assertIn("tasks with images are refused", self.d.said())
        self.assertEqual(self.output(self.job({"command": ["echo", "hi"]})), "hi\n")


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
