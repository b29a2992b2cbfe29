"""Secret values of an agent as files. Unlike variables, they are passed on to no child process and shown by no tool."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from stowplan.library.manifest import Json
from stowplan.schema.agents.transfer_config import SECRETS_DIRECTORY


class Values(NamedTuple):
    """What a container gets: variables, and the source of a volume with files; None for no files."""

    variables: tuple[Json, ...]
    source: Json | None


def split(variables: Sequence[Json], confidential: Collection[str]) -> Values:
    """Return `variables`, and instead of those in `confidential` that come from a Secret a volume with their values.

    `confidential` are names. Each file of the volume has the name of its variable. A variable to which another one
    refers stays, since Kubernetes replaces references only by variables.
    """
    texts = [str(each.get("value", "")) for each in variables]
    moved = {
        each["name"]: reference
        for each in variables
        if each["name"] in confidential
        and (reference := (each.get("valueFrom") or {}).get("secretKeyRef"))
        and not any(f"$({each['name']})" in text for text in texts)
    }
    kept = tuple(each for each in variables if each["name"] not in moved)
    sources = [{"secret": _projection(name, reference)} for name, reference in sorted(moved.items())]
    return Values(kept, {"projected": {"sources": sources}} if sources else None)


def mount(volume: str) -> Json:
    """Return the mount of the volume with this name, where the agent looks for the files."""
    return {"name": volume, "mountPath": SECRETS_DIRECTORY, "readOnly": True}


def _projection(name: str, reference: dict[str, Any]) -> Json:
    projection: Json = {"name": reference["name"], "items": [{"key": reference["key"], "path": name}]}
    return {**projection, "optional": True} if reference.get("optional") else projection
