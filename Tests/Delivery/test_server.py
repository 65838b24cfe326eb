"""The server of the other tests does what its script says, records each request, and ends."""
import http.client
import json
import pathlib
import socket
import ssl
import tempfile
import threading
import unittest

import server as scripted
from server import Server, status

LIMIT = 120


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "requests.jsonl"
        self.server = Server(log=self.log)
        self.addCleanup(self.server.__exit__)

    def post(self, body=b"{}", path="/x", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=LIMIT)
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def test_answers_come_in_order_and_requests_are_kept(self):
        self.server.script = [status(503), status(429, Retry_After=7)]
        self.assertEqual(self.post(b"one")[0], 503)
        answer = self.post(b"two", Name="value")
        self.assertEqual((answer[0], answer[1]["Retry-After"]), (429, "7"))
        self.assertEqual(self.post(b"three", "/y")[0], 200)
        self.assertEqual([request.body for request in self.server.requests], [b"one", b"two", b"three"])
        self.assertEqual(self.server.requests[1].headers["name"], "value")
        self.assertEqual([request.path for request in self.server.accepted()], ["/y"])
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        self.assertEqual([line["body"] for line in lines], ["one", "two", "three"])

    def test_answers_that_break_off(self):
        self.server.script = [scripted.close, scripted.reset, scripted.cut, scripted.garbage]
        for _ in range(4):
            with self.assertRaises((http.client.HTTPException, OSError)):
                self.post()
        self.assertEqual(self.post()[0], 200)
        self.assertEqual(len(self.server.accepted()), 1)

    def test_an_answer_before_its_request(self):
        self.server.script = [scripted.early(status(503), status(201))]
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=LIMIT)
        self.addCleanup(connection.close)
        found = []
        for _ in range(3):  # the third gets the answer to the second
            connection.request("POST", "/x", b"{}")
            answer = connection.getresponse()
            found.append(answer.status)
            answer.read()
        self.assertEqual(found, [503, 201, 200])

    def test_answers_without_an_end(self):
        for answer in scripted.endless, scripted.endless_header, scripted.drip:
            self.server.script = [answer]
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=LIMIT) as client:
                client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
                least, size = (40, 0) if answer is scripted.drip else (1 << 20, 0)
                while size < least:
                    size += len(client.recv(1 << 16)) or self.fail("the answer has an end")

    def test_a_server_that_goes_down_comes_back_at_its_port(self):
        port = self.server.port
        hanging = threading.Thread(target=self.no_answer)
        self.server.script = [scripted.hang]
        hanging.start()
        while not self.server.requests:
            pass
        self.server.down()
        hanging.join(LIMIT)
        self.assertFalse(hanging.is_alive())
        with self.assertRaises(ConnectionRefusedError):
            self.post()
        self.server.up()
        self.assertEqual((self.post()[0], self.server.port), (200, port))

    def no_answer(self):
        try:
            self.post()
        except (http.client.HTTPException, OSError):
            pass

    def test_a_redirect_names_its_target(self):
        self.server.script = [scripted.redirect(lambda own: own.url("/again"))]
        self.assertEqual(self.post()[1]["Location"], self.server.url("/again"))

    def test_bodies_are_bounded(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=LIMIT) as client:
            client.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (64 << 20))
            with self.assertRaises(OSError):
                while client.send(b"x" * (1 << 20)):
                    pass
        self.assertEqual(self.server.requests, [])


class Encrypted(unittest.TestCase):
    def test_the_certificate_is_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate = scripted.make_certificate(folder)
            with Server(certificate) as server:
                for trusted in certificate[0], None:
                    context = ssl.create_default_context(cafile=trusted)
                    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=LIMIT)
                    if trusted:
                        connection.request("POST", "/", b"{}")
                        self.assertEqual(connection.getresponse().status, 200)
                    else:
                        with self.assertRaises(ssl.SSLCertVerificationError):
                            connection.request("POST", "/", b"{}")
                    connection.close()


if __name__ == "__main__":
    unittest.main()
