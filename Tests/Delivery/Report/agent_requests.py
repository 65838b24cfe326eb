"""The requests that compose-dump writes."""

import os
import subprocess

DUMP = os.environ["COMPOSE_DUMP"]
DSN = "https://public:planted-dsn-secret@reports.example:9000/path/42"
ENDPOINTS = {"http": "https://reports.example/crashes", "sentry": DSN, "otlp": "https://collector.example:4318/v1/logs",
             "minidump": "https://reports.example/minidump/?key=planted-dsn"}


class Request:
    def __init__(self, head, body):
        self.url, *lines = head.decode().split("\n")
        self.headers = dict(line.split(": ", 1) for line in lines)
        self.body = body


def raw(kind, path, **environment):
    """All bytes of all requests for a run file."""
    return subprocess.run([DUMP, kind, ENDPOINTS[kind], path], check=True, capture_output=True, timeout=60, env={**os.environ, **environment}).stdout


def requests(kind, path):
    data, found = raw(kind, path), []
    while data:
        head, _, rest = data.partition(b"\n\n")
        size, _, rest = rest.partition(b"\n")
        found.append(Request(head, rest[: int(size)]))
        data = rest[int(size) + 1 :]
    return found
