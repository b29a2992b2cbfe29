"""Whether a committed file of a run is accepted in place of the file that the specs compile to now.

Anyone who can write a spec can also write `out/` and its inventory, so an inventory entry proves nothing. A file that
differs from the compiled one is accepted only if it has the form of a run's file and the base commit has it. Without
a base commit, it is accepted if another version of Stowplan or another platform file can have compiled it.
"""

from collections.abc import Iterator, Mapping, Sequence

from stowplan.compiler.committed.cache_nodes import ordinals
from stowplan.compiler.committed.vouching import RUN_KINDS, Base, Voucher
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.output.paths import spec_folder
from stowplan.library.manifest import Manifest
from stowplan.library.values import labels
from stowplan.library.values.names import without_hash
from stowplan.schema.diagnostics import Finding, Severity, finding
from stowplan.schema.meta import SpecId


def refusal(entry: Entry, manifest: Manifest, fresh: Sequence[OutputFile], base: Base | None) -> Finding | None:
    """Return SP519 for a committed file that is not accepted; None if it is.

    `entry` is the file's line in the inventory, `manifest` the object in the file. `fresh` are the outputs to which its
    spec compiles now, at least one. `base` holds the runs of the base commit; None if there is no base commit. Raises
    `ValueError` if the outputs belong to no spec.
    """
    spec = fresh[0].spec
    if spec is None:
        raise ValueError(f"{entry.path} belongs to no spec, so to no run")
    runs = {output.path: output for output in fresh if output.manifest.run}
    if reason := next(_misfits(entry, manifest, spec, runs), ""):
        hint = f"Remove it from the inventory and the output, or {_recompile(spec)}."
        return _finding(f"This file cannot belong to the run of {spec}: {reason}.", hint, base)
    if base:
        known = Voucher.of(entry)
        vouched = any(
            known._replace(spec_digest=each) in base.vouchers for each in (known.spec_digest, *fresh[0].digests)
        )
        return None if vouched else _finding(_NOT_IN_BASE.format(base.revision), _way_out(spec, base), base)
    same = runs.get(entry.path)
    if same is None:
        return _finding(_NO_COUNTERPART.format(spec), _way_out(spec, None), None)
    if entry.compiled and (entry.compiled, entry.spec_digest) == (same.compiled, same.spec_digest):
        return _finding(_NOT_COMPILED, _way_out(spec, None), None)
    return None


def gaps(reused: Sequence[OutputFile], fresh: Sequence[OutputFile], base: Base | None) -> dict[str, Finding]:
    """Return SP519, by path, for each file of a spec's run that the base commit has and the reused run lacks.

    `reused` are the committed files, `fresh` the outputs to which the spec compiles now, at least one. Empty if `base`
    is None, which means that there is no base commit.
    """
    spec = fresh[0].spec
    if base is None or spec is None:
        return {}
    present = {*(output.path for output in reused), *(output.path for output in fresh if not output.manifest.run)}
    known = frozenset().union(*(base.paths.get((spec, each), frozenset()) for each in fresh[0].digests))
    missing = sorted(known - present - ordinals.removed(known, fresh))
    return {path: _finding(_GAP.format(base.revision, spec), _way_out(spec, base), base) for path in missing}


_GAP = (
    "The base commit {} has this file of the run of {}, and the output does not. A run is reused as a whole or not at"
    " all."
)
_NOT_IN_BASE = (
    "This file belongs to a run that is reused, but it is neither what the specs compile to now nor what the base"
    " commit {} has."
)
_NO_COUNTERPART = (
    "This file belongs to a run that is reused, but {} no longer compiles to such a file, and no base commit vouches"
    " for it."
)
_NOT_COMPILED = (
    "The inventory says that this very version of Stowplan compiled this file from this very platform file, but it is"
    " not what they compile to, and no base commit vouches for it."
)


def _way_out(spec: SpecId, base: Base | None) -> str:
    first = (
        f"Restore the file and its line of the inventory from {base.revision}"
        if base
        else "To keep it, name a commit that has it and was reviewed, as in `--base origin/main`"
    )
    return f"{first}; or {_recompile(spec)}."


def _recompile(spec: SpecId) -> str:
    return f"compile the run anew with `stowplan synth --recompile '{spec}'`, which starts a new run"


def _finding(message: str, hint: str, base: Base | None) -> Finding:
    return finding("SP519", (), message, hint, severity=base.severity if base else Severity.ERROR)


def _misfits(entry: Entry, manifest: Manifest, spec: SpecId, runs: Mapping[str, OutputFile]) -> Iterator[str]:
    """Yield the reasons, as parts of a sentence, why a file cannot belong to the run of a spec; none if it can.

    `entry` and `manifest` are those of the file. `runs` are the compiled outputs of the run by path.
    """
    known, same = entry.id, runs.get(entry.path)
    if (known.group, known.kind) not in RUN_KINDS:
        yield f"runs hold no objects of the kind {known.kind} ({known.group or 'core'})"
    namespaces = sorted({spec.namespace, *(output.id.namespace for output in runs.values())})
    if known.namespace not in namespaces:
        yield f"its namespace is {known.namespace or 'empty'}, and that of the run is {' or '.join(namespaces)}"
    folder, _, file = entry.path.rpartition("/")
    home, start = f"{known.namespace}/{spec_folder(spec)}", f"{known.kind.lower()}-"
    if folder != home or not (file.startswith(start) and file.endswith(".yaml")):
        yield f"it does not lie at {home}/{start}….yaml"
    own = manifest.body["metadata"].get("labels", {})
    for key, value in labels.spec_selector(spec).items():
        if own.get(key) != value:
            yield f"it lacks the label {key}: {value}"
    if same and same.id.group != known.group:
        yield f"its group is {known.group}, and that of the run's {same.id.kind} is {same.id.group}"
    stem = without_hash(known.name)
    if stem == known.name or (same and stem != without_hash(same.id.name)):
        yield f"its name {known.name} is not that of an object of the run with another hash"
