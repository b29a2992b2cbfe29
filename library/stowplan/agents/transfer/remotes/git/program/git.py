"""Runner of Git as a child process with this program's settings. Only `Git.online` gives it access to the password."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.remotes.git.program import child
from stowplan.agents.transfer.remotes.git.program.child import Call, ProgramResult
from stowplan.agents.transfer.remotes.git.program.configuration import as_variables, environment, pairs
from stowplan.agents.transfer.remotes.git.program.password_socket import PasswordSocket
from stowplan.agents.transfer.remotes.git.program.relay import Relay
from stowplan.agents.transfer.remotes.git.settings import GitSettings
from stowplan.schema.agents.exit_codes import ExitCode

Judge = Callable[[str], AttemptError | None]
"""Function from the standard output of a failed program to its failure; None if the output does not tell."""

MOST_REFS = 64 << 20
"""Maximum bytes that a server may send if no objects are fetched. Its list of refs may have about a million then."""

LONGEST_QUOTE = 1500
"""Maximum number of characters of a program's output that a message quotes."""

_NO_ACCESS = (
    r"Authentication failed|could not read (Username|Password)|(returned error:|HTTP) 40[13]|Authorization error"
    r"|Authentication required|credentials for|requires? authentication|Access denied|Forbidden|(code|response) 407"
)
_PASSING = (
    r"Could not resolve|Failed to connect|Connection (reset|refused|timed out)|EOF|RPC failed|hung up|timed out"
    r"|Operation too slow|(returned error:|HTTP) (429|5\d\d)|SSL|gnutls|certificate|Server error|rate limit"
)
_MEANINGS: tuple[tuple[str, ExitCode, str], ...] = (
    (r"No space left on device|Disk quota exceeded", ExitCode.CONFLICT, "NoSpace"),
    (r"Read-only file system", ExitCode.CONFLICT, "ReadOnly"),
    (r"fsck error|error in packed object|invalid path '", ExitCode.CONFLICT, "UnsafeObjects"),
    (r"would be overwritten by checkout", ExitCode.CONFLICT, "Dirty"),
    (_NO_ACCESS, ExitCode.AUTH, "AccessDenied"),
    (r"not our ref|unadvertised object|couldn't find remote ref", ExitCode.NOT_FOUND, "NoSuchRef"),
    (r"repository '.*' not found|(returned error:|HTTP) 404", ExitCode.NOT_FOUND, "NotFound"),
    (r"transport '.*' not allowed", ExitCode.CONFLICT, "Protocol"),
    (r"Permission denied|Operation not permitted", ExitCode.CONFLICT, "NoAccess"),
    (r"pack is corrupted|inflate|SHA1 mismatch|invalid index-pack", ExitCode.INTEGRITY, "Corrupt"),
    (_PASSING, ExitCode.TRANSIENT, "RequestFailed"),
)
"""Pattern of the output, exit code and reason of a failure. The first pattern that matches counts."""

_ADVICE = {
    "AccessDenied": "is there a token, may it do this, and is there such a repository?",
    "Dirty": "files of the destination were made or edited there, and are left as they are",
}


@dataclass(frozen=True, slots=True)
class GitPlace:
    """Paths of a repository, and variables and settings of Git for it."""

    directory: Path
    """Git's own directory, which nobody else can write to."""
    files: Path | None = None
    """Work tree; None for a bare repository."""
    variables: dict[str, str] = field(default_factory=dict)
    """Further environment variables, such as `GIT_INDEX_FILE` for another index."""
    settings: tuple[tuple[str, str], ...] = ()
    """Further settings of Git as (name, value)."""
    held: tuple[int, ...] = ()
    """Descriptors that Git must inherit, since links in `directory` lead through them."""


