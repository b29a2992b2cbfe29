"""Edits of single fields of objects in a cluster, and the API server's responses."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tests.cluster.client import ApiError, Client, Manifest
from tests.unit.compiler.checks.given import GONE, changed

_REFUSALS = {403, 422}
"""By an admission plugin, and by validation. Anything else is a mistake of the test."""


class Verdict(Enum):
    """What the server makes of an edit."""

    CHANGES = "changes the object"
    STAYS = "is taken, and changes nothing"
    REFUSED = "is refused"


@dataclass(frozen=True)
class Edit:
    """One field of an object gets another value.

    `because` says why the compiler judges otherwise than the server; it is empty where both agree.
    """

    path: str
    value: Any
    server: Verdict
    because: str = ""

    def of(self, manifest: Manifest) -> Manifest:
        """The manifest after the edit."""
        return changed(manifest, self.path, self.value)


@dataclass(frozen=True)
class Row:
    """An object, and edits of its fields."""

    manifest: Manifest
    edits: list[Edit]
    until: str = ""
    """A field that controllers fill in before the edits are tried."""
    companions: list[Manifest] = field(default_factory=list)
    """What it needs in the cluster."""


def changes(path: str, *, to: Any = GONE, because: str = "") -> Edit:
    return Edit(path, to, Verdict.CHANGES, because)


def stays(path: str, *, to: Any = GONE, because: str = "") -> Edit:
    return Edit(path, to, Verdict.STAYS, because)


def refused(path: str, *, to: Any = GONE, because: str = "") -> Edit:
    return Edit(path, to, Verdict.REFUSED, because)


METADATA = [changes("metadata.labels", to={"a": "b"}), changes("metadata.annotations.a", to="b")]
"""May change in every object."""


def judge(client: Client, live: Manifest, manifest: Manifest, edit: Edit) -> Verdict:
    """What the server makes of the edit when Argo CD applies it; a dry run. `live` is the manifest as it is there."""
    try:
        after = client.apply(edit.of(manifest), dry_run=True)
    except ApiError as error:
        if error.status in _REFUSALS:
            return Verdict.REFUSED
        raise
    return Verdict.STAYS if at(live, edit.path) == at(after, edit.path) else Verdict.CHANGES


def accepts(client: Client, manifest: Manifest) -> bool:
    """Whether the server would take the manifest by server-side apply."""
    try:
        client.apply(manifest, dry_run=True)
    except ApiError as error:
        if error.status in _REFUSALS:
            return False
        raise
    return True


def at(value: Any, path: str) -> Any:
    """The value at a path as `given.changed` writes them; None where there is none."""
    for part in path.split("."):
        if isinstance(value, list) and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part.replace("~", "."))
        else:
            return None
    return value
