"""Comparison of the output folder with the compiled specs, for `synth --check`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

from stowplan.compiler.diagnostics.escaping import logged, visible
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import OutputFolder, scan
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.output.render import Rendered
from stowplan.compiler.output.write import observations, unusable
from stowplan.compiler.output.write_plan import FileChange, plan
from stowplan.schema.diagnostics import Severity

_LARGEST = 1 << 19
"""Size in bytes above which a file's diff is omitted: the time of `difflib` grows with the square."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that differs from the compiled one. `edited`: it also differs from the file that the last command wrote.

    `diff`: the lines of a unified diff from the committed file to the compiled one.
    """

    path: str
    edited: bool
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """Differences between an output folder and the compiled specs; paths are sorted.

    `stale`: files that `synth` would remove. `foreign`: files and folders that `synth` would neither write nor remove.
    They block an output (SP508), are not in the inventory or lost the header (SP512), or no spec compiles to them
    (SP517, SP518, SP537). `blocked` is True if `synth` would write nothing, or if the folder cannot be read.
    """

    missing: tuple[str, ...] = ()
    changed: tuple[Difference, ...] = ()
    stale: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    blocked: bool = False

    @property
    def same(self) -> bool:
        """Whether the folder has all compiled files and nothing else."""
        return not (self.missing or self.changed or self.stale or self.foreign or self.blocked)

    @property
    def remedy(self) -> str:
        """A sentence that says how the user resolves the differences. `synth` never removes foreign files."""
        steps = ["remove the foreign entries"] if self.foreign else []
        if self.missing or self.changed or self.stale or not steps:
            steps.append("run `stowplan synth`")
        steps.append("commit the result")
        text = f"{', '.join(steps[:-1])} and {steps[-1]}"
        return f"{text[0].upper()}{text[1:]}."

    def lines(self) -> Iterator[str]:
        """Yield the differences as lines for people: first the paths of the files, then the diffs."""
        for word, names in (("missing", self.missing), ("stale", self.stale), ("foreign", self.foreign)):
            yield from (f"{word}: {visible(name)}" for name in names)
        for difference in self.changed:
            yield f"{'edited by hand' if difference.edited else 'changed'}: {visible(difference.path)}"
        for difference in self.changed:
            yield from ("", *difference.diff) if difference.diff else ()


def compare(files: Sequence[Rendered], out: Path, previous: Inventory, report: Report) -> OutputComparison:
    """Return the changes that `write` would make in the folder `out`. Nothing is changed, and no lock is taken.

    `previous` is the inventory of the output folder.

    The diagnostics are those of `write`, but all are errors: Argo CD may read the files that `write` leaves alone.
    """
    problems = paths.diagnostics(files)
    report.add(*problems)
    if problems:
        return OutputComparison(blocked=True)
    digests = {entry.path: entry.sha256 for entry in previous.entries}
    try:
        tree = scan(out)
        planned = plan(files, tree, previous)
        changed = tuple(_difference(change, digests, tree) for change in planned.changes if not change.new)
    except OSError as error:
        report.add(unusable(out, error))
        return OutputComparison(blocked=True)
    report.add(*(replace(each, severity=Severity.ERROR) for each in observations(planned, out)))
    return OutputComparison(
        missing=tuple(change.path for change in planned.changes if change.new),
        changed=changed,
        stale=tuple(sorted({*planned.stale, *tree.leftovers})),
        foreign=planned.foreign,
        blocked=bool(planned.blocked or planned.lost),
    )


def _difference(change: FileChange, digests: dict[str, str], tree: OutputFolder) -> Difference:
    before = tree.read(change.path) or b""
    edited = change.path in digests and sha256(before).hexdigest() != digests[change.path]
    return Difference(change.path, edited, tuple(_diff(change.path, before, change.after)))


def _diff(path: str, before: bytes, after: bytes) -> Iterator[str]:
    if is_inventory(path):
        return
    name = visible(path)
    if max(len(before), len(after)) > _LARGEST:
        yield f"{name}: too large to compare line by line: {len(before)} bytes here, {len(after)} bytes compiled"
        return
    here, compiled = _shown(before), _shown(after)
    yield from unified_diff(here, compiled, f"committed/{name}", f"compiled/{name}", lineterm="")


def _shown(content: bytes) -> list[str]:
    """Return the lines of a file with control characters escaped, because anyone may have edited the file."""
    *lines, rest = content.decode("utf-8", "backslashreplace").split("\n")
    return [logged(line) for line in lines] + ([logged(rest), "\\ no line end here"] if rest else [])
