"""The base of every kind that has a CRD: what `kubectl` shows of it and how its status looks."""

from typing import ClassVar, get_args

from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import Model


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`. `type` is one of `integer`, `number`, `string`, `boolean` and `date`."""

    name: str
    json_path: str
    type: str = "string"


AGE = Column("AGE", ".metadata.creationTimestamp", "date")


class CustomResource(Model):
    """A kind of ours. Its class has the kind's name; the fields are `api_version`, `kind`, `metadata` and `spec`."""

    PLURAL: ClassVar[str]
    """The name in URLs and roles; the singular is the kind in lower case."""

    SHORT_NAMES: ClassVar[tuple[str, ...]] = ()
    COLUMNS: ClassVar[tuple[Column, ...]]
    FOLDED_KEYS: ClassVar[bool] = False
    """Whether the old API had no schema, so that Go's decoder took keys in any case."""

    STATUS: ClassVar[type[Model]]
    """The model of `status`. Agents write it, users never."""

    @classmethod
    def group(cls) -> str:
        """Its API group, such as `tensorstack.dev`."""
        api_version: str = get_args(cls.model_fields["api_version"].annotation)[0]
        return api_version.partition("/")[0]
