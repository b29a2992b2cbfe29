"""The content of files that Git LFS keeps: fetched, and looked at."""

import hashlib
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import in_url
from stowplan.agents.attempt.safe_files import replace as write
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.git import failure
from stowplan.agents.transfer.git.address import PORTS, Address
from stowplan.agents.transfer.git.child import Done
from stowplan.agents.transfer.git.contents import Contents
from stowplan.agents.transfer.git.git import Git, Place, need_lfs
from stowplan.agents.transfer.git.repository import Repository
from stowplan.schema.exit_codes import ExitCode

KNOWN = "stowplan-lfs"
"""File in Git's own directory: objects that were whole when they were made durable, one digest a line."""

_BLOCK = 1 << 20


def settings(git: Git, place: Place, address: Address, commit: str) -> tuple[tuple[str, str], ...]:
    """Where Git LFS finds its server: where `.lfsconfig` says, if that is on the web; else below the repository."""
    done = git.tried(place, "config", f"--blob={commit}:.lfsconfig", "--no-includes", "--null", "--list")
    told = dict(each.partition("\n")[::2] for each in done.output.decode(errors="replace").split("\0") if each)
    url = told.get("lfs.url") or told.get("remote.origin.lfsurl") or address.lfs
    try:
        parts = urlsplit(url)
        host = (parts.scheme, (parts.hostname or "").lower(), parts.port or PORTS[parts.scheme])
    except (ValueError, KeyError):
        host = ("", "", 0)
    if not host[1] or in_url(url):
        message = "`.lfsconfig` names a server of Git LFS that is neither http nor https, or with credentials"
        raise AttemptError(ExitCode.CONFLICT, "LfsElsewhere", message)
    # Said beforehand: otherwise all content is sent once in vain, to learn that there must be a password.
    access = "basic" if git.told.credentials and git.told.address.trusts(host) else "none"
    found = [("lfs.url", url), ("lfs.pushurl", url)]
    found += [(f"lfs.{base}.access", access) for base in (url, f"{url.rstrip('/')}/")]
    return tuple(found)


def object_path(directory: Path, oid: str) -> Path:
    """Where an object lies in Git's own directory."""
    return directory / "lfs" / "objects" / oid[:2] / oid[2:4] / oid


@dataclass
class Content:
    """What one commit needs."""

    repository: Repository
    address: Address
    commit: str
    contents: Contents
    _missing: dict[str, int] = field(default_factory=dict)

    @property
    def _git(self) -> Git:
        return self.repository.git

    def missing(self) -> dict[str, int]:
        """Sizes of what is not there. What is there, but was never known to be whole, is read and perhaps removed."""
        known = self._known()
        for oid, size in self.contents.objects.items():
            path = object_path(self.repository.directory, oid)
            if not _has_size(path, size):
                path.unlink(missing_ok=True)
                self._missing[oid] = size
            elif oid not in known and _digest(path, self._git.work.stop) != oid:
                self._git.work.log.warning("An object of Git LFS is damaged: fetching it again", oid=oid)
                path.unlink()
                self._missing[oid] = size
        return self._missing

    def fetch(self) -> None:
        """Fetches what is missing; AttemptError if not all of it came, whatever the program says."""
        if not self._missing:
            return
        need_lfs()
        place = self.repository.place
        place = replace(place, settings=settings(self._git, place, self.address, self.commit))
        progress = self._git.work.progress
        before = progress.bytes_done
        try:
            self._git.lfs(place, "fetch", "origin", self.commit, judge=self._judge)
            progress.add(size=sum(self._missing.values()) - (progress.bytes_done - before))
        finally:
            # It writes what went wrong to files that nobody would ever remove.
            shutil.rmtree(self.repository.directory / "lfs" / "logs", ignore_errors=True)

    def _judge(self, done: Done) -> AttemptError | None:
        absent = [oid for oid, size in self._missing.items() if not _has_size(self._path(oid), size)]
        if not absent:
            return None
        said = done.errors or done.output.decode(errors="replace")
        error = failure.of_output("Fetching from Git LFS", said, self._git.work.redact)
        message = f"{len(absent)} of {len(self.contents.objects)} objects of Git LFS did not come: {error}"
        return AttemptError(error.code, error.reason, message)

    def remember(self) -> None:
        """All that is needed is there by now, and durable."""
        if self.contents.objects:
            write(self.repository.directory / KNOWN, "".join(f"{oid}\n" for oid in sorted(self.contents.objects)))

    def _path(self, oid: str) -> Path:
        return object_path(self.repository.directory, oid)

    def _known(self) -> set[str]:
        try:
            return set((self.repository.directory / KNOWN).read_text(encoding="ascii").split())
        except (OSError, UnicodeDecodeError):
            return set()


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.lstat().st_size == size
    except OSError:
        return False


def _digest(path: Path, stop: Stop) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            stop.check()
            digest.update(block)
    return digest.hexdigest()
