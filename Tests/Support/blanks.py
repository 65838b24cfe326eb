"""To import: the temporary folders of a test have no blank in their names. What such a test writes
stands in #! lines, unit files, LD_PRELOAD or commands, where a blank ends a name. Its folders stand
in /tmp where TMPDIR has a blank."""
import re
import tempfile

if re.search(r"\s", tempfile.gettempdir()):
    tempfile.tempdir = "/tmp"
