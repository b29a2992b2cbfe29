"""Reuse of committed runs: an unchanged spec reuses the committed manifests of its Jobs.

Training that took days must not start again because Stowplan or an agent image is newer. While the digest of a spec
equals the one in the inventory, its run manifests (Jobs, and objects named after their hash) are copied from the
committed files, byte for byte.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stowplan.compiler.committed import copies
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.one_run import RunChoice
from stowplan.compiler.committed.recompile import Recompile
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.output.render import Renderings
from stowplan.library.builders import gate
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Reused:
    """The result of `reuse`: the outputs, sorted by path, with committed runs in place of compiled ones."""

    outputs: tuple[OutputFile, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def reuse(
    outputs: Sequence[OutputFile],
    previous: Inventory,
    committed: Committed,
    renderings: Renderings,
    *,
    kept: Collection[SpecId] = (),
) -> Reused:
    """Replace the compiled run manifests of unchanged specs with the committed ones.

    `previous` is the inventory of the `committed` output as far as it may be reused. The runs of the specs in `kept`
    are reused although the specs have changed, or were to be compiled again.

    All files of a spec's run are reused, or none: if one is missing or differs from the inventory (SP513), a Job and
    its ConfigMap might no longer match. None is reused if all equal the compiled files, unless further Jobs are
    compiled, which must not start. Files outside runs are always the compiled ones. The copies of a training job's
    outputs are reused in the same way, but apart from its run.

    A reused file that is not accepted (see `acceptance`) is SP519: an error, since neither reusing the file nor
    starting a new run is safe. A reused file with an image that no registry has is SP543.
    """
    fixed = {output.path for output in outputs if not output.manifest.run}
    chosen: list[OutputFile] = []
    choice = RunChoice(fixed, committed.tree, renderings, committed.base, problems=[])
    for spec, own in by_spec(outputs).items():
        renewed = spec is None or (committed.recompile.covers(spec) and spec not in kept)
        before = [] if renewed else previous.by_spec.get(spec, ())
        (rest, copying), (entries, copied) = copies.apart(own), copies.apart(before)
        written = choice.written(rest, entries, changed=spec in kept)
        chosen += written
        if copying or copied:
            run = copies.run_of(written)
            copying = copies.following_run(copying, copies.run_of(rest), run)
            of_run = copied if run in {entry.id for entry in entries} else []
            chosen += copies.written(copying, of_run, own, choice, changed=spec in kept)
    ordered = tuple(sorted(chosen, key=lambda output: (output.path, output.manifest.id)))
    return Reused(ordered, tuple(choice.problems))


class Start(NamedTuple):
    """A Job or JobSet that starts after a sync. `after` names the specs it waits for; empty if it waits for none."""

    run: ObjectId
    after: str

    def line(self, target: str = "") -> str:
        """Return what people read about the start, in an environment or cluster if it is named."""
        place = f" in {target}" if target else ""
        return (
            f"starts after {self.after}{place}: {self.run}" if self.after else f"starts when synced{place}: {self.run}"
        )


def starts(outputs: Sequence[OutputFile], previous: Mapping[ObjectId, Json]) -> tuple[Start, ...]:
    """Return the Jobs and JobSets that start when the outputs are synced, sorted: new ones, and resumed ones.

    Those that wait for a gate are among them, gates are not. `previous` holds the bodies of the committed objects.
    """
    made = (output.manifest for output in outputs if output.manifest.run and output.manifest.kind in STARTING_KINDS)
    runs = [run for run in made if not gate.is_gate(run.body)]
    idle = (run for run in runs if run.id not in previous or _suspended(previous[run.id]))
    return tuple(sorted(Start(run.id, gate.waits(run.body)) for run in idle if not _suspended(run.body)))


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
    return bool((body.get("spec") or {}).get("suspend")) and not gate.waits(body)


def by_spec(outputs: Sequence[OutputFile]) -> dict[SpecId | None, list[OutputFile]]:
    """Return the outputs of each spec; under None, those of no spec."""
    groups: defaultdict[SpecId | None, list[OutputFile]] = defaultdict(list)
    for output in outputs:
        groups[output.spec].append(output)
    return groups