@dataclass(frozen=True)
class Git:
    """Runs Git for one attempt."""

    settings: GitSettings
    work: TransferWork
    folder: Path
    """Private folder for temporary files, deleted at the end of the attempt."""
    answers: PasswordSocket
    relay: Relay
    held: tuple[int, ...]
    """Descriptors that the programs inherit, so that a later attempt can detect them."""

    def offline(self, place: GitPlace | None, *words: str, feed: bytes = b"") -> bytes:
        """Run Git without access to the server or the password, and return its standard output.

        `words` are its arguments, `feed` is its standard input. `place` is None if Git needs no repository. Raises
        AttemptError if Git fails.
        """
        done = self.tried(place, *words, feed=feed)
        if done.code:
            raise failure_of(f"git {words[0]}", done.errors, self.work.redact)
        return done.output

    def tried(self, place: GitPlace | None, *words: str, feed: bytes = b"") -> ProgramResult:
        """Run Git as `offline` does, with the arguments `words`, and return the result even if it fails.

        Raises StoppedError if the attempt ends first, and AttemptError: 5 for too much output, 10 if Git waits for what
        never comes.
        """
        return child.run(self._call(words, place, online=False, feed=feed), self.work.stop)

    def streamed(self, place: GitPlace, *words: str, feed: bytes = b"") -> Iterator[bytes]:
        """Run Git as `offline` does, but yield its output in pieces of any size. Raises AttemptError after the last."""
        with child.running(self._call(words, place, online=False, feed=feed), self.work.stop) as program:
            yield from program.pieces()
            done = program.result()
        if done.code:
            raise failure_of(f"git {words[0]}", done.errors, self.work.redact)

    def records(self, place: GitPlace, *words: str, feed: bytes = b"") -> Iterator[bytes]:
        """Run Git as `offline` does, but yield the records of its standard output, without the NUL that ends each."""
        rest = b""
        for chunk in self.streamed(place, *words, feed=feed):
            *whole, rest = (rest + chunk).split(b"\0")
            yield from whole

    def online(
        self, place: GitPlace | None, *words: str, what: str, limit: int = MOST_REFS, judge: Judge = lambda _: None
    ) -> ProgramResult:
        """Run Git with access to the server, with retries after failures that may pass, and return its result.

        `what` is the beginning of error messages. `limit` is the maximum number of bytes that the server may send.
        `judge` may give the failure for the standard output. Otherwise the failure follows from the error output.
        Raises AttemptError if Git fails.
        """

        def call() -> ProgramResult:
            self.relay.begin(limit)
            done = child.run(self._call(words, place, online=True), self.work.stop)
            if done.code:
                raise (
                    self.relay.failure
                    or judge(done.output.decode(errors="replace"))
                    or failure_of(what, done.errors, self.work.redact)
                )
            return done

        return self.work.attempts.run(what, call)

    def _call(self, words: tuple[str, ...], place: GitPlace | None, *, online: bool, feed: bytes = b"") -> Call:
        variables = environment(self.settings, self.folder, os.environ, online=online)
        options = [("credential.helper", "")]
        if online:
            options.append(("credential.helper", self.answers.helper))
        options += pairs(self.settings, self.relay.url if online else None)
        held = self.held
        if place:
            options += place.settings
            held += place.held
            variables["GIT_DIR"] = str(place.directory)
            variables |= {"GIT_WORK_TREE": str(place.files)} if place.files else {}
            variables |= place.variables
        variables |= as_variables(options)
        cwd = place.files or place.directory if place else self.folder
        # A small answer of a server may grow without limit when Git unpacks it.
        memory = self.settings.common.config.memory_mib << 20 if online else None
        return Call(["git", *words], variables, cwd, feed, held, memory)


@contextmanager
def prepared(settings: GitSettings, work: TransferWork, held: tuple[int, ...]) -> Iterator[Git]:
    """Yield a runner of Git for one attempt, and delete its temporary files at the end. `held` is as in `Git`."""
    # SIGKILL leaves it behind. A pod makes one attempt, and its scratch space goes with it; elsewhere it lies where old
    # files are cleared away, and holds no password.
    # The path of a socket has 108 bytes.
    long = len(os.fsencode(tempfile.gettempdir())) > 75
    folder = Path(tempfile.mkdtemp(prefix="stowplan-git-", dir="/tmp" if long else None))  # noqa: S108 - with a name of its own
    answers = PasswordSocket(folder, settings.hosts, settings.credentials, work.log)
    relay = Relay(settings.hosts, settings.common.network)
    try:
        yield Git(settings, work, folder, answers, relay, held)
    finally:
        relay.close()
        answers.close()
        shutil.rmtree(folder, ignore_errors=True)


def failure_of(what: str, output: str, redact: Redactor) -> AttemptError:
    """Return the failure for the error output of Git, which runs in the C locale.

    Its message begins with `what`, and has no secrets.
    """
    said = redact(_said(output))[-LONGEST_QUOTE:]
    for pattern, code, reason in _MEANINGS:
        if re.search(pattern, said, re.IGNORECASE):
            advice = f" ({_ADVICE[reason]})" if reason in _ADVICE else ""
            return AttemptError(code, reason, f"{what} failed{advice}: {said}")
    return AttemptError(ExitCode.TRANSIENT, "GitFailed", f"{what} failed: {said or 'nothing was said why'}")


def _said(output: str) -> str:
    """Return the lines of the output, without progress and advice, joined by ` / `."""
    lines = [line.strip() for line in re.split(r"[\r\n]", output)]
    lines_found = [
        line for line in lines if line and not line.startswith(("hint:", "remote: Counting", "remote: Compressing"))
    ]
    return " / ".join(lines_found)
