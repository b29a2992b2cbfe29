"""Declaration of the kinds of objects that an engine creates."""

from dataclasses import dataclass

from stowplan.library.builders.job import MUTABLE


@dataclass(frozen=True, slots=True)
class EngineKind:
    """One kind of object that an engine creates.

    `pods` is the path to its pod templates, where `*` is every entry of a list; None if it has none. An object that
    `starts` begins a run when it is created, unless its `spec.suspend` is true. `mutable` are the fields of `spec` that
    may change in place; None if all may.
    """

    group: str
    version: str
    kind: str
    plural: str
    pods: tuple[str, ...] | None = None
    starts: bool = False
    mutable: frozenset[str] | None = None

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


JOB = EngineKind("batch", "v1", "Job", "jobs", pods=("spec", "template"), starts=True, mutable=MUTABLE)
"""A Job of Kubernetes, which every engine may create."""
