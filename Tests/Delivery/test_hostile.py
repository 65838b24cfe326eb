"""Servers that do what no server should, and servers that are not there: the agent's time and
memory are bounded, what went wrong has a name, and the report goes later."""
import gzip
import unittest

import server as scripted
from delivery import HTTP, MEMORY_MAX_KB, SENTRY, DeliveryTest, status_of
from server import status
from waiting import wait_until

DONE, LEFT = 0, 6
UNREAD_MAX = 32 << 20  # what a server can send into the buffers of sockets before it notices


class Hostile(DeliveryTest):
    def survives(self, *answers, error):
        """The answers come first, one an attempt; then the report goes. Returns the server."""
        server = self.server(*answers)
        run = self.owe(server=server)
        agent = self.start_agent()
        peak = 0
        for attempts in range(1, len(answers) + 1):
            entry = self.until_tried(attempts)
            peak = max(peak, int(status_of(agent.pid, "VmHWM").split()[0]))
            if entry["attempts"] == attempts:
                self.assertEqual(entry["state"], "pending")
                self.assertRegex(entry["error"], error)
                # What counts as the answer is the answer to this request, or none.
                self.assertIn(entry["http_status"], (0, server.requests[attempts - 1].status))
            wait_until(lambda: self.nudge() or len(server.requests) > attempts, "the next attempt")
        self.until_sent(run.uuid)
        peak = max(peak, int(status_of(agent.pid, "VmHWM").split()[0]))
        print("VmHWM of the agent: %d KiB" % peak, flush=True)
        self.assertLess(peak, MEMORY_MAX_KB)
        self.assertLess(server.sent_bytes, UNREAD_MAX)
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})
        # Each attempt is one request.
        self.assertEqual([request.headers["x-launchguard-attempt"] for request in server.requests], [str(i + 1) for i in range(len(answers) + 2)])
        return server

    def test_an_endless_body(self):
        self.survives(scripted.endless, scripted.endless, error="64 KiB")

    def test_an_endless_header(self):
        self.survives(scripted.endless_header, scripted.endless_header, error=".")

    def test_an_answer_that_is_compressed(self):
        """It would be 32 MiB. The agent asks for no compression, and unpacks nothing."""
        packed = gzip.compress(bytes(32 << 20))
        self.assertLess(len(packed), 64 << 10)
        self.survives(status(503, packed, Content_Encoding="gzip"), status(503, packed, Content_Encoding="deflate, gzip"), error="the server answered 503")

    def test_a_byte_now_and_then(self):
        self.survives(scripted.drip, error="(?i)time")

    def test_no_answer(self):
        self.survives(scripted.hang, error="(?i)time")

    def test_a_connection_that_breaks(self):
        self.survives(scripted.close, scripted.reset, scripted.cut, scripted.garbage, error=".")

    def test_a_connection_that_breaks_after_an_answer(self):
        """The request goes again later and is counted, not at once on another connection."""
        self.survives(status(503), scripted.close, status(503), scripted.reset, status(503), scripted.close, error=".")

    def test_statuses_that_make_no_sense(self):
        """The 304 has a body, which it may not have."""
        self.survives(status(999), status(304), status(603), error="the server answered (999|304|603)")

    def test_an_answer_before_its_request(self):
        """What a server sends too early, or too much, is not taken for the answer to the next
        request: a report that the server refuses would count as delivered."""
        def body(exchange):
            exchange.send(b"{}")
        self.survives(scripted.early(status(503), status(200)), status(503), scripted.early(status(304, b""), body), status(603),
                      error="the server answered (503|304|603)")

    def test_redirects_in_a_circle(self):
        server = self.survives(*[scripted.redirect(lambda own: own.url(), code) for code in (301, 302, 307, 308)], error="redirect")
        self.assertEqual(len(server.requests), 4 + 2)

    def test_redirects_to_other_hosts(self):
        other = self.server()
        self.survives(scripted.redirect(other.url()), scripted.redirect(other.url(host="localhost")),
                      scripted.redirect("file:///etc/passwd"), scripted.redirect("http://" + "a" * 100000 + "/"), error=".")
        self.assertEqual(other.requests, [])


