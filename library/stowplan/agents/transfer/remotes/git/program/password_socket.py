"""Socket that gives the password to Git's credential helper, only for the repository's host.

So the password is in no command line, in no environment of a child process and in no file.
"""

import shlex
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.network.hosts import Hosts, origin
from stowplan.agents.transfer.remotes.git.address import GitCredentials
from stowplan.agents.transfer.remotes.git.program import credential_helper as helper

LONGEST = 65536
"""Maximum size of a request in bytes."""


class PasswordSocket:
    """Socket in a private folder, served by a thread until `close`. Without `credentials` its answers are empty."""

    def __init__(self, folder: Path, hosts: Hosts, credentials: GitCredentials | None, log: Log) -> None:
        self._hosts, self._credentials, self._log = hosts, credentials, log
        self._path = folder / "answers"
        self._refused = False
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def helper(self) -> str:
        """Value of Git's setting `credential.helper`: a command that asks this socket.

        The command ignores the action `store`, with which Git asks helpers to save a password.
        """
        command = shlex.join([sys.executable, "-IS", str(helper.__file__), str(self._path)])
        return f'!f() {{ test "$1" = store || exec {command} "$1"; }}; f'

    def close(self) -> None:
        # Otherwise the thread might go on with another socket that gets the same descriptor.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
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
        """Return the user name and password in the format of git-credential(1).

        `question` is a line with the action (`get` or `erase`), and lines in the same format. The answer is empty if
        there is no password, if the host may not get it, or after an `erase`, which means that the server refused it.
        """
        action, _, rest = question.partition("\n")
        asked = dict(line.partition("=")[::2] for line in rest.splitlines())
        if self._credentials is None:
            return ""
        try:
            trusted = self._hosts.is_own(origin(f"{asked.get('protocol', '')}://{asked.get('host', '')}"))
        except ValueError:
            trusted = False
        if not trusted:
            if action == "get":
                self._log.warning("Another host asks for a password and gets none", host=asked.get("host"))
            return ""
        # Git would otherwise ask again.
        self._refused = self._refused or action == "erase"
        if self._refused:
            return ""
        return f"username={self._credentials.username}\npassword={self._credentials.password}\n"
