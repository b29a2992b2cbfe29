"""The committed output: the output of the last command, as far as this command needs it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from stowplan.compiler.committed.objects import body_of, unlisted
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Committed:
    """The inventory of the committed output, and the objects that belong to no present spec."""

    inventory: Inventory
    tree: OutputFolder
    gone: tuple[Entry, ...] = ()
    """Entries of specs that no longer exist."""
    strays: Mapping[ObjectId, Json] = field(default_factory=dict)
    """Bodies of the objects of the `gone` entries, and of generated files that the inventory does not list."""
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
        lost = sorted(spec for spec in inventory.by_spec.keys() - {*specs} if spec is not None)
        gone = tuple(entry for spec in lost for entry in inventory.by_spec[spec])
        strays = {entry.id: body for entry in gone if (body := body_of(entry, tree)) is not None}
        for lost_id, body in unlisted(inventory, tree):
            strays.setdefault(lost_id, body)
        return cls(inventory, tree, gone, strays, base)

    def entries(self, specs: Iterable[SpecId | None]) -> tuple[Entry, ...]:
        """Return the inventory entries of these specs; None stands for the objects that belong to no spec."""
        return tuple(entry for spec in specs for entry in self.inventory.by_spec.get(spec, ()))
