"""Two users of one machine, who need no account: what each of them can do, in processes of theirs."""

import encodings.idna  # pylint: disable=unused-import  # Needed where he may not read the library.
import http.client
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import tempfile
import traceback

from daemon import _Connection

ALICE, BOB = 12345, 12346


def as_user(uid, what, umask=0o022):
    """What `what()` returns or raises, called in a process of that user, who is in no other group."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.umask(umask)
            os.chdir("/")
            try:
                told = (True, what())
            except Exception as error:  # pylint: disable=broad-except
                told = (False, f"{error!r}\n{traceback.format_exc()}")
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(told, pipe)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    good, value = pickle.loads(data)
    if not good:
        raise AssertionError(f"as user {uid}: {value}")
    return value


class User:
    """One of the two, with a home that others may look into, and programs that he may run."""

    def __init__(self, test, uid, daemon, programs):
        self.uid, self.daemon = uid, daemon
        self.programs = programs
        self.home = pathlib.Path(tempfile.mkdtemp(prefix=f"muster-{uid}-"))
        test.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        os.chown(self.home, uid, uid)
        self.home.chmod(0o755)

    def do(self, what, umask=0o022):
        return as_user(self.uid, what, umask)

    def environment(self, **more):
        return {"PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(self.home),
                "MUSTER_SOCKET": self.daemon.socket, "TMPDIR": str(self.home), **more}

    def run(self, *words, umask=0o022, check=True, **more):
        """`muster WORDS`, or another program by its path."""
        command = [str(word) for word in words]
        if not command[0].startswith("/"):
            command.insert(0, str(self.programs / "muster"))
        given = more.pop("environment", {})
        more.setdefault("cwd", self.home)
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False,
                              user=self.uid, group=self.uid, extra_groups=[], umask=umask,
                              env=self.environment(**given), **more)
        if check and done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def ask(self, method, path, body=None, raw=None):
        """Over the socket: the status, and all bytes that came within a moment."""
        def talk():
            connection = _Connection(self.daemon.socket, 20)
            connection.request(method, path,
                               raw if raw is not None else None if body is None else json.dumps(body))
            answer = connection.getresponse()
            if "follow=1" in path:
                answer.fp.raw._sock.settimeout(0.3)  # It has no end.
            data = b""
            try:
                while part := answer.read1(1 << 16):
                    data += part
            except OSError:
                pass
            connection.close()
            return answer.status, data.decode(errors="replace")
        return self.do(talk)

    def ask_page(self, host, method, path, token=None, body=None):
        def talk():
            connection = http.client.HTTPConnection(host, timeout=20)
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            said = answer.status, answer.read().decode(errors="replace")
            connection.close()
            return said
        return self.do(talk)

    def submit(self, command, umask=None, **more):
        """As Daemon.submit, as this user: the job's id."""
        if umask is not None:
            more["umask"] = umask
        return self.do(lambda: self.daemon.submit(command, **more))


def tries(paths):
    """What the user that this runs as can do to these paths: a list of (path, what)."""
    could = []

    def attempt(path, name, call):
        try:
            call()
        except OSError:
            return
        could.append((str(path), name))

    for path in paths:
        flags = os.O_NONBLOCK | os.O_NOFOLLOW
        attempt(path, "read", lambda p=path: os.close(os.open(p, os.O_RDONLY | flags)))
        attempt(path, "write", lambda p=path: os.close(os.open(p, os.O_WRONLY | flags)))
        attempt(path, "list", lambda p=path: os.listdir(p))
        attempt(path, "remove", lambda p=path: os.rename(p, f"{p}.gone"))
        attempt(path, "chmod", lambda p=path: os.chmod(p, 0o777))
        attempt(path, "make in", lambda p=path: os.mkdir(f"{p}/made"))
        attempt(path, "link", lambda p=path: os.link(p, f"/tmp/muster-link-{os.getpid()}"))
    return could


def below(folder):
    """All that is there, for root."""
    return [folder, *(pathlib.Path(at) / name for at, folders, files in os.walk(folder)
                      for name in [*folders, *files])]
