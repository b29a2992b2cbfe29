"""Tells the password to Git's credential helper, for the host of the repository alone.

So the password is in no command line, no environment of a child, and no file.
"""

import shlex
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from stowplan.agents.log import Log
from stowplan.agents.transfer.git import helper
from stowplan.agents.transfer.git.address import PORTS, Address, Credentials

LONGEST = 65536
"""Bytes of a question."""


class Answers:
    """A socket in a folder that only this user can enter, and the thread behind it."""

    def __init__(self, folder: Path, address: Address, credentials: Credentials | None, log: Log) -> None:
        self._address, self._credentials, self._log = address, credentials, log
        self._path = folder / "answers"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def helper(self) -> str:
        """The value of `credential.helper`. Git also tells helpers what to keep and to forget, which nobody needs."""
        command = shlex.join([sys.executable, "-IS", str(helper.__file__), str(self._path)])
        return f'!f() {{ test "$1" != get || exec {command}; }}; f'

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(5)
                question = b""
                while (part := connection.recv(4096)) and len(question) < LONGEST:
                    question += part
                connection.sendall(self._answer(question.decode(errors="replace")).encode())

    def _answer(self, question: str) -> str:
        """Lines as in git-credential(1); nothing for whoever is not to know."""
        asked = dict(line.partition("=")[::2] for line in question.splitlines())
        scheme, _, netloc = asked.get("protocol", ""), "", asked.get("host", "")
        name, _, port = netloc.rpartition(":") if ":" in netloc and not netloc.endswith("]") else (netloc, "", "")
        host = (scheme, name.strip("[]").lower(), int(port) if port.isdigit() else PORTS.get(scheme, 0))
        if self._credentials is None:
            return ""
        if not self._address.trusts(host):
            self._log.warning("Another host asks for a password and gets none", host=netloc)
            return ""
        return f"username={self._credentials.username}\npassword={self._credentials.password}\n"
