"""The base of every kind that has a CRD, and the facts that a kind declares."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from pydantic import Field

from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.meta import AFTER_ANNOTATION, Model, ObjectMeta

SpecFields = Mapping[str, tuple[str, ...] | None]
"""Fields of a spec, each with the names of the fields below it, or None for a plain value."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`. `type` is one of `integer`, `number`, `string`, `boolean` and `date`."""

    name: str
    json_path: str
    type: str = "string"


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


AGE = Column("AGE", ".metadata.creationTimestamp", "date")


class CustomResource(Model):
    """A kind of ours. The class is named like the kind.

    A kind narrows `api_version` and `kind` to one value each, and adds the field `spec`.
    """

    PLURAL: ClassVar[str]
    """Name in URLs and roles; the singular is the kind in lower case."""

    SHORT_NAMES: ClassVar[tuple[str, ...]] = ()
    COLUMNS: ClassVar[tuple[Column, ...]]
    FOLDED_KEYS: ClassVar[bool] = False
    """True if the old API had no schema, so that Go's decoder accepted keys in any case."""

    STATUS: ClassVar[type[Model]]
    """Model of `status`, which only agents write."""

    TRAINS: ClassVar[bool] = False
    """Whether its pods train: users bring the templates of these pods."""

    DATASETS: ClassVar[DatasetReference | None] = None
    """The field that names the datasets that it uses; None if it uses none."""

    SERVICE: ClassVar[bool] = False
    """Whether it has a Service of its name, which must begin with a letter then and hold no dot."""

    AFTER: ClassVar[tuple[str, ...]] = ("metadata", "annotations", AFTER_ANNOTATION)
    """The path of what names the specs after which it runs: a field `runAfter`, or an annotation; empty for datasets."""

    DONE: ClassVar[str] = "Complete"
    """Type of the status condition that is true once a spec of this kind is done, for specs that run after it."""

    TASK_FIELDS: ClassVar[tuple[str, str] | None] = None
    """Of a task on a dataset: the fields of its status with the first Job and with the `AttemptCounts`."""

    OUTSIDE_RUN: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """The fields of its spec, as paths, that its run does not depend on.

    They are the nodes that cache a dataset, and what is copied after a training job.
    """

    PLACE: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Of a dataset: the fields of its spec, as paths, that say where its data comes from and where it is stored."""

    OLD_VERSIONS: ClassVar[Mapping[str, str]] = {}
    """Values of `apiVersion` in old documents that no cluster ever accepted, and the accepted values for them."""

    OUTPUTS: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Paths of fields that the old operator wrote itself."""

    MOVED: ClassVar[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = ()
    """Pairs of paths: of a misplaced field in public examples, and of the field that is meant."""

    SPELLINGS: ClassVar[tuple[tuple[tuple[str, ...], str, str], ...]] = ()
    """Paths of a mapping that holds a field, each with an accepted spelling of the field's key and the canonical one."""

    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {}
    """Rules that only editors apply, by the path of the field. `[]` stands for the items of a list."""

    OBSERVED: ClassVar[SpecFields]
    """What the reporter reads of `spec`."""

    api_version: str = Field(description="Version of this kind.", max_length=253)
    kind: str = Field(description="Name of this kind.", max_length=63)
    metadata: ObjectMeta = Field(description="Name, namespace, labels and annotations.")

    @classmethod
    def group_version(cls) -> str:
        """Return the `apiVersion` of the kind's documents, such as `tensorstack.dev/v1beta1`."""
        api_version: str = get_args(cls.model_fields["api_version"].annotation)[0]
        return api_version

    @classmethod
    def group(cls) -> str:
        """Return the API group of the kind, such as `tensorstack.dev`."""
        return cls.group_version().partition("/")[0]
