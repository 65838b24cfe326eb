"""The library that is preloaded, for tests of every folder."""
import atexit
import functools
import os
import pathlib
import re
import shutil
import tempfile


@functools.cache
def loadable(path):
    """A path of the library that LD_PRELOAD takes, as spaces and colons are separators there: its
    own, or that of a copy."""
    path = pathlib.Path(path).resolve()
    if not re.search(r"[\s:]", str(path)):
        return path
    folder = tempfile.mkdtemp(prefix="launchguard-preload-", dir="/tmp" if re.search(r"[\s:]", tempfile.gettempdir()) else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)  # for other users
    return pathlib.Path(shutil.copy(path, folder))
