"""No secret is in any byte of any request."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from agent_requests import ENDPOINTS, raw

SECRETS = os.environ["SECRETS"]


PLANTED = ["planted-annotat", "planted-field", "planted-guard", "planted-after-key", "planted words", "quoted",
           "planted-user", "planted-home", "/root", "planted-credential", "planted-dsn-secret"]


class Redaction(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        # The program lies in the home directory of its user.
        self.home = os.path.join(self.folder, "planted-home")
        os.mkdir(self.home)
        self.program = shutil.copy(SECRETS, self.home)

    def run_file(self, *action):
        state = os.path.join(self.folder, "state")
        arguments = ["--notes=/home/planted-user/notes", "-I/home/planted-user/include", "/root/planted-root/harmless"]
        subprocess.run([self.program, state, *action, *arguments], capture_output=True, timeout=60, check=False)
        (path,) = glob.glob(os.path.join(state, "**/*.lgrun"), recursive=True)
        return path

    def check(self, path):
        with open(path, "rb") as file:
            bytes_of_file = file.read()
        # The last one is on the stack, as an argument of the program.
        for secret in [b"planted-annotation", b"planted-field", b"planted-guard", b"planted-after-key", b"planted words", b"--notes=/home/planted-user"]:
            self.assertTrue(secret in bytes_of_file, f"{secret} is not there: the test shows nothing")
        for kind in ENDPOINTS:
            with self.subTest(kind):
                found = raw(kind, path, HOME=self.home)
                for secret in PLANTED:
                    self.assertNotIn(secret.encode(), found)
        return raw("http", path, HOME=self.home)

    def test_secrets(self):
        found = self.check(self.run_file())
        for harmless in ["~/notes.db", "no draw() in ~/plugins/red.so", "~/plugin\"", "-I~/include", "harmless", '"key":"token","isCut":false,"isRedacted":true',
                         '"harmless ***, ***"', "harmless https://example.org/?token=***&x=1", "harmless Token: ***", r'{\"token\":\"***\",\"x\":1}',
                         "harmless ~/a ~/disk ~", '"value":"harmless ***"', '"threadName":"***"']:
            self.assertIn(harmless.encode(), found)
        for kind in "userID", "bootID", "parentName", "standardError", "memoryMap", "stackMemory":
            self.assertNotIn(f'"{kind}"'.encode(), found)

    def test_exception(self):
        found = self.check(self.run_file("throw"))
        self.assertEqual(found.count(b"harmless words of ***, token=***"), 2)


if __name__ == "__main__":
    unittest.main()
