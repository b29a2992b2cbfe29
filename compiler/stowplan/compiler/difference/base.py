"""The output to compare with: the folder as it is, or as a commit has it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from stowplan.compiler.tree import scan


class BaseError(Exception):
    """A sentence that says why there is nothing to compare with."""


def on_disk(out: Path) -> dict[str, bytes]:
    """The files below a folder, by path; none where there is no folder."""
    tree = scan(out)
    return {path: content for path in sorted(tree.files) if (content := tree.read(path)) is not None}


def at_commit(out: Path, revision: str) -> dict[str, bytes]:
    """The files below a folder as a commit has them; none where it has no such folder. BaseError."""
    holder = next(each for each in (out, *out.absolute().parents) if each.is_dir())
    inside = _git(holder, "rev-parse", "--show-prefix").decode().strip()
    rest = out.absolute().relative_to(holder.absolute()).as_posix()
    folder = "/".join(part for part in (inside.rstrip("/"), "" if rest == "." else rest) if part)
    commit = _commit(holder, revision)
    only = ["--", folder] if folder else []
    blobs = dict(_entries(_git(holder, "ls-tree", "-r", "-z", "--full-tree", commit, *only)))
    contents = _contents(holder, list(blobs.values()))
    prefix = f"{folder}/" if folder else ""
    return {path.removeprefix(prefix): contents[name] for path, name in blobs.items() if path.startswith(prefix)}


def _commit(folder: Path, revision: str) -> str:
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except BaseError:
        raise BaseError(f"There is no commit {revision} here. In CI, fetch it first.") from None
    return found.decode().strip()


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """Path and blob of every regular file."""
    for line in listed.split(b"\0"):
        about, _, path = line.partition(b"\t")
        mode, _, rest = about.partition(b" ")
        if mode in (b"100644", b"100755"):
            yield path.decode("utf-8", "surrogateescape"), rest.partition(b" ")[2].decode()


def _contents(folder: Path, blobs: list[str]) -> dict[str, bytes]:
    answer = _git(folder, "cat-file", "--batch", given="".join(f"{each}\n" for each in blobs).encode())
    found, at = {}, 0
    for each in blobs:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].rpartition(b" ")[2])
        found[each] = answer[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], input=given, capture_output=True, check=False)  # noqa: S603, S607
    except OSError as error:
        raise BaseError(f"git cannot be run: {error.strerror}.") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise BaseError(lines[-1] if lines else f"git {arguments[0]} failed.")
    return done.stdout
