"""A run is compiled once: unchanged specs keep the committed manifests of their Jobs.

Training that took days must not start again because Stowplan or an agent image is newer. So while the digest of a
spec is that of the inventory, its run manifests (Jobs and what is named after their hash) are taken from the
committed files, byte for byte.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from stowplan.compiler.committed import acceptance
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
    """Which specs are compiled anew although they have not changed: all, or those named.

    A spec is named `imagenet`, `ml/imagenet` or `SampleSet ml/imagenet`.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()

    def covers(self, spec: SpecId) -> bool:
        """Whether `spec` is among them."""
        return self.everything or not self.names.isdisjoint(_names(spec))

    def unknown(self, specs: Collection[SpecId]) -> list[str]:
        """The names that no spec has, sorted."""
        return sorted(self.names.difference(*(_names(spec) for spec in specs)))


@dataclass(frozen=True, slots=True)
class Kept:
    """The outputs, sorted by path, with committed runs put in."""

    outputs: tuple[Output, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def keep(
    outputs: Sequence[Output],
    previous: Inventory,
    tree: OutputFolder,
    recompile: Recompile,
    renderings: Renderings,
    *,
    base: Base | None = None,
) -> Kept:
    """Put the committed run manifests of unchanged specs in place of those compiled now.

    All files of a spec's run are kept, or none: where one is missing or is not what the inventory says (SP513), a Job
    and its ConfigMap might no longer fit. None is kept where all of them are what is compiled now. Files that are no
    part of a run are always those compiled now.

    A kept file that is not accepted (see `acceptance`) is SP519: an error, since neither to keep the file nor to start
    the run anew is safe.
    """
    committed = _committed(previous)
    fixed = {output.path for output in outputs if not output.manifest.run}
    chosen: list[Output] = []
    problems: list[Diagnostic] = []
    for spec, own in _by_spec(outputs).items():
        entries = [] if spec is None or recompile.covers(spec) else _run(committed.get(spec, []), own, fixed)
        found = {entry.path: _kept(entry, own, tree, renderings) for entry in entries}
        lost = [path for path, output in found.items() if output is None]
        problems += [_changed_by_hand(tree, path) for path in lost]
        runs = [output for output in found.values() if output]
        # A run whose files are all as they are compiled now is the present one, with whatever else belongs to it.
        keeps = not lost and any(output.kept for output in runs)
        refused = _refused(runs, entries, own, base) if keeps else {}
        problems += [diagnose_at(paths.location(tree.root, path), each) for path, each in refused.items()]
        chosen += [output for output in own if not (keeps and output.manifest.run)] + (runs if keeps else [])
    ordered = tuple(sorted(chosen, key=lambda output: (output.path, output.manifest.id)))
    return Kept(ordered, tuple(problems))


def starts(outputs: Sequence[Output], previous: Mapping[ObjectId, Json]) -> tuple[ObjectId, ...]:
    """The Jobs and JobSets that start when the outputs are synced: new ones, and those suspended before; sorted.

    `previous` holds the objects that the last run wrote.
    """
    runs = (output.manifest for output in outputs if output.manifest.run and output.manifest.kind in STARTING_KINDS)
    idle = (run for run in runs if run.id not in previous or _suspended(previous[run.id]))
    return tuple(sorted(run.id for run in idle if not _suspended(run.body)))


def without_recompiled(
    previous: Mapping[ObjectId, Json], inventory: Inventory, recompile: Recompile
) -> Mapping[ObjectId, Json]:
    """The objects that the last run wrote without runs that were asked to be renewed: their replacement is meant.

    What the inventory does not list has no spec; it belongs to those asked for where all are.
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


def _committed(previous: Inventory) -> Mapping[SpecId, list[Entry]]:
    entries: defaultdict[SpecId, list[Entry]] = defaultdict(list)
    for entry in previous.entries:
        if entry.spec is not None:
            entries[entry.spec].append(entry)
    return entries


def _by_spec(outputs: Sequence[Output]) -> dict[SpecId | None, list[Output]]:
    groups: defaultdict[SpecId | None, list[Output]] = defaultdict(list)
    for output in outputs:
        groups[output.spec].append(output)
    return groups


def _run(entries: list[Entry], own: list[Output], fixed: set[str]) -> list[Entry]:
    """The committed run of a spec; empty where it had none, or where the spec has changed since.

    What only became part of the run by a newer compiler belongs to the old run too: it is in use.
    """
    digest = own[0].spec_digest
    joined = {output.path for output in own if output.manifest.run}
    run = [entry for entry in entries if (entry.run or entry.path in joined) and entry.path not in fixed]
    kept = bool(digest) and any(entry.run for entry in run) and all(entry.spec_digest == digest for entry in run)
    return run if kept else []


def _kept(entry: Entry, own: list[Output], tree: OutputFolder, renderings: Renderings) -> Output | None:
    """The committed file as an output, or None where it is not what the inventory says."""
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
        kept=content,
    )


def _refused(
    kept: Sequence[Output], entries: Sequence[Entry], own: Sequence[Output], base: Base | None
) -> dict[str, Finding]:
    """SP519 by path: for each kept file that is neither as it is compiled now nor accepted, and for each that lacks."""
    found = {
        entry.path: acceptance.refusal(entry, output.manifest, own, base)
        for entry, output in zip(entries, kept, strict=True)
        if output.kept
    }
    return {path: refusal for path, refusal in found.items() if refusal} | acceptance.gaps(kept, own, base)


def _changed_by_hand(tree: OutputFolder, path: str) -> Diagnostic:
    message = (
        "This file belongs to a run that is kept while its spec does not change, but it is missing or not what the"
        " last run wrote. The run is compiled anew."
    )
    hint = "Restore the file from Git if the run must go on as it is. To run again, bump `stowplan.dev/run`."
    return diagnose_at(paths.location(tree.root, path), finding("SP513", (), message, hint))
