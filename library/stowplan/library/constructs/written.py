"""What a program writes as constructs: specs at lines of it, and what it made of others."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json, Unit
from stowplan.schema.diagnostics import Finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform

_NOT_A_USERS = ("stowplan.", "jsii.", "constructs", "cdk8s")


class Place(NamedTuple):
    """A line of a Python file, which is relative to the folder of the repository if it is in it."""

    file: str
    line: int

    @classmethod
    def now(cls, root: Path) -> "Place":
        """Return the line of the user's file that is running now. `root` is the folder of the repository."""
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals.get("__name__", "").startswith(_NOT_A_USERS):
            frame = frame.f_back
        path = Path(frame.f_code.co_filename)
        inside = path.is_relative_to(root)
        return cls(path.relative_to(root).as_posix() if inside else path.name, frame.f_lineno)


@dataclass(frozen=True, slots=True)
class Written:
    """A spec that a construct stands for: its document, the place that made it, and the findings about it.

    `construct` is the path of the construct, once it is made.
    """

    document: Mapping[str, Any]
    place: Place
    findings: tuple[Finding, ...] = ()
    construct: str = ""


@dataclass(frozen=True, slots=True)
class Displaced:
    """A compiled object that is no longer in the output, because an extension removed it or changed its identity.

    The identity consists of API group, kind, namespace and name.
    """

    spec: SpecId
    object: ObjectId


@dataclass(frozen=True, slots=True)
class Extended:
    """Result of a program in an app: all units, the specs it made, its own objects, and objects that it displaced.

    The units are those that were there, in their order, and then those of `made`, which `context` knows.
    """

    units: tuple[Unit, ...]
    context: Context
    made: tuple[Written, ...]
    added: tuple[Json, ...]
    displaced: tuple[Displaced, ...]


class Checks(Protocol):
    """What the compiler checks of specs that constructs stand for."""

    def read(self, written: Written, platform: Platform) -> tuple[CustomResource | None, Sequence[Finding]]:
        """Return the model of a document whose kind is that of a spec, None if it has errors, and all findings."""

    def problems(self, written: Written, unit: Unit, platform: Platform) -> list[str]:
        """Return the errors in the objects of a spec alone."""
