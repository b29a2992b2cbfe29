"""`synth --check`: is the output folder what the specs compile to, and if not, where does it differ?"""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

from stowplan.compiler import inventory, paths
from stowplan.compiler.emitter import visible
from stowplan.compiler.inventory import Inventory
from stowplan.compiler.plan import Change, plan
from stowplan.compiler.render import Rendered
from stowplan.compiler.source import Report
from stowplan.compiler.tree import Tree, scan
from stowplan.compiler.write import observations, unusable
from stowplan.schema.records import dataclass

_LARGEST = 1 << 19
"""Bytes of a file above which its diff is left out: `difflib` takes time that grows with the square."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that is not what it should be. `edited` says that it is not what the last run wrote either.

    `diff` holds the lines of a unified diff from the committed file to what the specs compile to.
    """

    path: str
    edited: bool
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How an output folder differs from what the specs compile to; paths are sorted.

    `foreign` names what is in the way of a file (SP508) or was left alone (SP512, SP517); the latter alone is no
    difference.
    """

    missing: tuple[str, ...] = ()
    changed: tuple[Difference, ...] = ()
    stale: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    blocked: bool = False

    @property
    def same(self) -> bool:
        """Whether `synth` would change nothing."""
        return not (self.missing or self.changed or self.stale or self.blocked)

    def lines(self) -> Iterator[str]:
        """The differences for people: first the files, then the diffs."""
        for word, names in (("missing", self.missing), ("stale", self.stale), ("foreign", self.foreign)):
            yield from (f"{word}: {visible(name)}" for name in names)
        for difference in self.changed:
            yield f"{'edited by hand' if difference.edited else 'changed'}: {difference.path}"
        for difference in self.changed:
            yield from ("", *difference.diff) if difference.diff else ()


def compare(files: Sequence[Rendered], out: Path, previous: Inventory, report: Report) -> Comparison:
    """What `write` would do to `out`. Changes nothing and takes no lock; diagnostics as `write` gives them."""
    problems = paths.diagnostics(files)
    report.add(*problems)
    if problems:
        return Comparison(blocked=True)
    digests = {entry.path: entry.sha256 for entry in previous.entries}
    try:
        tree = scan(out)
        planned = plan(files, tree, previous)
        changed = tuple(_difference(change, digests, tree) for change in planned.changes if not change.new)
    except OSError as error:
        report.add(unusable(out, error))
        return Comparison(blocked=True)
    report.add(*observations(planned, out))
    return Comparison(
        missing=tuple(change.path for change in planned.changes if change.new),
        changed=changed,
        stale=planned.stale,
        foreign=tuple(sorted({*planned.blocked, *planned.disowned, *planned.orphaned, *planned.intruders})),
        blocked=bool(planned.blocked or planned.lost),
    )


def _difference(change: Change, digests: dict[str, str], tree: Tree) -> Difference:
    before = tree.read(change.path) or b""
    edited = change.path in digests and sha256(before).hexdigest() != digests[change.path]
    return Difference(change.path, edited, tuple(_diff(change.path, before, bytes(change.after))))


def _diff(path: str, before: bytes, after: bytes) -> Iterator[str]:
    if path == inventory.NAME:
        return
    if max(len(before), len(after)) > _LARGEST:
        yield f"{path}: too large to compare line by line: {len(before)} bytes here, {len(after)} bytes compiled"
        return
    here, compiled = _shown(before), _shown(after)
    yield from unified_diff(here, compiled, f"committed/{path}", f"compiled/{path}", lineterm="")


def _shown(content: bytes) -> list[str]:
    """Lines without anything that could steer a terminal: the committed file may hold what it likes."""
    *lines, rest = content.decode("utf-8", "backslashreplace").split("\n")
    return [visible(line) for line in lines] + ([visible(rest), "\\ no line end here"] if rest else [])
