"""RBAC rights of the Roles and ClusterRoles in an output, one by one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, product

from stowplan.compiler.kubernetes.fields import items, texts
from stowplan.library.manifest import Json

ROLES = ("Role", "ClusterRole")


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """An RBAC right: a verb on a resource, or on a URL path of the API server of Kubernetes.

    In the second case `resource` is the path. An empty name means all objects of the resource.
    """

    group: str
    resource: str
    name: str
    verb: str

    @property
    def object(self) -> str:
        """The target of the right in words, such as `pods/status of any name`."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{resource} {self.name or 'of any name'}"

    def covers(self, other: "Right") -> bool:
        """Whether whoever has this right has `other` too; `*` stands for any group, resource or verb."""
        pairs = ((self.group, other.group), (self.resource, other.resource), (self.verb, other.verb))
        return self.name in ("", other.name) and all(own in ("*", theirs) for own, theirs in pairs)

    @property
    def rank(self) -> tuple[bool, bool, bool, "Right"]:
        """Sort key: rights on all names first, then rights with wildcards, then those on Secrets.

        So a shortened list shows the widest rights.
        """
        wild = "*" in (self.group, self.resource, self.verb) or self.resource.startswith("/")
        return bool(self.name), not wild, self.resource != "secrets", self


def added(before: Json | None, after: Json) -> list[Right]:
    """Return the rights of a Role that its earlier version did not have, the widest first.

    `before` is None for a new Role.
    """
    known = list(_rights(before)) if before else []
    new = {right for right in _rights(after) if not any(each.covers(right) for each in known)}
    return sorted(new, key=lambda right: right.rank)


def said(rights: Iterable[Right]) -> Iterator[str]:
    """Yield a phrase for neighbouring rights with the same target, such as `get, patch pods/status of any name`."""
    for thing, own in groupby(rights, key=lambda right: right.object):
        yield f"{', '.join(right.verb for right in own)} {thing}"


def _rights(role: Json) -> Iterator[Right]:
    for rule in items(role, "rules"):
        names = texts(rule.get("resourceNames")) or [""]
        for verb in texts(rule.get("verbs")):
            things = product(texts(rule.get("apiGroups")) or [""], texts(rule.get("resources")), names)
            yield from (Right(group, resource, name, verb) for group, resource, name in things)
            yield from (Right("", path, "", verb) for path in texts(rule.get("nonResourceURLs")))
