"""`Kind`: the facts of a kind that users write, without its model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from stowplan.schema.diagnostics import FieldPath

if TYPE_CHECKING:
    from stowplan.schema.kinds.custom_resource import CustomResource

NATIVE_GROUP = "stowplan.dev"
"""API group of the native kinds, whose models are in the package `native`."""


def plural(kind: str) -> str:
    """Return the name of a kind of ours in URLs and roles, such as `samplesets`."""
    return f"{kind.lower()}s"


@dataclass(frozen=True, slots=True)
class DatasetReference:
    """The field of a kind that names datasets in the spec's namespace.

    `kind` is the kind of the datasets. `path` is the path of the name, with `*` for every entry of a list. If `digest`
    is true, an edit of the dataset changes what the spec compiles to, so the digest of the spec covers its dataset.
    """

    kind: str
    path: tuple[str, ...]
    digest: bool = False

    def names(self, document: Mapping[str, Any]) -> Iterator[tuple[str, FieldPath]]:
        """Yield the names in a spec's document, with their paths. Anything but a string is left out."""
        yield from ((value, path) for value, path in values(document, *self.path) if isinstance(value, str))


def values(document: Any, *path: str) -> list[tuple[Any, FieldPath]]:
    """Return what a document, which may have errors, has at `path`, each with its own path.

    `*` stands for every entry of a list. The list is empty if nothing is there.
    """
    found: list[tuple[Any, FieldPath]] = [(document, ())]
    for key in path:
        found = [below for value, at in found for below in _below(value, at, key)]
    return found


def _below(value: Any, path: FieldPath, key: str) -> list[tuple[Any, FieldPath]]:
    if key == "*":
        return [(item, (*path, index)) for index, item in enumerate(value)] if isinstance(value, list) else []
    return [(value[key], (*path, key))] if isinstance(value, dict) and key in value else []


@dataclass(frozen=True)
class Kind:
    """One kind: a row of the table of kinds."""

    name: str
    """Name of the kind, such as `SampleSet`, and of the class of its model."""

    api_version: str
    """The `apiVersion` of its documents, such as `tensorstack.dev/v1beta1`."""

    trains: bool = False
    """Whether its pods train: users bring the templates of these pods."""

    datasets: DatasetReference | None = None
    """The field that names the datasets that it uses; None if it uses none."""

    done: str = "Complete"
    """Type of the status condition that is true once a spec of this kind is done, for specs that run after it."""

    task_fields: tuple[str, str] | None = None
    """Of a task on a dataset: names of the fields of its status with the first Job and the `AttemptCounts`; or None."""

    @property
    def plural(self) -> str:
        """The name in URLs and roles."""
        return plural(self.name)

    @property
    def group(self) -> str:
        """The API group, such as `tensorstack.dev`."""
        return self.api_version.partition("/")[0]

    @cached_property
    def module(self) -> str:
        """The name of its modules in all packages, such as `sample_set`."""
        return "".join(f"_{char.lower()}" if char.isupper() else char for char in self.name).lstrip("_")

    @cached_property
    def model(self) -> "type[CustomResource]":
        """The model of its documents, which is imported when somebody asks for it."""
        package = "kinds.native" if self.group == NATIVE_GROUP else "kinds"
        module = import_module(f"stowplan.schema.{package}.{self.module}")
        return cast("type[CustomResource]", getattr(module, self.name))
