"""The output as a process that goes on has left it: nobody has to look at it again as long as nobody changes it."""

from collections.abc import Iterable, Mapping, Sequence

from stowplan.compiler.output.folder import Seen, Tree, seen_at
from stowplan.compiler.output.inventory import NAME, Inventory
from stowplan.compiler.output.inventory_lines import from_lines, has_no_spec
from stowplan.compiler.output.render import Rendered
from stowplan.schema.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """The folder, the bytes of its inventory, and the lines of these by path.

    `rest` are paths that no spec made. `seen` is what the inventory looked like.
    """

    tree: Tree
    inventory: bytes
    lines: Mapping[str, str]
    rest: tuple[str, ...]
    seen: Seen

    @classmethod
    def of_run(cls, tree: Tree, content: bytes, files: Sequence[Rendered], previous: Inventory) -> "Standing":
        """What a run left that wrote `files` beside those that stayed of the `previous` inventory, which specs made."""
        rest = tuple(file.path for file in files if has_no_spec(file.line))
        lines = {**previous.unread, **{file.path: file.line for file in files}}
        seen = seen_at(tree.root / NAME)
        return cls(tree if previous.unread else tree.named_by(lines), content, lines, rest, seen)

    def lasts(self) -> bool:
        """Whether no other run has written an inventory since."""
        return seen_at(self.tree.root / NAME) == self.seen

    def beside(self, gone: Iterable[str]) -> Inventory:
        """The inventory, of which entries stay unread but those of `gone` paths and of what no spec made."""
        unread = dict(self.lines)
        others = [unread.pop(path).encode() for path in sorted({*gone, *self.rest})]
        entries = tuple(entry for _, entry in from_lines(others) if entry)
        return Inventory(entries, content=self.inventory, unread=unread)
