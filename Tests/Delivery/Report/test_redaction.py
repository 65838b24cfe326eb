"""No secret is in any byte of any request."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from agent_requests import ENDPOINTS, raw

SECRETS = os.environ["SECRETS"]


class Redaction(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        # The program lies in the home directory of its user.
        self.home = os.path.join(self.folder, "planted-home")
        os.mkdir(self.home)
        program = shutil.copy(SECRETS, self.home)
        state = os.path.join(self.folder, "state")
        arguments = ["--notes=/home/planted-user/notes", "-I/home/planted-user/include", "/root/planted-root/harmless"]
        subprocess.run([program, state, *arguments], capture_output=True, timeout=60, check=False)
        (self.path,) = glob.glob(os.path.join(state, "**/*.lgrun"), recursive=True)

    def test_secrets(self):
        with open(self.path, "rb") as file:
            bytes_of_file = file.read()
        for secret in [b"planted-annotation", b"planted-field", b"planted-guard"]:
            self.assertIn(secret, bytes_of_file)
        for kind in ENDPOINTS:
            with self.subTest(kind):
                found = raw(kind, self.path, HOME=self.home)
                for secret in ["planted-annotation", "planted-field", "planted-guard", "planted-user", "planted-home", "planted-credential", "planted-dsn-secret", "/root"]:
                    self.assertNotIn(secret.encode(), found)
        found = raw("http", self.path, HOME=self.home)
        for harmless in ["~/notes.db", "no draw() in ~/plugins/red.so", "~/plugin\"", "-I~/include", "harmless", '"key":"token","isCut":false,"isRedacted":true']:
            self.assertIn(harmless.encode(), found)


if __name__ == "__main__":
    unittest.main()
