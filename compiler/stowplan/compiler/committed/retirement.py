"""The output of a spec whose run is over and retired: what it says and holds stays, its run and its rights do not."""

from collections.abc import Collection, Sequence

from stowplan.compiler.model import OutputFile
from stowplan.schema.meta import SpecId

_LASTING = frozenset({"CronJob", "StatefulSet"})
"""Kinds, besides those of runs, whose objects have pods."""

_RIGHTS = frozenset({"Role", "RoleBinding", "ServiceAccount"})


def without_runs(outputs: Sequence[OutputFile], retired: Collection[SpecId]) -> list[OutputFile]:
    """Return the outputs without the runs of the specs `retired`, and without what only the pods of these runs need.

    The custom resource stays, as the record of what ran, and so do volumes, claims and cache pods.
    """
    kept = [each for each in outputs if each.spec not in retired or not each.manifest.run]
    homes: dict[SpecId | None, set[str]] = {}
    for each in kept:
        if each.manifest.kind in _LASTING:
            homes.setdefault(each.spec, set()).add(each.manifest.namespace)
    return [each for each in kept if each.spec not in retired or _is_needed(each, homes.get(each.spec, set()))]


def _is_needed(output: OutputFile, homes: Collection[str]) -> bool:
    """Whether an object is of use although the run is gone. `homes` are the namespaces with other pods of the spec."""
    if output.manifest.kind == "NetworkPolicy":
        return output.manifest.namespace in homes
    return bool(homes) or output.manifest.kind not in _RIGHTS
