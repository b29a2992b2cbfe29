"""The base of the models of all kinds, and the facts that a model declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.meta import AFTER_ANNOTATION, Model, ObjectMeta


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`. `type` is one of `integer`, `number`, `string`, `boolean` and `date`."""

    name: str
    json_path: str
    type: str = "string"


AGE = Column("AGE", ".metadata.creationTimestamp", "date")


TimeZone = Annotated[
    str | None,
    Field(
        max_length=64,
        description="Time zone of the schedule, such as `Europe/Berlin`. Without it, that of the control plane.",
    ),
]


class CustomResource(Model):
    """A kind of ours. The class is named like the kind, and the table of kinds has a row with the same `apiVersion`.

    An example is `stowplan.schema.kinds.toy_training`::

        '''`ToyTraining`: training with a toy framework.'''

        from typing import ClassVar, Literal

        from pydantic import Field

        from stowplan.schema.kinds.conditions import Conditions
        from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource
        from stowplan.schema.meta import Model


        class ToySpec(Model):
            '''What trains.'''

            nodes: int = Field(description="Number of pods.", ge=1, le=100)
            image: str = Field(description="Image of the pods.", max_length=512)


        class ToyStatus(Model):
            '''What was observed.'''

            phase: str | None = Field(default=None, description="`Running` or `Done`.")
            conditions: Conditions | None = Field(default=None, description="Standard conditions.")


        class ToyTraining(CustomResource):
            '''Training with a toy framework.'''

            COLUMNS: ClassVar[tuple[Column, ...]] = (AGE,)
            STATUS: ClassVar[type[Model]] = ToyStatus

            api_version: Literal["toy.example.com/v1"] = Field(description="Version of this kind.")
            kind: Literal["ToyTraining"] = Field(description="Always `ToyTraining`.")
            spec: ToySpec = Field(description="What trains.")

    It narrows `api_version` and `kind` to one value each, and adds the field `spec`.
    """

    SHORT_NAMES: ClassVar[tuple[str, ...]] = ()
    COLUMNS: ClassVar[tuple[Column, ...]]
    FOLDED_KEYS: ClassVar[bool] = False
    """True if the old API had no schema, so that Go's decoder accepted keys in any case."""

    STATUS: ClassVar[type[Model]]
    """Model of `status`, which only agents write."""

    SERVICE: ClassVar[bool] = False
    """Whether it has a Service of its name, which must begin with a letter then and hold no dot."""

    AFTER: ClassVar[tuple[str, ...]] = ("metadata", "annotations", AFTER_ANNOTATION)
    """The path of what names the specs after which it runs: a field `runAfter`, or an annotation; empty for datasets."""

    OUTSIDE_RUN: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """The fields of its spec, as paths, that its run does not depend on.

    They are the nodes that cache a dataset, and what is copied after a training job.
    """

    PLACE: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Of a dataset: the fields of its spec, as paths, that say where its data comes from and where it is stored."""

    PLACE_IF_GIVEN: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """More such fields. A digest that older versions have made knows nothing of them, so they count where given."""

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

    api_version: str = Field(description="Version of this kind.", max_length=253)
    kind: str = Field(description="Name of this kind.", max_length=63)
    metadata: ObjectMeta = Field(description="Name, namespace, labels and annotations.")
