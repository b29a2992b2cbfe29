"""Reuse of committed runs: an unchanged spec reuses the committed manifests of its Jobs.

Training that took days must not start again because Stowplan or an agent image is newer. While the digest of a spec
equals the one in the inventory, its run manifests (Jobs, and objects named after their hash) are copied from the
committed files, byte for byte.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from stowplan.compiler.committed import acceptance, local_images
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.compiler.model import Output
from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.output.read_back import reread
from stowplan.compiler.output.render import Renderings
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Recompile:
    """Specs whose runs the user wants compiled again although the specs have not changed: all, or the named ones.

    A spec is named `imagenet`, `ml/imagenet` or `SampleSet ml/imagenet`.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()

    def covers(self, spec: SpecId) -> bool:
        """Whether the run of `spec` is to be compiled again."""
        return self.everything or not self.names.isdisjoint(_names(spec))

    def unknown(self, specs: Collection[SpecId]) -> list[str]:
        """Return the names that the user gave and that none of `specs` has, sorted."""
        return sorted(self.names.difference(*(_names(spec) for spec in specs)))


@dataclass(frozen=True, slots=True)
class Reused:
    """The result of `reuse`: the outputs, sorted by path, with committed runs in place of compiled ones."""

    outputs: tuple[Output, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def reuse(
    outputs: Sequence[Output],
    previous: Inventory,
    tree: OutputFolder,
    recompile: Recompile,
    renderings: Renderings,
    *,
    base: Base | None = None,
) -> Reused:
    """Replace the compiled run manifests of unchanged specs with the committed ones.

    `previous` is the inventory of the committed output, `tree` lists the output folder. `base` holds the runs of the
    base commit; None if there is none.

    All files of a spec's run are reused, or none: if one is missing or differs from the inventory (SP513), a Job and
    its ConfigMap might no longer match. None is reused if all equal the compiled files. Files outside runs are always
    the compiled ones.

    A reused file that is not accepted (see `acceptance`) is SP519: an error, since neither reusing the file nor
    starting a new run is safe. A reused file with an image that no registry has is SP543 (see `local_images`).
    """
    fixed = {output.path for output in outputs if not output.manifest.run}
    chosen: list[Output] = []
    problems: list[Diagnostic] = []
    for spec, own in _by_spec(outputs).items():
        entries = [] if spec is None or recompile.covers(spec) else _run(previous.by_spec.get(spec, ()), own, fixed)
        found = {entry.path: _committed(entry, own, tree, renderings) for entry in entries}
        lost = [path for path, output in found.items() if output is None]
        problems += [_changed_by_hand(tree, path) for path in lost]
        runs = [output for output in found.values() if output]
        # If all committed files equal the compiled ones, the compiled run is used, with all its further files.
        reuses = not lost and any(output.reused for output in runs)
        refused = _refused(runs, entries, own, base) if reuses else {}
        if spec is not None and reuses and not refused:
            refused = local_images.findings(spec, runs, own)
        problems += [diagnose_at(paths.location(tree.root, path), each) for path, each in refused.items()]
        chosen += [output for output in own if not (reuses and output.manifest.run)] + (runs if reuses else [])
    ordered = tuple(sorted(chosen, key=lambda output: (output.path, output.manifest.id)))
    return Reused(ordered, tuple(problems))


def starts(outputs: Sequence[Output], previous: Mapping[ObjectId, Json]) -> tuple[ObjectId, ...]:
    """Return the Jobs and JobSets that start when the outputs are synced, sorted: new ones, and resumed ones.

    `previous` holds the bodies of the committed objects.
    """
    runs = (output.manifest for output in outputs if output.manifest.run and output.manifest.kind in STARTING_KINDS)
    idle = (run for run in runs if run.id not in previous or _suspended(previous[run.id]))
    return tuple(sorted(run.id for run in idle if not _suspended(run.body)))


def without_recompiled(
    previous: Mapping[ObjectId, Json], inventory: Inventory, recompile: Recompile
) -> Mapping[ObjectId, Json]:
    """Return the committed objects `previous` without those of runs to recompile, whose replacement is intended.

    Of an object that the inventory does not list, the spec is unknown. It is left out only if it starts pods and all
    specs are recompiled.
    """
    entries = {entry.id: entry for entry in inventory.entries}
    return {known: body for known, body in previous.items() if not _renewed(known, entries.get(known), recompile)}


def _renewed(known: ObjectId, entry: Entry | None, recompile: Recompile) -> bool:
    if entry is None:
        return recompile.everything and known.kind in STARTING_KINDS
    return entry.run and entry.spec is not None and recompile.covers(entry.spec)


def _suspended(body: Json) -> bool:
    return bool((body.get("spec") or {}).get("suspend"))


def _names(spec: SpecId) -> frozenset[str]:
    return frozenset((spec.name, f"{spec.namespace}/{spec.name}", str(spec)))


def _by_spec(outputs: Sequence[Output]) -> dict[SpecId | None, list[Output]]:
    groups: defaultdict[SpecId | None, list[Output]] = defaultdict(list)
    for output in outputs:
        groups[output.spec].append(output)
    return groups


def _run(entries: Sequence[Entry], own: list[Output], fixed: set[str]) -> list[Entry]:
    """Return the inventory entries of a spec's committed run; empty if it has none, or if the spec has changed since.

    `entries` are all entries of the spec, `own` its compiled outputs. `fixed` are the paths of all outputs that are
    compiled outside of runs. A committed file belongs to the run also if only the new output counts it as part of it,
    because the Jobs of the run use that file.
    """
    digest = own[0].spec_digest
    joined = {output.path for output in own if output.manifest.run}
    run = [entry for entry in entries if (entry.run or entry.path in joined) and entry.path not in fixed]
    unchanged = bool(digest) and any(entry.run for entry in run) and all(entry.spec_digest == digest for entry in run)
    return run if unchanged else []


def _committed(entry: Entry, own: list[Output], tree: OutputFolder, renderings: Renderings) -> Output | None:
    """Return a committed file as an output; None if it is missing, differs from the inventory or is no manifest.

    If the file equals the compiled one, the compiled output in `own` is returned.
    """
    content = tree.read(entry.path)
    if content is None or len(content) != entry.size or sha256(content).hexdigest() != entry.sha256:
        return None
    present = next((output for output in own if output.path == entry.path), None)
    file = renderings.find(present) if present is not None else None
    if present is not None and file is not None and file.content == content:
        renderings.settle(present)
        return present  # the usual case, and far cheaper than reading YAML
    stem = PurePosixPath(entry.path).stem.removeprefix(f"{entry.id.kind.lower()}-")
    manifest = reread(content, stem)
    if manifest is None or manifest.id != entry.id:
        return None
    return Output(
        path=entry.path,
        manifest=manifest,
        spec=entry.spec,
        source=own[0].source,
        spec_digest=entry.spec_digest,
        externals=own[0].externals,
        compiled=entry.compiled,
        reused=content,
    )


def _refused(
    reused: Sequence[Output], entries: Sequence[Entry], own: Sequence[Output], base: Base | None
) -> dict[str, Finding]:
    """Return SP519, by path, for each file that prevents the reuse of a spec's run.

    These are files that are neither the compiled ones nor accepted, and files of the base commit that are missing.
    `reused` are the committed files as outputs, in the order of `entries`; `own` are the compiled outputs of the spec.
    """
    found = {
        entry.path: acceptance.refusal(entry, output.manifest, own, base)
        for entry, output in zip(entries, reused, strict=True)
        if output.reused
    }
    return {path: refusal for path, refusal in found.items() if refusal} | acceptance.gaps(reused, own, base)


def _changed_by_hand(tree: OutputFolder, path: str) -> Diagnostic:
    message = (
        "This file belongs to a run that is reused while its spec does not change, but it is missing or not what the"
        " last command wrote. The run is compiled anew."
    )
    hint = (
        "Restore the file from Git if the run must go on as it is. To run again, give `stowplan.dev/run` another value."
    )
    return diagnose_at(paths.location(tree.root, path), finding("SP513", (), message, hint))