class Unreachable(DeliveryTest):
    def named(self, error, endpoint, state="pending", **environment):
        """The report stays, with that error, and the program is as ever."""
        options = {name: environment.pop(name) for name in ("ca_file", "credential_file", "target") if name in environment}
        run = self.owe(endpoint=endpoint, **options)
        self.assertEqual(run["begin"], "ok")
        self.run_agent(**environment)
        entry = self.entry()
        self.assertEqual(entry["state"], state)
        self.assertRegex(entry["error"], error)
        return run

    def test_a_certificate_that_nobody_vouches_for(self):
        certificate = scripted.make_certificate(self.folder)
        server = self.server(certificate=certificate)
        run = self.named("(?i)certificate", server.url())
        self.assertEqual(server.requests, [])
        # The program names the certificates that it trusts, and the report goes.
        self.run_victim("deliver", "begin", "finish", endpoint=server.url(), ca_file=certificate[0])
        wait_until(lambda: self.nudge() or self.entries("sent"), "it goes")
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})

    def test_a_certificate_of_another_host(self):
        certificate = scripted.make_certificate(self.folder, "DNS:example.org")
        server = self.server(certificate=certificate)
        self.named("(?i)certificate|subject name|host name", server.url(), ca_file=certificate[0])
        self.assertEqual(server.requests, [])

    def test_certificates_that_cannot_be_read(self):
        server = self.server(certificate=scripted.make_certificate(self.folder))
        self.named("(?i)certificate", server.url(), ca_file=str(self.folder / "none.pem"))
        self.assertEqual(server.requests, [])

    def test_a_host_that_does_not_exist(self):
        self.named("(?i)resolve", "http://launchguard.invalid/")

    def test_a_port_where_nobody_listens(self):
        server = self.server()
        server.down()
        self.named("(?i)connect", server.url())

    def test_tls_where_there_is_none(self):
        self.named("(?i)ssl|tls", self.server().url().replace("http:", "https:"))

    def test_a_proxy_that_refuses(self):
        proxy = self.server(otherwise=status(502))
        server = self.server()
        self.named("502", server.url(), http_proxy="http://127.0.0.1:%d" % proxy.port)
        self.assertEqual((len(proxy.requests), server.requests), (1, []))

    def test_a_proxy_that_is_not_there(self):
        proxy, server = self.server(), self.server()
        proxy.down()
        self.named("(?i)connect", server.url(), http_proxy="http://127.0.0.1:%d" % proxy.port)
        self.assertEqual(server.requests, [])

    def test_a_proxy_that_opens_no_tunnel(self):
        certificate = scripted.make_certificate(self.folder)
        proxy, server = self.server(otherwise=status(403)), self.server(certificate=certificate)
        self.named("403", server.url(), ca_file=certificate[0], https_proxy="http://127.0.0.1:%d" % proxy.port)
        self.assertEqual(([request.method for request in proxy.requests], server.requests), (["CONNECT"], []))

    def test_an_address_that_is_none(self):
        """From the credential file, which the program does not read."""
        server = self.server()
        for number, endpoint in enumerate(("nonsense", "https://", "http://[::1", "https://sentry.invalid/")):
            with self.subTest(endpoint):
                self.state = self.folder / str(number)
                self.spool = self.state / "spool"
                is_dsn = "sentry" in endpoint
                self.named(".", None if is_dsn else server.url(), state="held", target=SENTRY if is_dsn else HTTP,
                           credential_file=self.credentials("endpoint: " + endpoint))
        self.assertEqual(server.requests, [])

    def test_a_credential_file_that_cannot_be_used(self):
        server = self.server()
        path = self.credentials("Authorization: Bearer x")
        (self.folder / "credentials").chmod(0o644)
        run = self.named("read by others", server.url(), state="held", credential_file=path)
        self.assertEqual(server.requests, [])
        (self.folder / "credentials").chmod(0o600)
        self.credentials("Authorization: Bearer y")
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})

    def test_a_credential_file_that_is_missing(self):
        self.named("does not exist", self.server().url(), state="held", credential_file=str(self.folder / "none"))


if __name__ == "__main__":
    unittest.main()
