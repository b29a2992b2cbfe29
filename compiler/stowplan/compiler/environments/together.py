"""What is judged of all targets of a platform file together, when each of them is compiled."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose, diagnose_at
from stowplan.compiler.environments.target import Target, names
from stowplan.compiler.output import inventory_files, paths
from stowplan.compiler.output.folder import GIT
from stowplan.compiler.output.write import stranger
from stowplan.library.delivery.argocd import IN_CLUSTER
from stowplan.library.values.names import without_hash
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding
from stowplan.schema.meta import ObjectId, SpecId

Objects = Iterable[tuple[str, ObjectId]]
"""The path of each object in its target's folder, and its identity."""

Runs = Mapping[SpecId, Set[str]]
"""The hashes of runs by their specs."""


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
    for target, found in (*_collisions(results), *_without_run(results)):
        yield diagnose(target.source, found)


def left(out: Path, targets: Sequence[Target]) -> Iterator[Diagnostic]:
    """Yield SP808 for each folder below `out` that is of no target, and SP815 for `adopts`; `targets` is not empty."""
    if targets[0].name:
        yield from _adopting(out, targets[0].source)
        folders = {each.relative_to(out).as_posix() for each in inventory_files.holders(out)}
        for folder in sorted(folders.difference(names(targets[0].source))):
            yield diagnose_at(paths.location(out, folder), _leftover(folder))


def strange(out: Path, targets: Sequence[Target], *, refused: bool) -> Iterator[Diagnostic]:
    """Yield SP537 for each entry of the output folder `out` that lies beside the folders of all targets.

    What `left` is about is no such entry. With `refused`, they are errors.
    """
    holders = inventory_files.holders(out)
    if out in holders or not targets[0].name:
        return
    known = [*names(targets[0].source), *(each.relative_to(out).as_posix() for each in holders)]
    for path in _strangers(out, known):
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


def _collisions(results: Iterable[Result]) -> Iterator[tuple[Target, Finding]]:
    """Yield one SP809 for each pair of targets that write an object to the same cluster, about the second target.

    Argo CD would refuse one of the two. Targets without `argocd.repoURL` are left out, because their clusters are not
    known, and so are files that Argo CD does not read.
    """
    first: dict[tuple[str, ObjectId], Target] = {}
    for target, own in ((each.target, each.objects) for each in results):
        argocd = target.platform.data.get("argocd", {})
        shared: dict[str, list[ObjectId]] = {}
        synced = (each for each in own if each[0].endswith(".yaml") and argocd.get("repoURL"))
        for path, known in synced:
            cluster = "Argo CD" if path.startswith(f"{paths.ARGOCD}/") else _cluster(target)
            other = first.setdefault((cluster, known), target)
            if other is not target:
                shared.setdefault(other.name, []).append(known)
        for name, both in shared.items():
            yield target, _collision(target, name, both)


def _cluster(target: Target) -> str:
    destination = target.platform.data.get("argocd", {}).get("destination", {})
    return str(destination.get("name") or destination.get("server") or IN_CLUSTER)


def _collision(target: Target, other: str, both: Sequence[ObjectId]) -> Finding:
    more = f" and {len(both) - 1} more objects" if len(both) > 1 else ""
    # If possible one without a hash in its name, which would change with every edit.
    first = min(both, key=lambda each: (without_hash(each.name) != each.name, each))
    message = f"{other} and {target.name} write {first}{more} to the same cluster, {_cluster(target)}."
    hint = (
        "Give each a cluster of its own in `clusters`, or other namespaces. CRDs need `argocd.crds: external` in all"
        " environments of a cluster but one."
    )
    return finding("SP809", (*target.path, "name"), message, hint)


def _without_run(results: Iterable[Result]) -> Iterator[tuple[Target, Finding]]:
    """Yield SP805 for each entry of `start` that names a run which none of the clusters of its environment has.

    Judged are only the environments all of whose clusters are among the results, with their runs.
    """
    by_name: dict[str, list[tuple[Target, Runs]]] = {}
    for each in results:
        if each.runs is not None:
            by_name.setdefault(each.target.environment.name, []).append((each.target, each.runs))
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


def _leftover(folder: str) -> Finding:
    """Return SP808 for a folder, relative to the output folder, that belongs to no environment."""
    if folder == ".":
        message = "This output was written before the platform file had environments. Nothing would update it."
        hint = (
            "Run `stowplan adopt NAME` with the name of the environment, or `environment/cluster`, whose runs and"
            " datasets these are: nothing is deleted then, and nothing runs again."
        )
    else:
        message = f"The platform file has no environment or cluster {folder}, and nothing would update its output."
        hint = "Bring the environment back, or delete its Applications from Argo CD and then this folder."
    return finding("SP808", (), message, hint)


def _strangers(out: Path, folders: Collection[str]) -> Iterator[str]:
    """Yield the paths of the entries in `out` that are none of `folders` and hold none of them.

    All are relative to `out`; a folder ends in a slash. A link in the place of a folder is an entry like any other, and
    an empty folder is none.
    Yields nothing if `out` cannot be read, or is the top of a Git work tree, which other files of this tree lie in too.
    """
    above = {each for folder in folders for each in paths.parents(folder)}
    if os.path.lexists(out / GIT):
        return
    for level in ("", *sorted(above)):
        for name, is_folder in _listed(out / level):
            path = f"{level}/{name}".lstrip("/")
            if not is_folder:
                yield path
            elif path not in {*folders, *above} and _listed(out / path):
                yield f"{path}/"


def _listed(folder: Path) -> list[tuple[str, bool]]:
    """Return the names of the entries of a folder, and which of them are folders; nothing of what is none."""
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return []
