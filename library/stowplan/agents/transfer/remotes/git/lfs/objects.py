"""Download of the Git LFS objects of one commit: list the missing objects, fetch and verify them."""

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import in_url
from stowplan.agents.transfer.files.draft import Draft
from stowplan.agents.transfer.remotes.git.address import Address
from stowplan.agents.transfer.remotes.git.commit.contents import Contents
from stowplan.agents.transfer.remotes.git.lfs.answers import Action, Answer
from stowplan.agents.transfer.remotes.git.lfs.server import AT_ONCE, LfsServer, content_of
from stowplan.agents.transfer.remotes.git.program.git import Git, GitPlace
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import object_key
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.agents.transfer.tree import Tree, blocks
from stowplan.schema.agents.exit_codes import ExitCode

KNOWN = "stowplan-lfs"
"""File in Git's own directory with the digests of objects that were verified and made durable, one per line."""


def server_url(git: Git, place: GitPlace, address: Address, commit: str) -> str:
    """Return the URL of the Git LFS server: the one in `.lfsconfig` of the commit, or else `address.lfs`.

    Raises AttemptError (exit code 5) for a host that the spec does not name: every committer can write `.lfsconfig`.
    """
    done = git.tried(place, "config", f"--blob={commit}:.lfsconfig", "--no-includes", "--null", "--list")
    values = dict(each.partition("\n")[::2] for each in done.output.decode(errors="replace").split("\0") if each)
    url = values.get("lfs.url") or values.get("remote.origin.lfsurl") or address.lfs
    if in_url(url):
        message = "`.lfsconfig` names a server of Git LFS with credentials: take them out of the repository"
        raise AttemptError(ExitCode.CONFLICT, "LfsElsewhere", message)
    try:
        git.settings.hosts.check(url, "`.lfsconfig` of the repository", known=False)
    except AttemptError as error:
        raise AttemptError(error.code, "LfsElsewhere", str(error)) from None
    return url


@dataclass
class LfsContent:
    """Git LFS objects that one commit references. Call `missing`, `fetch`, and `remember` once they are durable."""

    repository: Repository
    address: Address
    commit: str
    contents: Contents
    _missing: dict[str, int] = field(default_factory=dict)
    _counted: Counter[str] = field(default_factory=Counter)
    """Bytes that the progress counts of each object that is not complete, by digest."""

    @property
    def _git(self) -> Git:
        return self.repository.git

    def missing(self) -> dict[str, int]:
        """Return the sizes in bytes, by digest, of the objects that must be fetched.

        Present objects that are not recorded as verified are read, and deleted if they are damaged.
        """
        if not self.contents.objects:
            return self._missing
        known = self._known()
        with closing(self._tree()) as tree:
            for oid, size in self.contents.objects.items():
                key = f"objects/{object_key(oid)}"
                if status := tree.stat(key):
                    if stat.S_ISREG(status.st_mode) and status.st_size == size:
                        if oid in known or tree.sha256(key, self._git.work.stop.check) == oid:
                            continue
                        self._git.work.log.warning("An object of Git LFS is damaged: fetching it again", oid=oid)
                    tree.remove(key)
                self._missing[oid] = size
        return self._missing

    def _tree(self) -> Tree:
        """Open Git's own `lfs` directory."""
        return self.repository.tree(self.repository.directory / "lfs", create=True)

    def fetch(self) -> None:
        """Fetch the objects that `missing` returned. Raises AttemptError if one cannot be fetched."""
        if not self._missing:
            return
        url = server_url(self._git, self.repository.place, self.address, self.commit)
        with closing(LfsServer(self._git, url, os.environ)) as server, closing(self._tree()) as tree:
            each_of(server, "download", self._missing, None, partial(self._object, server, tree))
            with suppress(FileNotFoundError), tree.root.folder("incomplete") as incomplete:
                for name in incomplete.names():
                    # Partial objects that no commit needs any more.
                    if name.endswith(".part"):
                        incomplete.remove_file(name)

    def remember(self) -> None:
        """Record that all objects of the commit are verified and durable. Call it after they were synced to disk."""
        if self.contents.objects:
            with self.repository.folder(self.repository.directory) as folder:
                folder.write(KNOWN, "".join(f"{oid}\n" for oid in sorted(self.contents.objects)))

    def _object(self, server: LfsServer, tree: Tree, oid: str, size: int, actions: Mapping[str, Action]) -> None:
        """Fetch the bytes of an object that earlier tries did not fetch, verify it and move it to its place.

        A wrong object is deleted.
        """
        if "download" not in actions:
            raise _not_there(oid, "no address for it")
        progress = self._git.work.progress
        what = f"Object {oid} of Git LFS"
        folder, name = tree.parent(_part(oid), create=True)
        with Draft.begun(folder, name) or Draft.new(folder, name) as draft:
            digest, begin = hashlib.sha256(), 0
            if draft.size >= size:
                draft.resize(0)
            for block in blocks(draft.descriptor, self._git.work.stop.check):
                digest.update(block)
                begin += len(block)
            with server.asking("GET", actions["download"], what, begin=begin) as response:
                if begin and response.status_code != 206:
                    begin, digest = 0, hashlib.sha256()
                draft.resize(begin)
                for data in content_of(response):
                    self._git.work.stop.check()
                    if begin + len(data) > size:
                        begin += len(data)
                        break
                    draft.write(data, begin)
                    begin += len(data)
                    digest.update(data)
                    self._counted[oid] += len(data)
                    progress.add(size=len(data))
            if begin == size and digest.hexdigest() == oid:
                draft.finish(what, size)
                draft.place(tree, f"objects/{object_key(oid)}")
                progress.add(size=size - self._counted.pop(oid, 0))
                return
        # The content is unknown, so neither it nor its digest is stored or logged.
        with suppress(FileNotFoundError):
            tree.remove(_part(oid))
        message = f"{what}: what came has not the size or the digest of the object"
        raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)

    def _known(self) -> set[str]:
        """Return the digests of the commit's objects that are recorded as verified."""
        with self.repository.folder(self.repository.directory) as folder:
            recorded = (line.decode("ascii", errors="replace") for line in folder.lines(KNOWN))
            return set(self.contents.objects).intersection(recorded)


