"""An HTTP server under the control of a test: each request gets the next scripted answer, and is
recorded. It is bounded, whatever its client does: in requests, in bytes of a body, and in time."""
import dataclasses
import http.client
import http.server
import json
import pathlib
import select
import socket
import ssl
import subprocess
import threading
import time
import zlib

REQUESTS_MAX = 100_000
BODY_MAX = 8 << 20
SECONDS_MAX = 120  # for one answer


@dataclasses.dataclass
class Request:
    """A request as it came in."""
    method: str
    path: str
    headers: dict  # names in lower case
    body: bytes  # without its encoding
    time: float
    status: int = 0  # of the answer that it gets; 0: none that is whole

    raw_bytes: int = 0

    @property
    def is_compressed(self):
        return self.headers.get("content-encoding") == "gzip"

    def json(self):
        return json.loads(self.body)


# ---- answers: functions of the exchange; `code` is the status of one that is whole ----

def status(code, body=b"{}", **headers):
    """A plain answer. The words of a header's name are separated by "_"."""
    def answer(exchange):
        exchange.head(code, {"Content-Length": str(len(body))} | {name.replace("_", "-"): str(value) for name, value in headers.items()})
        exchange.send(body)
    answer.code = code
    return answer


def redirect(target, code=307):
    """`target`: an address, or a function of the server that returns one."""
    def answer(exchange):
        status(code, Location=target(exchange.owner) if callable(target) else target)(exchange)
    answer.code = code
    return answer


def close(exchange):
    """No answer: the connection is closed."""


def reset(exchange):
    """No answer: the connection is torn down."""
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def hang(exchange):
    """No answer, and the connection stays."""
    exchange.wait(SECONDS_MAX)


def endless(exchange):
    """A body that never ends."""
    exchange.head(200, {"Transfer-Encoding": "chunked"})
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    while exchange.send(chunk):
        exchange.owner.sent_bytes += len(chunk)


def endless_header(exchange):
    """A header that never ends."""
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    while exchange.send(b"X-Long: " + b"y" * 8000 + b"\r\n"):
        exchange.owner.sent_bytes += 8010


def drip(exchange):
    """A byte now and then, so that the connection is never idle."""
    exchange.head(200, {"Content-Length": "100000"})
    while exchange.send(b"z") and not exchange.wait(0.5):
        pass


def cut(exchange):
    """Less of a body than its header says."""
    exchange.head(200, {"Content-Length": "1000"})
    exchange.send(b"{")


def early(answer, stray):
    """An answer; and what comes to the next request on the connection before the server has read
    that one."""
    def both(exchange):
        answer(exchange)
        exchange.until_readable()
        stray(exchange)
    both.code = answer.code
    return both


def garbage(exchange):
    exchange.send(b"\0\xff no HTTP at all\r\n\r\n" * 10)


# ---- the server ----

class Exchange(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SECONDS_MAX

    @property
    def owner(self):
        return self.server.owner

    def send(self, data):
        """Whether the data went, and the answer may go on."""
        try:
            self.connection.sendall(data)
        except OSError:
            return False
        return time.monotonic() < self.until and not self.owner.is_down.is_set()

    def wait(self, seconds):
        """Whether the answer has to end."""
        return self.owner.is_down.wait(min(seconds, max(0, self.until - time.monotonic())))

    def until_readable(self):
        """Until the client sends more, or has left."""
        while not select.select([self.connection], [], [], 0)[0] and not self.wait(0.01):
            pass

    def head(self, code, headers):
        lines = ["HTTP/1.1 %d %s" % (code, http.client.responses.get(code, "-"))] + ["%s: %s" % pair for pair in headers.items()]
        self.send("\r\n".join(lines + ["", ""]).encode())

    def serve(self):
        self.until = time.monotonic() + SECONDS_MAX
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(size, BODY_MAX))
        request = Request(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body, time.time())
        request.raw_bytes = len(body)
        if request.is_compressed:
            unpacking = zlib.decompressobj(wbits=31)
            request.body = unpacking.decompress(body, BODY_MAX)
            assert unpacking.eof and not unpacking.unused_data, "the body is no whole gzip"
        answer = self.owner.take(request) if len(body) == size else close
        request.status = getattr(answer, "code", 0)
        self.owner.keep(request)
        answer(self)
        self.close_connection = self.close_connection or request.status == 0

    do_POST = do_GET = do_PUT = do_CONNECT = do_HEAD = serve

    def log_message(self, *arguments):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # the client left


class Server:
    """Listens on a port of 127.0.0.1 that stays the same while the server is down."""

    def __init__(self, certificate=None, log=None):
        """`certificate`: see make_certificate(). `log`: a file that gets each request as a line of
        JSON."""
        self.script = []              # answers that come first, one a request
        self.otherwise = status(200)  # and all others
        self.refuses_compressed = None  # the answer to a compressed body
        self.requests = []
        self.refused = 0              # requests beyond REQUESTS_MAX
        self.sent_bytes = 0           # of answers that do not end
        self.is_down = threading.Event()
        self._certificate, self._log = certificate, log
        self._lock = threading.Lock()
        self._listener = None
        # Keeps the port: it is bound and does not listen.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port = self._place.getsockname()[1]
        self.up()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.down()
        self._place.close()

    def url(self, path="/reports", host="127.0.0.1"):
        return "%s://%s:%d%s" % ("https" if self._certificate else "http", host, self.port, path)

    def up(self):
        self.is_down.clear()
        self._listener = Listener(("127.0.0.1", self.port), Exchange)
        self._listener.owner = self
        if self._certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._certificate)
            # The handshake is on the thread of the connection, which may be slow.
            self._listener.socket = context.wrap_socket(self._listener.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True).start()

    def down(self):
        """Connections are refused, and answers under way end."""
        if self._listener:
            self.is_down.set()
            self._listener.shutdown()
            self._listener.server_close()
            self._listener = None

    def take(self, request):
        with self._lock:
            if len(self.requests) >= REQUESTS_MAX:
                self.refused += 1
                return close
            self.requests.append(request)
            if request.is_compressed and self.refuses_compressed:
                return self.refuses_compressed
            return self.script.pop(0) if self.script else self.otherwise

    def keep(self, request):
        if self._log:
            line = json.dumps({"method": request.method, "path": request.path, "headers": request.headers, "time": request.time,
                               "status": request.status, "body": request.body.decode("utf-8", "replace")})
            with self._lock, open(self._log, "a") as log:
                log.write(line + "\n")

    def accepted(self):
        """The requests that get a positive answer."""
        with self._lock:
            return [request for request in self.requests if 200 <= request.status < 300]


def make_certificate(folder, name="IP:127.0.0.1"):
    """A certificate that vouches for itself, and its key. The first is also what a client needs to
    trust it."""
    folder = pathlib.Path(folder)
    paths = str(folder / "certificate.pem"), str(folder / "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
                    "subjectAltName=" + name, "-out", paths[0], "-keyout", paths[1]], check=True, timeout=60, stderr=subprocess.DEVNULL)
    return paths
