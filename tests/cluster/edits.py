"""Edits of single fields of objects in a cluster, and what the API server makes of each."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.cluster.client import ApiError, Client, Manifest
from tests.unit.checks import given
from tests.unit.checks.given import GONE

RUNNING = {"kwok.stowplan.dev/hold": "true"}
"""As annotations of a Job's pods: the Job does not end while the tests look at it."""


class Verdict(Enum):
    """What the server makes of an edit."""

    CHANGES = "changes the object"
    STAYS = "is taken, and changes nothing"
    REFUSED = "is refused"


@dataclass(frozen=True)
class Edit:
    """One field of an object gets another value.

    `because` is the reason why the compiler's table does not follow the server there.
    """

    path: str
    value: Any
    server: Verdict
    because: str = ""

    def of(self, manifest: Manifest) -> Manifest:
        return given.changed(manifest, self.path, deepcopy(self.value))


def changes(path: str, value: Any = GONE, because: str = "") -> Edit:
    return Edit(path, value, Verdict.CHANGES, because)


def stays(path: str, value: Any = GONE, because: str = "") -> Edit:
    return Edit(path, value, Verdict.STAYS, because)


def refused(path: str, value: Any = GONE, because: str = "") -> Edit:
    return Edit(path, value, Verdict.REFUSED, because)


def judge(client: Client, manifest: Manifest, edit: Edit) -> Verdict:
    """Apply the edit as Argo CD would, without keeping the result. The manifest was applied before."""
    try:
        after = client.apply(edit.of(manifest), dry_run=True)
    except ApiError as error:
        if error.status in {403, 422}:
            return Verdict.REFUSED
        raise
    before = client.apply(manifest, dry_run=True)
    return Verdict.STAYS if at(before, edit.path) == at(after, edit.path) else Verdict.CHANGES


def at(value: Any, path: str) -> Any:
    """The value at a path as `given.changed` writes them; None where there is none."""
    for part in path.split("."):
        if isinstance(value, list) and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, Mapping):
            value = value.get(part.replace("~", "."))
        else:
            return None
    return value
