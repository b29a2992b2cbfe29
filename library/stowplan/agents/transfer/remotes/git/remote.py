"""Look-up of refs on the server."""

import re
from dataclasses import dataclass
from typing import Literal

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git.address import Address
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.schema.agents.exit_codes import ExitCode

Kind = Literal["branch", "tag", "ref", "commit", "abbreviation"]
"""What a name means on the server; `ref` is any other ref, `abbreviation` the beginning of a commit name."""

_FULL = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PART = re.compile(r"[0-9a-f]{7,63}")
OLD_DEFAULT = "refs/heads/master"
"""Ref that is taken if HEAD of the server names no branch: the default of TensorStack's DataCube controller."""


@dataclass(frozen=True, slots=True)
class WantedRef:
    """Target of a fetch: what to check out."""

    kind: Kind
    name: str
    """Full name of a ref, or the commit as written in the spec."""
    object: str = ""
    """Object that the ref points to: a commit, or the tag object of an annotated tag. Empty for an abbreviation."""
    commit: str = ""
    """Full name of the commit; empty for an abbreviation."""

    @property
    def short(self) -> str:
        """Name without `refs/heads/` or the like; the commit as written if it is no ref."""
        return self.name.split("/", 2)[2] if self.name.startswith("refs/") else self.name

    def __str__(self) -> str:
        return f"{'commit' if self.kind == 'abbreviation' else self.kind} {self.short}"


def find(git: Git, address: Address, ref: str | None) -> WantedRef | None:
    """Look up what a ref of the spec means on the server; None means HEAD of the server.

    A full name of a ref is preferred to a branch, that to a tag, and that to the name of a commit. Returns
    None if the repository is empty and no ref is given. Raises AttemptError (4) if the ref does not exist.
    """
    if ref is None or ref == "HEAD":
        return _head(git, address)
    names = [ref, f"refs/{ref}", f"refs/heads/{ref}", f"refs/tags/{ref}"]
    refs, _ = _listed(git, address, [*names, *(f"{name}^{{}}" for name in names)])
    for name in names:
        if name in refs and name.startswith("refs/"):
            return _named(name, refs)
    if _FULL.fullmatch(ref.lower()):
        return WantedRef("commit", ref.lower(), ref.lower(), ref.lower())
    if _PART.fullmatch(ref.lower()):
        return WantedRef("abbreviation", ref.lower())
    message = f"{address.url} has neither a branch nor a tag {ref}"
    raise AttemptError(ExitCode.NOT_FOUND, "NoSuchRef", message)


def _head(git: Git, address: Address) -> WantedRef | None:
    """Look up HEAD of the server; None if the repository is empty.

    If HEAD names no existing branch, `master` or the only branch is taken. Raises AttemptError (4) if there is neither.
    """
    refs, head = _listed(git, address, ["HEAD"])
    if head in refs or (head and "HEAD" in refs):
        return _named(head, {head: refs["HEAD"], **refs})
    if "HEAD" in refs:
        return WantedRef("ref", "HEAD", refs["HEAD"], refs["HEAD"])
    refs, _ = _listed(git, address, [])
    branches = [name for name in refs if name.startswith("refs/heads/")]
    if not refs:
        return None
    if OLD_DEFAULT in refs or len(branches) == 1:
        return _named(OLD_DEFAULT if OLD_DEFAULT in refs else branches[0], refs)
    message = f"HEAD of {address.url} names no branch that is there: give the option `ref`"
    raise AttemptError(ExitCode.NOT_FOUND, "NoHead", message)


def _named(name: str, refs: dict[str, str]) -> WantedRef:
    """Return the target for a full name of a ref. `refs` are objects by name, as `_listed` returns them."""
    kind: Kind = "branch" if name.startswith("refs/heads/") else "tag" if name.startswith("refs/tags/") else "ref"
    return WantedRef(kind, name, refs[name], refs.get(f"{name}^{{}}", refs[name]))


def _listed(git: Git, address: Address, patterns: list[str]) -> tuple[dict[str, str], str]:
    """Ask the server for refs; return their objects by full name, and the ref that HEAD points to (empty if unknown).

    An empty list of patterns asks for all refs. The commit of an annotated tag has the tag's name with `^{}` added.
    """
    words = ("ls-remote", "--symref", "--", address.url, *patterns)
    done = git.online(None, *words, what=f"Asking {address.url} for its branches")
    refs, head = {}, ""
    for line in done.output.decode(errors="surrogateescape").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: ") and name == "HEAD":
            head = value.removeprefix("ref: ")
        elif _FULL.fullmatch(value):
            refs[name] = value
    return refs, head


def branch(git: Git, address: Address, name: str) -> str | None:
    """Ask the server for the commit of a branch, without `refs/heads/`; None if the branch does not exist."""
    full = f"refs/heads/{name}"
    return _listed(git, address, [full])[0].get(full)
