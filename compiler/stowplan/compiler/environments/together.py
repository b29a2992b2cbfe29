"""What is judged of all targets of a platform file together, when each of them is compiled."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose, diagnose_at
from stowplan.compiler.environments.collisions import Objects, collisions
from stowplan.compiler.environments.leftovers import leftover, leftovers
from stowplan.compiler.environments.starting import Runs, without_run
from stowplan.compiler.environments.strangers import strangers
from stowplan.compiler.environments.target import Target, names
from stowplan.compiler.output import inventory_files, paths
from stowplan.compiler.output.write import stranger
from stowplan.schema.diagnostics import FieldPath, Severity, finding


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


def left(out: Path, targets: Sequence[Target]) -> Iterator[Diagnostic]:
    """Yield SP808 for each folder below the output folder `out` that belongs to no target, and SP815 for `adopts`."""
    if targets[0].name:
        yield from _adopting(out, targets[0].source)
        for folder in leftovers(out, names(targets[0].source), inventory_files.holders(out)):
            yield diagnose_at(paths.location(out, folder), leftover(folder))


def strange(out: Path, targets: Sequence[Target], *, refused: bool) -> Iterator[Diagnostic]:
    """Yield SP537 for each entry of the output folder `out` that lies beside the folders of all targets.

    What `left` is about is no such entry. With `refused`, they are errors.
    """
    holders = inventory_files.holders(out)
    if out in holders or not targets[0].name:
        return
    known = [*names(targets[0].source), *(each.relative_to(out).as_posix() for each in holders)]
    for path in strangers(out, known):
        found = stranger(out, path)
        yield replace(found, severity=Severity.ERROR) if refused else found


def _adopting(out: Path, source: Document) -> Iterator[Diagnostic]:
    """Yield SP815 for each `adopts` of earlier versions, which is a command now; a warning where it has done it."""
    for index, environment in enumerate(source.data.get("environments") or ()):
        own: FieldPath = ("environments", index)
        clusters = enumerate(environment.get("clusters") or ())
        places = [(own, environment["name"], environment)]
        places += [((*own, "clusters", n), f"{environment['name']}/{each['name']}", each) for n, each in clusters]
        for path, name, holder in places:
            if holder.get("adopts"):
                done = inventory_files.exists(out / name)
                message = f"The command `stowplan adopt {name}` takes over the output, not a field."
                hint = "Remove the field." if done else "Run the command once, and remove the field."
                severity = Severity.WARNING if done else None
                yield diagnose(source, finding("SP815", (*path, "adopts"), message, hint, severity=severity))
