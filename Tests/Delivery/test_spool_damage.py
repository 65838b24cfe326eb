"""Disks that are full, and a spool that is damaged, replaced or of another version: the program
starts, what can go goes, and what is lost is counted."""
import os
import subprocess
import unittest

from delivery import AGENT, KINDS, LIMIT, DeliveryTest, Report
from server import status
from waiting import pass_time, wait_until

DONE, NO_SPOOL, NO_CONFIG, LEFT = 0, 3, 4, 6
NOBODY = 65534


class FullDisk(DeliveryTest):
    def mount(self, size):
        if os.geteuid():
            self.skipTest("only root mounts a file system")
        self.state.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "none", self.state], stderr=subprocess.DEVNULL, timeout=LIMIT).returncode:
            self.skipTest("this machine mounts no tmpfs")
        self.addCleanup(subprocess.run, ["umount", "-l", self.state], timeout=LIMIT)

    def fill(self):
        """Use up all space, to the last byte."""
        with open(self.state / "filler", "wb", buffering=0) as filler:
            for size in 1 << 16, 4096, 1:
                try:
                    while True:
                        filler.write(b"x" * size)
                except OSError:
                    pass

    def test_no_space_for_a_report(self):
        self.mount("8m")
        server = self.server()
        run = self.owe(server=server)
        self.fill()
        self.run_agent()
        self.assertEqual(self.files("tmp"), [])
        (self.state / "filler").unlink()
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})

    def test_no_space_while_it_is_delivered(self):
        """A report that went is not sent again, and one that did not is kept."""
        self.mount("8m")
        server = self.server(status(503))
        run = self.owe(server=server)
        self.assertEqual(self.run_agent(), LEFT)
        self.nudge()
        self.fill()
        self.run_agent()
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})
        (self.state / "filler").unlink()
        self.run_agent()
        self.assertEqual(len(server.requests), 3)
        self.assertEqual(self.files("new"), [])

    def test_a_tiny_file_system(self):
        self.mount("256k")
        server = self.server()
        for _ in range(5):
            run = self.run_victim("deliver", "begin", "crash", endpoint=server.url())
            self.assertEqual((run["begin"], run.status), ("ok", -11))
        last = self.run_victim("deliver", "begin", "finish", endpoint=server.url())
        self.assertEqual(last.status, 0)

    def test_no_space_for_the_spool(self):
        self.mount("8m")
        self.run_victim("begin", "finish")
        self.fill()
        run = self.run_victim("deliver", "begin", "finish", endpoint="http://127.0.0.1:9/")
        self.assertEqual((run["begin"], run.status), ("ok", 0))
        # The start may have made space.
        self.assertIn(run["deliver"], ("ok", "no-space", "unprotected"))


class Replaced(DeliveryTest):
    """The spool is not what it should be."""

    def refused(self, name, **options):
        run = self.run_victim("deliver", "begin", "finish", endpoint="http://127.0.0.1:9/", **options)
        self.assertEqual((run["deliver"], run["begin"], run.status), (name, "ok", 0))
        self.assertEqual(self.run_agent(), NO_SPOOL)

    def test_by_a_link(self):
        (self.folder / "elsewhere").mkdir()
        self.state.mkdir()
        self.spool.symlink_to(self.folder / "elsewhere")
        self.refused("link")
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])

    def test_by_a_file(self):
        self.state.mkdir()
        self.spool.write_text("")
        self.refused("not-directory")

    def test_reports_by_links(self):
        """A link in place of a report is not followed, and keeps no other report from going."""
        server = self.server(status(503))
        run = self.owe(server=server)
        self.assertEqual(self.run_agent(), LEFT)
        self.server_of = server
        path = self.files("new")[0]
        secret = self.folder / "secret"
        secret.write_bytes(path.read_bytes())
        link = path.with_name(path.name.replace(run.uuid, "00000000-0000-0000-0000-000000000001"))
        link.symlink_to(secret)
        self.nudge()
        self.run_agent()
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})

    def test_unreadable(self):
        if os.geteuid():
            self.skipTest("only root becomes another user")
        self.owe(endpoint="http://127.0.0.1:9/")
        os.chown(self.state, NOBODY, NOBODY)
        self.folder.chmod(0o755)
        for path in self.state.rglob("*"):
            if self.spool not in [path, *path.parents]:
                os.chown(path, NOBODY, NOBODY)

        def become_nobody():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        child = self.start("deliver", "begin", "finish", endpoint="http://127.0.0.1:9/", prepare=become_nobody)
        run = self.end(child)
        self.assertIn(run["deliver"], ("owner", "permission"))
        self.assertEqual((run["begin"], run.status), ("ok", 0))


