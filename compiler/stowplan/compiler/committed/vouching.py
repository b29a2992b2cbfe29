"""Runs that a base commit vouches for: the files of runs in this commit that match its inventory.

A base commit was reviewed and merged, such as the tip of the target branch of a pull request. When it was merged, each
of its runs was either compiled at that time, or in the base commit of that time.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.git import commit
from stowplan.compiler.output import inventory
from stowplan.compiler.output.folder import StoredFiles
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import ObjectId, SpecId

RUN_KINDS = frozenset(
    (
        ("", "ConfigMap"),
        ("", "Service"),
        ("networking.k8s.io", "NetworkPolicy"),
        ("rbac.authorization.k8s.io", "Role"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
        *((kind.group, kind.kind) for kind in ENGINE_KINDS),
    )
)
"""Group and kind of all objects that runs may have. No other committed objects are ever reused."""


class Voucher(NamedTuple):
    """A file that a base commit has: its object, content and spec, without its path, so that files may move."""

    id: ObjectId
    sha256: str
    spec: SpecId | None
    spec_digest: str

    @classmethod
    def of(cls, entry: Entry) -> "Voucher":
        return cls(entry.id, entry.sha256, entry.spec, entry.spec_digest)


@dataclass(frozen=True, slots=True)
class Since:
    """The output with which a change began: that of the merge base of the present commit and the base commit."""

    inventory: Inventory
    files: StoredFiles


@dataclass(frozen=True, slots=True)
class Base:
    """The runs in the output folder of the commit `revision`.

    `paths` are the paths of each run, by spec and spec digest. `severity` is the severity of SP519 for runs that are
    neither compiled now nor in the commit.
    """

    revision: str
    vouchers: frozenset[Voucher]
    paths: Mapping[tuple[SpecId | None, str], frozenset[str]] = field(default_factory=dict)
    severity: Severity = Severity.ERROR
    since: Since | None = None
    """The output since which changes count; None for the output folder as it is."""


def at_commit(top: Path, out: Path, revision: str) -> Base:
    """Return the runs in the folder `out` of the commit `revision`; none if the commit lacks it. Raises `GitError`.

    `top` is the top folder of the Git work tree.
    """
    folder = commit.at_commit(top, out, revision)
    listed = folder.read(filter(is_inventory, folder.blobs))
    kinds = [entry.path for entry in _entries(listed) if (entry.id.group, entry.id.kind) in RUN_KINDS]
    found = list(_sound(listed | folder.read(kinds)))
    paths: defaultdict[tuple[SpecId | None, str], set[str]] = defaultdict(set)
    for entry in found:
        if entry.run:
            paths[entry.spec, entry.spec_digest].add(entry.path)
    own = {run: frozenset(each) for run, each in paths.items()}
    return Base(revision, frozenset(map(Voucher.of, found)), own, since=_since(top, out, revision))


def _since(top: Path, out: Path, revision: str) -> Since:
    folder = commit.at_commit(top, out, commit.merge_base(top, revision))
    files = folder.read(folder.blobs)
    return Since(
        inventory.parse({path: each for path, each in files.items() if is_inventory(path)}, out)[0], StoredFiles(files)
    )


def vouchers(files: Mapping[str, bytes]) -> frozenset[Voucher]:
    """Return a voucher for each file of an output folder that matches the inventory in it.

    `files` are the contents of the folder by path.
    """
    return frozenset(map(Voucher.of, _sound(files)))


def _sound(files: Mapping[str, bytes]) -> Iterator[Entry]:
    for entry in _entries(files):
        if entry.path in files and sha256(files[entry.path]).hexdigest() == entry.sha256:
            yield entry


def _entries(files: Mapping[str, bytes]) -> tuple[Entry, ...]:
    """Return the entries of all files of the inventory; a path may be in several of them."""
    each = (inventory.parse({path: content}, Path())[0] for path, content in files.items() if is_inventory(path))
    return tuple(entry for found in each for entry in found.entries)
