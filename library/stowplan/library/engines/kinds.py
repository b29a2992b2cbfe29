"""Declaration of the kinds of objects that an engine creates."""

from dataclasses import dataclass

from stowplan.library.builders.job import MUTABLE
from stowplan.library.ir.reason import Reason


@dataclass(frozen=True, slots=True)
class EngineKind:
    """One kind of object that an engine creates.

    `plural` is the name of the kind in URLs. `pods` is the path of the pod templates in an object, where `*` is every
    entry of a list; None if it has none. `starts` is true if an object begins a run when it is created, unless its
    `spec.suspend` is true. `mutable` are the fields of `spec` that may change in an existing object; None if all may.
    `reasons` explain values in its objects.
    """

    group: str
    version: str
    kind: str
    plural: str
    pods: tuple[str, ...] | None = None
    starts: bool = False
    mutable: frozenset[str] | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


JOB = EngineKind("batch", "v1", "Job", "jobs", pods=("spec", "template"), starts=True, mutable=MUTABLE)
"""A Job of Kubernetes, which every engine may create."""
