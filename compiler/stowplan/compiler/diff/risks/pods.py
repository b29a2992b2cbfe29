"""Labels of the pods in an output, and the ServiceAccounts that are compiled for these pods."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.compiler.checks.objects.pods import pods_anywhere
from stowplan.compiler.kubernetes.fields import identity, mapping
from stowplan.library.manifest import Json
from stowplan.library.values import labels


@dataclass(frozen=True, slots=True)
class Pods:
    """Namespace and labels of each pod template (`known`); namespace, name and owner of each ServiceAccount.

    The owner is the name of the application, and the kind and name of the spec, by the labels of the object.
    """

    known: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    accounts: frozenset[tuple[str, str, tuple[str, ...]]] = frozenset()

    @classmethod
    def of(cls, bodies: Iterable[Json]) -> "Pods":
        """Collect the pods and ServiceAccounts of objects, which are given as their bodies."""
        known: list[tuple[str, Mapping[str, Any]]] = []
        accounts: set[tuple[str, str, tuple[str, ...]]] = set()
        for body in bodies:
            own = identity(body)
            known += [(own.namespace, pod.labels) for pod in pods_anywhere(body)]
            if own.kind == "ServiceAccount":
                accounts.add((own.namespace, own.name, _owner(body)))
        return cls(tuple(known), frozenset(accounts))

    def any_has(self, namespace: str, labels: Mapping[str, Any]) -> bool:
        """Whether a pod in this namespace has all of these labels."""
        return any(where == namespace and labels.items() <= own.items() for where, own in self.known)

    def owns(self, body: Json, account: str) -> bool:
        """Whether the ServiceAccount named `account` was compiled for the same spec as the object `body`.

        It must be in the namespace of the object. True also if both belong to the reporter.
        """
        owner = _owner(body)
        return bool(owner[0]) and (identity(body).namespace, account, owner) in self.accounts


def _owner(body: Json) -> tuple[str, ...]:
    """Return the owner of a compiled object, from its labels: name of the application, kind and name of the spec.

    Kind and name are empty for the reporter, which belongs to no spec.
    """
    own = mapping(body, "metadata", "labels")
    return tuple(str(own.get(label, "")) for label in (labels.NAME, labels.SPEC_KIND, labels.SPEC_NAME))