class Immovable(DeliveryTest):
    def test_a_report_that_was_given_up_and_cannot_be_moved(self):
        """It is not sent over and over."""
        server = self.server(status(503), otherwise=status(404))
        self.owe(server=server)
        self.assertEqual(self.run_agent(), LEFT)
        (path,) = self.files("new")
        self.has_been_on(days=91)
        Report(path).change(next_ns=0)
        (self.spool / "dead" / path.name).mkdir()  # in its way
        child = self.start_agent()
        wait_until(lambda: len(server.requests) > 1, "it is sent again")
        pass_time(1, "an agent that sends over and over does so many times in a second")
        self.assertIsNone(child.poll())
        self.assertEqual(len(server.requests), 2)
        self.assertEqual(self.files("new"), [path])


class Damaged(DeliveryTest):
    def pending(self, count):
        """A server, and reports that it did not take yet."""
        server = self.server(status(503))
        runs = [self.owe("begin", kind, server=server) for kind in KINDS[:count]]
        self.assertEqual(self.run_agent(), LEFT)
        self.assertEqual(len(server.requests), 1)  # the others wait for the server, too
        paths = {run.uuid: next(path for path in self.files("new") if run.uuid in path.name) for run in runs}
        self.nudge()
        return server, runs, paths

    def damage(self, how):
        server, (broken, whole, other), paths = self.pending(3)
        how(paths[broken.uuid])
        self.run_agent()
        self.assertEqual(set(self.identities(server)), {whole.uuid, other.uuid})
        self.assertEqual(self.files("new"), [])
        return broken

    def flip(self, offset):
        def change(path):
            block = bytearray(path.read_bytes())
            block[offset] ^= 0x55
            path.write_bytes(block)
        return change

    def is_kept_aside(self, how):
        broken = self.damage(how)
        self.assertEqual([path.name.endswith(broken.uuid + ".lgreport") for path in self.files("dead")], [True])
        self.assertIn("damaged", self.log())

    def test_a_bit_of_the_header(self):
        self.is_kept_aside(self.flip(100))

    def test_a_bit_of_the_body(self):
        self.is_kept_aside(self.flip(600))
        self.assertIn("damaged", self.entries("dead")[0]["error"])

    def test_a_report_that_is_cut(self):
        self.is_kept_aside(lambda path: os.truncate(path, 500))

    def test_a_report_that_is_empty(self):
        self.is_kept_aside(lambda path: os.truncate(path, 0))

    def test_a_report_that_is_gone(self):
        self.damage(lambda path: path.unlink())

    def test_files_of_others(self):
        """A file that is no report stays as it is."""
        server, runs, paths = self.pending(1)
        stranger = self.spool / "new/notes.txt"
        stranger.write_text("mine")
        (self.spool / "new/folder").mkdir()
        self.run_agent()
        self.assertEqual(self.identities(server), {runs[0].uuid: ["brief", "full"]})
        self.assertEqual(stranger.read_text(), "mine")


class Versions(DeliveryTest):
    def test_a_configuration_of_another_version(self):
        server = self.server()
        run = self.owe(server=server)
        config = self.spool / "config"
        good = config.read_bytes()
        for text, said in (b"launchguard-delivery 2\n" + good.split(b"\n", 1)[1], "another version"), (b"", "another version"), \
                (good.replace(b"target=http", b"target=pigeon"), "target"), (b"\0" * 100, "another version"):
            config.write_bytes(text)
            self.assertEqual(self.run_agent(), NO_CONFIG)
            self.assertIn(said, self.log())
        self.assertEqual(server.requests, [])
        # The program writes its own one, and the report goes.
        again = self.run_victim("deliver", "begin", "finish", endpoint=server.url())
        self.assertEqual((again["deliver"], again["begin"]), ("ok", "ok"))
        self.until_sent(run.uuid)

    def test_keys_of_a_later_version(self):
        server = self.server()
        run = self.owe(server=server)
        with open(self.spool / "config", "a") as config:
            config.write("colour=blue\n")
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(list(self.identities(server)), [run.uuid])

    def test_a_report_of_a_later_version(self):
        """It stays for the agent that knows it."""
        server = self.server(status(503))
        self.owe(server=server)
        self.run_agent()
        report = Report(self.files("new")[0])
        report.block[8] = 9
        report.change(next_ns=0)
        self.run_agent()
        self.assertEqual((len(server.requests), len(self.files("new"))), (1, 1))

    def test_no_spool(self):
        self.run_victim("begin", "finish")
        self.assertEqual(self.run_agent(), NO_SPOOL)

    def test_usage(self):
        for words in [], ["--state"], ["--state", "/nonexistent"], ["--nonsense"], ["--state", str(self.folder), "more"]:
            done = subprocess.run([AGENT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
            self.assertIn(done.returncode, (2, NO_SPOOL))
            self.assertTrue(done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is left out
