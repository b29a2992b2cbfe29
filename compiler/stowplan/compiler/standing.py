"""The output as a process that goes on has left it: nobody has to look at it again as long as nobody changes it."""

from collections.abc import Mapping, Sequence, Set

from stowplan.compiler.entries import from_lines
from stowplan.compiler.inventory import Inventory
from stowplan.compiler.render import Rendered
from stowplan.compiler.tree import Tree
from stowplan.schema.records import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """The folder, the bytes of its inventory, and the lines of these by path."""

    tree: Tree
    inventory: bytes
    lines: Mapping[str, str]

    @classmethod
    def of_run(cls, tree: Tree, content: bytes, files: Sequence[Rendered], previous: Inventory) -> "Standing":
        """What a run left that wrote `files` beside those that stayed of the `previous` inventory."""
        return cls(tree, content, {**previous.unread, **{file.path: file.line for file in files}})

    def beside(self, known: Set[str]) -> Inventory:
        """The inventory, of which the entries of `known` paths stay unread."""
        unread = dict(self.lines)
        others = [unread.pop(path).encode() for path in sorted(self.lines.keys() - known)]
        entries = tuple(entry for _, entry in from_lines(others) if entry)
        return Inventory(entries, content=self.inventory, unread=unread)
