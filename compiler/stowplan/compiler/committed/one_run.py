"""The committed run of one spec, in place of the compiled one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from stowplan.compiler.checks.objects.pods import images_of
from stowplan.compiler.committed import acceptance
from stowplan.compiler.committed.cache_nodes import larger_cache, ordinals
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.compiler.kubernetes.fields import identity
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.output.read_back import reread
from stowplan.compiler.output.render import Renderings
from stowplan.library.builders.pods import agent_pod
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Manifest
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class RunChoice:
    """What the choice between committed and compiled runs depends on, for all specs.

    `fixed` are the paths of all outputs that are compiled outside of runs. `tree` lists the output folder. `base` holds
    the runs of the base commit; None if there is none. What is wrong is added to `problems`.
    """

    fixed: Collection[str]
    tree: OutputFolder
    renderings: Renderings
    base: Base | None
    problems: list[Diagnostic]

    def written(self, own: Sequence[OutputFile], committed: Sequence[Entry], *, changed: bool) -> list[OutputFile]:
        """Return the outputs `own` of one spec, with the committed run in place of the compiled one if it is reused.

        `own` is not empty. `committed` are the entries of the spec in the inventory. Without `changed`, a committed run
        of which the spec has changed since is never reused.
        """
        tree, renderings, spec = self.tree, self.renderings, own[0].spec
        entries = _run(committed, own, self.fixed, changed=changed)
        found = {entry.path: _committed(entry, own, tree, renderings) for entry in entries}
        lost = [path for path, output in found.items() if output is None]
        self.problems.extend(_changed_by_hand(tree, path) for path in lost)
        runs = [output for output in found.values() if output]
        if lost or self._same(runs, own):
            return larger_cache.warmed_again(own, own, committed, self.tree)
        runs = _of_present_nodes(runs, own, renderings)
        refused = _refused(runs, entries, own, self.base)
        if spec is not None and not refused:
            refused = _local(spec, runs, own)
        self.problems.extend(diagnose_at(paths.location(tree.root, path), each) for path, each in refused.items())
        written = [output for output in own if not output.manifest.run] + runs
        return larger_cache.warmed_again(written, own, committed, self.tree)

    def _same(self, runs: Sequence[OutputFile], own: Sequence[OutputFile]) -> bool:
        """Whether the committed files of a run equal the compiled ones, and no Job would be added to it.

        A newer compiler may compile a further Job, such as a warmup, which must not start for a run that is over. A
        file of a Job that is there is only missing in the inventory.
        """
        known = {output.path for output in runs}
        further = (each for each in own if each.manifest.run and each.manifest.kind in STARTING_KINDS)
        there = (each.path in known or self.tree.read(each.path) is not None for each in further)
        return not runs or (not any(output.reused for output in runs) and all(there))


def _run(entries: Sequence[Entry], own: Sequence[OutputFile], fixed: Collection[str], *, changed: bool) -> list[Entry]:
    """Return the inventory entries of a spec's committed run; empty if it has none, or if the spec has changed since.

    With `changed`, a change of the spec does not matter.

    `entries` are all entries of the spec, `own` its compiled outputs. `fixed` are the paths of all outputs that are
    compiled outside of runs. A committed file belongs to the run also if only the new output counts it as part of it,
    because the Jobs of the run use that file.
    """
    digests = own[0].digests
    joined = {output.path for output in own if output.manifest.run}
    run = [entry for entry in entries if (entry.run or entry.path in joined) and entry.path not in fixed]
    unchanged = changed or all(entry.spec_digest in digests for entry in run)
    return run if any(digests) and any(entry.run for entry in run) and unchanged else []


def _committed(
    entry: Entry, own: Sequence[OutputFile], tree: OutputFolder, renderings: Renderings
) -> OutputFile | None:
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
    body = reread(content)
    if body is None or identity(body) != entry.id:
        return None
    stem = PurePosixPath(entry.path).stem.removeprefix(f"{entry.id.kind.lower()}-")
    return OutputFile(
        path=entry.path,
        manifest=Manifest(body, stem, run=True),
        spec=entry.spec,
        source=own[0].source,
        # Known by its old digest, it is that of the present spec; else the spec has changed, and the run stays its own.
        spec_digest=own[0].spec_digest if entry.spec_digest in own[0].digests else entry.spec_digest,
        content_digest=own[0].content_digest,
        externals=own[0].externals,
        compiled=entry.compiled,
        reused=content,
    )


def _of_present_nodes(run: Sequence[OutputFile], own: Sequence[OutputFile], renderings: Renderings) -> list[OutputFile]:
    """Return the files of a committed run for the cache nodes that its dataset has now, see `ordinals`.

    `own` are the compiled outputs of the spec. A file that was added for a node, and that would be added again, counts
    as compiled.
    """
    gone = ordinals.removed([each.path for each in run], own)
    kept = [each for each in run if each.path not in gone]
    again = [(each, ordinals.as_added(each, kept, own) if each.reused else None) for each in kept]
    found = [
        same if same and (file := renderings.find(same)) and file.content == each.reused else each
        for each, same in again
    ]
    return [*found, *ordinals.added(found, own)]


def _refused(
    reused: Sequence[OutputFile], entries: Sequence[Entry], own: Sequence[OutputFile], base: Base | None
) -> dict[str, Finding]:
    """Return SP519, by path, for each file that prevents the reuse of a spec's run.

    These are files that are neither the compiled ones nor accepted, and files of the base commit that are missing.
    `reused` are the files of the run, of which `entries` lists the committed ones; `own` are the compiled outputs of
    the spec.
    """
    by_path = {entry.path: entry for entry in entries}
    found = {
        output.path: acceptance.refusal(by_path[output.path], output.manifest, own, base)
        for output in reused
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


def _local(spec: SpecId, run: Sequence[OutputFile], own: Sequence[OutputFile]) -> dict[str, Finding]:
    """Return SP543, by path, for each reused file with a local image in a run of `spec`.

    `own` are the compiled outputs of the spec. Empty if these have local images too.
    """
    if any(map(_local_images, own)):
        return {}
    found = {output.path: _local_images(output) for output in run if output.reused}
    return {path: _built_here(spec, images[0]) for path, images in found.items() if images}


def _local_images(output: OutputFile) -> list[str]:
    """Return the agent images of an object that no registry has."""
    return list(filter(agent_pod.is_local, images_of(output.manifest.body)))


def _built_here(spec: SpecId, image: str) -> Finding:
    message = (
        f"This run of {spec} is reused as it was compiled, with the image {image}, which no registry has: its pods"
        " would never start. The platform file names a registry by now."
    )
    hint = (
        f'Compile the run anew with `stowplan synth --recompile "{spec}"`, or all runs with `--recompile all`; their'
        " Jobs start again. A spec whose work is done can be removed."
    )
    return finding("SP543", (), message, hint)
