"""The committed output: the output of the last command, as far as this command needs it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from stowplan.compiler.committed.objects import body_of, unlisted
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.output.folder import Files, OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Compared:
    """The output since which changes count, and its objects that belong to no present spec."""

    inventory: Inventory
    files: Files
    gone: tuple[Entry, ...]
    """Entries of specs that no longer exist."""
    strays: Mapping[ObjectId, Json]
    """Bodies of the objects of the `gone` entries, and of generated files that the inventory does not list."""

    @classmethod
    def of(cls, inventory: Inventory, files: Files, specs: Collection[SpecId]) -> "Compared":
        """Collect the objects of an output. `specs` are all specs that exist now."""
        lost = sorted(spec for spec in inventory.by_spec.keys() - {*specs} if spec is not None)
        gone = tuple(entry for spec in lost for entry in inventory.by_spec[spec])
        strays = {entry.id: body for entry in gone if (body := body_of(entry, files)) is not None}
        for lost_id, body in unlisted(inventory, files):
            strays.setdefault(lost_id, body)
        return cls(inventory, files, gone, strays)

    def listed(self, specs: Iterable[SpecId | None]) -> Inventory:
        """Return the inventory of these specs; None stands for the objects that belong to no spec."""
        return Inventory(_entries(self.inventory, specs))


@dataclass(frozen=True, slots=True)
class Committed:
    """The inventory of the committed output, whose runs are reused, and the output with which changes are compared.

    Both are the same without a base commit. With one, the changes are those since the merge base, so that an author
    who has compiled before and the CI that has not say the same about them.
    """

    inventory: Inventory
    tree: OutputFolder
    compared: Compared
    base: Base | None = None
    """The runs that the base commit vouches for; None without a base commit."""

    @classmethod
    def of(
        cls, inventory: Inventory, tree: OutputFolder, specs: Collection[SpecId], base: Base | None = None
    ) -> "Committed":
        """Collect the committed output.

        `tree` lists the output folder, `specs` are all specs that exist now. `base` has the runs of the base commit;
        None without one.
        """
        since = base.since if base else None
        compared = Compared.of(since.inventory, since.files, specs) if since else Compared.of(inventory, tree, specs)
        return cls(inventory, tree, compared, base)

    def entries(self, specs: Iterable[SpecId | None]) -> tuple[Entry, ...]:
        """Return the inventory entries of these specs; None stands for the objects that belong to no spec."""
        return _entries(self.inventory, specs)


def _entries(inventory: Inventory, specs: Iterable[SpecId | None]) -> tuple[Entry, ...]:
    return tuple(entry for spec in specs for entry in inventory.by_spec.get(spec, ()))
