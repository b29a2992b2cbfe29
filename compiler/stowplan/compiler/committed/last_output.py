"""The committed output: the output of the last command, as far as this command needs it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from stowplan.compiler.committed.objects import body_of, unlisted
from stowplan.compiler.committed.recompile import Recompile
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.output import inventory as inventories
from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import OutputFiles, OutputFolder, seen
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import OLD
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Compared:
    """The output since which changes count, and its objects that belong to no present spec."""

    inventory: Inventory
    files: OutputFiles
    gone: tuple[Entry, ...]
    """Entries of specs that no longer exist."""
    strays: Mapping[ObjectId, Json]
    """Bodies of the objects of the `gone` entries, and of generated files that the inventory does not list."""

    @classmethod
    def of(cls, inventory: Inventory, files: OutputFiles, specs: Collection[SpecId]) -> "Compared":
        """Collect the objects of an output. `specs` are all specs that exist now."""
        lost = sorted(spec for spec in inventory.by_spec.keys() - {*specs} if spec is not None)
        gone = tuple(entry for spec in lost for entry in inventory.by_spec[spec])
        strays = {entry.id: body for entry in gone if (body := body_of(entry, files)) is not None}
        for lost_id, body in unlisted(inventory, files):
            strays.setdefault(lost_id, body)
        return cls(inventory, files, gone, strays)


@dataclass(frozen=True, slots=True)
class Committed:
    """The inventory of the committed output, whose runs are reused, and the output with which changes are compared.

    Both are the same without a base commit. With one, the changes are those since the merge base, so that an author
    who has compiled before and the CI that has not say the same about them. `base` are the runs that the base commit
    vouches for; None without a base commit. The runs of the specs in `recompile` are not reused. `broken` are the
    diagnostics about the inventory itself.
    """

    inventory: Inventory
    tree: OutputFolder
    compared: Compared
    base: Base | None
    recompile: Recompile
    broken: tuple[Diagnostic, ...]

    @classmethod
    def read(cls, out: Path, specs: Collection[SpecId], base: Base | None, recompile: Recompile) -> "Committed":
        """Read the committed output in the folder `out`. `specs` are all specs that exist now. Raises `OSError`."""
        (inventory, broken), tree = inventories.read(out), seen(out)
        since = base.since if base else None
        compared = Compared.of(since.inventory, since.files, specs) if since else Compared.of(inventory, tree, specs)
        return cls(inventory, tree, compared, base, recompile, tuple(broken))

    @property
    def fingerprint(self) -> str:
        """A digest of what is committed of specs, equal for equal outputs of two clusters; empty if it cannot be read.

        Files that Argo CD alone reads differ between clusters, and the inventory lists those too.
        """
        tree = self.tree
        digest = sha256("\n".join(each.line for each in self.inventory.entries if _of_specs(each.path)).encode())
        digest.update(f"\n{self.inventory.complete} {sorted(filter(_of_specs, tree.folders | tree.empty))}".encode())
        try:
            for path in sorted(filter(_of_specs, tree.files)):
                digest.update(f"\n{path}\n".encode() + sha256(tree.read(path) or b"").digest())
        except OSError:
            return ""
        return "" if any(map(_of_specs, tree.others | tree.leftovers)) else digest.hexdigest()


def _of_specs(path: str) -> bool:
    return path.partition("/")[0] not in (paths.ARGOCD, paths.INVENTORY, OLD)
