#!/usr/bin/env python3
"""A server for reports, to try delivery with: report-server.py FOLDER

It listens on a free port of this machine alone, prints its address, and stores each report that is
POSTed to it in FOLDER: UUID.brief.json, and UUID.full.json for the second part."""
import http.server
import os
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])


class Reports(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        # A report that comes twice has the same key, and is stored once.
        key = re.fullmatch(r"([0-9a-f-]{36})(/full)?", self.headers.get("Idempotency-Key", ""))
        if key:
            file = folder / f"{key[1]}.{'full' if key[2] else 'brief'}.json"
            unfinished = file.with_suffix(".tmp")
            unfinished.write_bytes(body)
            os.replace(unfinished, file)
        self.send_response(200 if key else 400)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Reports)
print(f"http://127.0.0.1:{server.server_port}/reports", flush=True)
server.serve_forever()