def each_of(
    server: LfsServer,
    operation: str,
    objects: Mapping[str, int],
    ref: str | None,
    transfer: Callable[[str, int, Mapping[str, Action]], None],
) -> None:
    """Call `transfer` in a pool of threads with the digest, the size and the server's actions of each object.

    `operation` is `download` or `upload`, `objects` are sizes in bytes by digest, `ref` is the branch of an upload as
    `refs/heads/…`, or None. Failures that may pass are tried again: the first answer about an object may have expired,
    so a further try asks for a new one. Raises AttemptError if an object failed.
    """
    work = server.git.work

    def one(oid: str, size: int, first: list[Answer | None]) -> None:
        def once() -> None:
            answer = first.pop() if first else server.batch(operation, [(oid, size)], ref).get(oid)
            transfer(oid, size, _actions(oid, answer))

        work.attempts.run(f"object {oid} of Git LFS", once)

    rest = iter(sorted(objects.items()))
    with work.pool(server.git.settings.common.config.parallelism) as pool:
        while batch := list(islice(rest, AT_ONCE)):
            answers = server.batch(operation, batch, ref)
            for oid, size in batch:
                pool.give(partial(one, oid, size, [answers.get(oid)]))
        pool.end()


def _actions(oid: str, answer: Answer | None) -> Mapping[str, Action]:
    """Return the actions of a server's answer. Raises AttemptError if there was none about the object, or an error."""
    if answer is None:
        raise _not_there(oid, "nothing")
    if answer.error is None:
        return answer.actions
    said = f"{answer.code} {answer.error}"
    if answer.code in (401, 403):
        raise AttemptError(ExitCode.AUTH, "AccessDenied", f"The server of Git LFS refuses object {oid}: {said}")
    if answer.code >= 500 or answer.code == 429:
        raise AttemptError(ExitCode.TRANSIENT, "RequestFailed", f"The server of Git LFS fails for {oid}: {said}")
    raise _not_there(oid, said)


def _not_there(oid: str, said: str) -> AttemptError:
    """Return the failure for an object that the server does not have. `said` is what the server answers about it."""
    message = f"The server of Git LFS does not have object {oid}: it says {said}"
    return AttemptError(ExitCode.NOT_FOUND, "LfsMissing", message)


def _part(oid: str) -> str:
    """Return the path of an incomplete object below Git's own `lfs` directory."""
    return f"incomplete/{oid}.part"
