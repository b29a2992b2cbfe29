"""Entries of `start` whose run no cluster of the environment has."""

from collections.abc import Iterator, Mapping, Sequence, Set

from stowplan.compiler.environments.target import Target
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import SpecId

Runs = Mapping[SpecId, Set[str]]
"""The hashes of runs by their specs."""


def without_run(targets: Sequence[tuple[Target, Runs]]) -> Iterator[tuple[Target, Finding]]:
    """Yield SP805 for each entry of `start` that names a run which none of the clusters of its environment has.

    Each target comes with the runs that it writes. Judged are only the environments all of whose clusters are among the
    targets.
    """
    by_name: dict[str, list[tuple[Target, Runs]]] = {}
    for each in targets:
        by_name.setdefault(each[0].environment.name, []).append(each)
    for own in by_name.values():
        target = own[0][0]
        environment = target.environment
        if len(own) < max(1, len(environment.clusters)):
            continue
        for index, entry in enumerate(environment.start):
            spec = target.named(entry)
            if not any(entry.run in written.get(spec, ()) for _, written in own):
                found = {run for _, written in own for run in written.get(spec, ())}
                now = f" The run that is written is {' or '.join(sorted(found))}." if found else ""
                message = f"{spec} has no run {entry.run}.{now}"
                hint = "Name the run as it is now to start it, or remove the entry."
                yield target, finding("SP805", (*target.path, "start", index, "run"), message, hint)
