"""A small HTTPS server on 127.0.0.1 for curl_transport_test.

    https_server.py FOLDER

FOLDER has server.pem, server.key, client.pem (the only client that is trusted)
and token (what /token asks for). Prints its port; ends when its input ends, or
after five minutes.
"""

import http.server
import json
import os
import ssl
import sys
import threading
import time

FOLDER = sys.argv[1]
hits = {}
connections = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        global connections
        super().setup()
        connections += 1
        self.number = connections

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def stream(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def handle_any(self):
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size).decode()
        path = self.path.split("?")[0]
        hits[path] = hits.get(path, 0) + 1
        getattr(self, "do_" + path.strip("/"), self.do_unknown)(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any

    def do_unknown(self, body):
        self.answer(404, b"no such path")

    def do_echo(self, body):
        certificate = self.connection.getpeercert() or {}
        self.answer(200, json.dumps({
            "method": self.command, "path": self.path, "body": body,
            "type": self.headers.get("Content-Type", ""),
            "agent": self.headers.get("User-Agent", ""),
            "host": self.headers.get("Host", ""),
            "connection": self.number,
            "client": str(certificate.get("subject", "")),
            "hits": hits}).encode())

    def do_token(self, body):
        with open(FOLDER + "/token", encoding="ascii") as file:
            good = "Bearer " + file.read().strip()
        if self.headers.get("Authorization") == good:
            self.answer(200, b"welcome")
        else:
            self.answer(401, b"who are you")

    def do_busy(self, body):
        self.answer(429, b"busy", Retry_After="7")

    def do_big(self, body):
        self.answer(200, b"x" * (1 << 20))

    def do_chunks(self, body):
        self.stream()
        for word in (b"one", b"two", b"three"):
            self.chunk(word)
            time.sleep(0.05)
        self.chunk(b"")

    def do_cut(self, body):
        self.stream()
        self.chunk(b"half")
        self.close_connection = True
        self.connection.shutdown(2)

    def do_endless(self, body):
        self.stream()
        self.chunk(b"begun")
        time.sleep(20)

    def do_silent(self, body):
        time.sleep(20)

    def do_swallow(self, body):
        self.close_connection = True
        self.connection.shutdown(2)


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER + "/server.pem", FOLDER + "/server.key")
    context.load_verify_locations(FOLDER + "/client.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *args: None
    # Handshakes in the connection's thread, so that a bad one blocks nobody.
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Timer(300, os._exit, [1]).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


main()
