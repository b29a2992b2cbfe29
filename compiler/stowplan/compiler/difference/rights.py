"""What the Roles of an output allow, right by right."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import groupby, product

from stowplan.compiler.manifest_fields import items
from stowplan.library.manifest import Json
from stowplan.schema.records import dataclass

ROLES = ("Role", "ClusterRole")


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """A verb on a resource; an empty name stands for all objects of it."""

    group: str
    resource: str
    name: str
    verb: str

    @property
    def object(self) -> str:
        """What it is a right on."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{resource} {self.name or 'of any name'}"

    def covers(self, other: "Right") -> bool:
        pairs = ((self.group, other.group), (self.resource, other.resource), (self.verb, other.verb))
        return (not self.name or self.name == other.name) and all(fnmatchcase(theirs, own) for own, theirs in pairs)


def added(before: Json | None, after: Json) -> list[Right]:
    """The rights of a Role that the one before did not have."""
    known = list(_rights(before)) if before else []
    return sorted({right for right in _rights(after) if not any(each.covers(right) for each in known)})


def said(rights: Iterable[Right]) -> Iterator[str]:
    """`get, patch pods/status of any name`: the verbs on one thing together."""
    for thing, own in groupby(rights, key=lambda right: right.object):
        yield f"{', '.join(right.verb for right in own)} {thing}"


def _rights(role: Json) -> Iterator[Right]:
    for rule in items(role, "rules"):
        parts = (rule.get("apiGroups") or [""], rule.get("resources") or [], rule.get("resourceNames") or [""])
        for group, resource, name, verb in product(*parts, rule.get("verbs") or []):
            yield Right(str(group), str(resource), str(name), str(verb))
