"""Between a client and the API server, on the loopback interface: sees each request, can do
something before it is passed on or before its answer is, and can cut connections."""

import http.client
import http.server
import json
import os
import socket
import ssl
import threading
import time
import urllib.parse

import muster


class Cut(Exception):
    """Raised by a hook: the connection ends here."""


class Request:
    """One request; `kind` is bind, evict, status, event, lease, list, watch, read or other."""

    def __init__(self, method, target, body):
        self.method, self.target, self.body = method, target, body
        self.at = time.monotonic()
        self.status = None  # Of the answer, once there is one.
        url = urllib.parse.urlsplit(target)
        self.path, self.query = url.path, urllib.parse.parse_qs(url.query, keep_blank_values=True)
        self.parts = self.path.strip("/").split("/")
        self.kind = self._kind()

    def _kind(self):
        if "leases" in self.parts:
            return "lease"
        if self.method == "GET":
            return "watch" if "watch" in self.query else "list" if "resourceVersion" in self.query else "read"
        return {"binding": "bind", "eviction": "evict", "status": "status",
                "events": "event"}.get(self.parts[-1], "other")

    @property
    def name(self):
        """Of the pod that a write or a read is about."""
        return self.parts[self.parts.index("pods") + 1]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        self.upstream = None
        # Here, not where connections are accepted: a handshake waits for its client.
        self.request = self.server.proxy.tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self):
        if self.upstream:
            self.upstream.close()
        try:
            super().finish()
        except OSError:
            pass  # It was cut.
        self.server.proxy.ended(self.connection)

    def handle(self):
        try:
            super().handle()
        except (Cut, OSError, http.client.HTTPException):
            self.close_connection = True

    def log_message(self, *_):
        pass

    def answer(self):
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, body)
        proxy.note(request, self.connection)
        proxy.before(request)
        if self.upstream is None:
            self.upstream = proxy.connect()
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        self.upstream.request(self.command, self.path, body or None, headers)
        response = self.upstream.getresponse()
        request.status = response.status
        proxy.after(request)
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "date", "server"):
                self.send_header(name, value)
        if request.kind == "watch":
            self.stream(request, response)
        else:
            text = response.read()
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def stream(self, request, response):
        proxy = self.server.proxy
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        left = proxy.cut_watch(request)  # Bytes; None: all of them.
        while data := response.read1(1 << 16):
            if left is not None and len(data) >= left:
                self.chunk(data[:left])
                if proxy.cut_politely:
                    self.wfile.write(b"0\r\n\r\n")
                proxy.cuts += 1
                raise Cut
            if left is not None:
                left -= len(data)
            self.chunk(data)
        self.wfile.write(b"0\r\n\r\n")

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # A client that was killed.


class Proxy:
    """Runs until the end of `with`. Has the API server's own certificate, so that its clients verify
    it as they would the API server; `kubeconfig` is one for them."""

    def __init__(self, plane, kubeconfig):
        self.lock = threading.Lock()
        self.requests = []
        self.before = self.after = lambda request: None
        self.cut_watch = lambda request: None
        self.cut_politely = False  # The answer ends as if it was all.
        self.cuts = 0
        self._connections = set()
        self._plane = plane
        self._port = urllib.parse.urlsplit(plane.server).port
        self._trust = ssl.create_default_context(cafile=plane.info["certificate_authority"])
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.tls.load_cert_chain(f"{plane.dir}/pki/server.crt", f"{plane.dir}/pki/server.key")
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        with open(kubeconfig, encoding="utf-8") as file:
            config = json.load(file)
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self._server.server_port}"
        self.kubeconfig = os.path.join(plane.scratch.name, f"proxy-{self._server.server_port}.kubeconfig")
        with open(self.kubeconfig, "w", encoding="utf-8") as file:
            json.dump(config, file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self.cut()

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self._port, context=self._trust, timeout=600)

    def note(self, request, connection):
        with self.lock:
            self.requests.append(request)
            self._connections.add(connection)

    def ended(self, connection):
        with self.lock:
            self._connections.discard(connection)
        connection.close()

    def forget(self):
        """What was seen so far."""
        with self.lock:
            self.requests.clear()

    def of(self, *kinds, since=0.0):
        """The requests of these kinds, of all if none is named."""
        with self.lock:
            return [one for one in self.requests if one.at >= since and (not kinds or one.kind in kinds)]

    def cut(self):
        """Ends all connections that clients have."""
        with self.lock:
            connections, self._connections = self._connections, set()
        for one in connections:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class At:
    """Does something once: before the nth request of a kind is passed on, or after it has been
    carried out and before it is answered. The others of that kind go one after another."""

    def __init__(self, proxy, kind, nth, after, act):
        self.kind, self.nth, self.act = kind, nth, act
        self.done = threading.Event()
        self.seen = 0
        self.turn = threading.Semaphore()
        proxy.before = self.before if not after else self.count
        proxy.after = self.reach if after else self.leave

    def count(self, request):
        if request.kind == self.kind:
            self.turn.acquire()
            if self.done.is_set():
                self.turn.release()
                raise Cut
            self.seen += 1

    def before(self, request):
        self.count(request)
        if request.kind == self.kind and self.seen == self.nth:
            self.strike()

    def reach(self, request):
        if request.kind == self.kind and self.seen == self.nth:
            self.strike()
        self.leave(request)

    def leave(self, request):
        if request.kind == self.kind:
            self.turn.release()

    def strike(self):
        try:
            self.act()
        finally:
            self.done.set()
            self.turn.release()
        raise Cut


class ProxiedTest(muster.StoryTest):
    """Each test has a proxy of its own for the program that it starts with `proxy.kubeconfig`."""

    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.plane, self.kubeconfig)
        self.addCleanup(self.proxy.__exit__)
