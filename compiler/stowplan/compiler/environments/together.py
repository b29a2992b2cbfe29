"""What is judged of all targets of a platform file together, when each of them is compiled."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stowplan.compiler.diagnostics.report import Diagnostic, diagnose, diagnose_at
from stowplan.compiler.environments.collisions import Objects, collisions
from stowplan.compiler.environments.leftovers import leftover, leftovers
from stowplan.compiler.environments.starting import Runs, without_run
from stowplan.compiler.environments.strangers import strangers
from stowplan.compiler.environments.target import Target, adopting, names
from stowplan.compiler.output import inventory_files, paths
from stowplan.compiler.output.write import stranger
from stowplan.schema.diagnostics import Severity


@dataclass(frozen=True, slots=True)
class Result:
    """What a target was compiled to without errors.

    `objects` are its objects with their paths. `runs` are the runs that may be named in `start`; None if these are not
    known.
    """

    target: Target
    objects: Objects
    runs: Runs | None


def judged(results: Collection[Result]) -> Iterator[Diagnostic]:
    """Yield SP809 for objects of several targets, and SP805 for runs to start that none of the targets has."""
    objects = [(each.target, each.objects) for each in results]
    runs = [(each.target, each.runs) for each in results if each.runs is not None]
    for target, found in (*collisions(objects, paths.ARGOCD), *without_run(runs)):
        yield diagnose(target.source, found)


def left(out: Path, targets: Sequence[Target], *, taken: bool = False) -> Iterator[Diagnostic]:
    """Yield SP808 for each folder below the output folder `out` that belongs to no target of the platform file.

    With `taken`, the output is written, so that a target with `adopts` takes over what lies in `out` itself.
    """
    environments = targets[0].source.data["environments"]
    taken = taken and any(each.adopts for each in targets)
    for folder in leftovers(out, names(environments), inventory_files.holders(out)):
        if folder or not taken:
            yield diagnose_at(paths.location(out, folder), leftover(folder, adopting(environments)))


def strange(out: Path, targets: Sequence[Target], *, refused: bool = False) -> Iterator[Diagnostic]:
    """Yield SP537 for each entry of the output folder `out` that lies beside the folders of all targets.

    What `left` is about is no such entry. With `refused`, they are errors.
    """
    holders = inventory_files.holders(out)
    if out in holders:
        return
    known = [*names(targets[0].source.data["environments"]), *(each.relative_to(out).as_posix() for each in holders)]
    for path in strangers(out, known):
        found = stranger(out, path)
        yield replace(found, severity=Severity.ERROR) if refused else found
