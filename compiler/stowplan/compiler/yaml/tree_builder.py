"""Build the nodes of one YAML document from libyaml's events, without recursion.

Aliases, merge keys and tags mean what they mean to kubectl (`decode.go` of go.yaml.in/yaml/v2 v2.4.4). Nodes behind an
alias are shared, not copied: nothing may change the data below a node.
"""

import math
from collections.abc import Callable

import yaml

from stowplan.compiler.diagnostics.document import Data, Node
from stowplan.compiler.diagnostics.locations import Mark
from stowplan.compiler.yaml import lookalikes, scalars
from stowplan.compiler.yaml.open_collections import Anchored, OpenList, OpenMapping
from stowplan.compiler.yaml.wording import named, shown
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding

MAX_DEPTH = 64
"""Maximum nesting of collections. Kubernetes' own types nest about 20 deep; Python's recursion fails near 1,000."""

MAX_NODES = 50_000
"""Maximum number of values in a document; values that aliases repeat count again. Objects in etcd have far fewer."""

_PATH_SHOWN = 8
_TOO_DEEP = 'Look for stray "[", "{" and "-"; no spec needs this depth.'
_MERGE = "<<"
_TAGS = "!!str, !!int, !!float, !!bool, !!null, !!timestamp, !!map, !!seq and !!merge"


class TreeBuilder:
    """Builds the nodes of one document from its events, which `feed` gets in order.

    `place` returns the position where an event begins. `found` are findings with their positions. `stopped` is True
    after a limit was exceeded; then no more events may be fed.
    """

    def __init__(self, place: Callable[[yaml.Event], Mark]) -> None:
        self.found: list[tuple[Mark, Finding]] = []
        self.stopped = False
        self._place = place
        self._open: list[OpenList | OpenMapping] = []
        self._anchors: dict[str, Anchored | OpenList | OpenMapping] = {}
        self._count = 0
        self._root: Node | None = None
        self._alias_failed = False

    @property
    def root(self) -> Node | None:
        """The root node after the last event of the document; None before that, or if an alias is invalid."""
        return None if self._alias_failed else self._root

    def feed(self, event: yaml.Event) -> None:
        """Process one event between the start and the end of the document."""
        if isinstance(event, yaml.CollectionEndEvent):
            self._end()
            return
        mark = self._place(event)
        if self._counts_too_many(1, mark):
            return
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, mark)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._start(event, mark)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(str(event.anchor), mark)

    def _scalar(self, event: yaml.ScalarEvent, mark: Mark) -> None:
        parent = self._open[-1] if self._open else None
        key = isinstance(parent, OpenMapping) and parent.entry is None
        text = event.value
        if isinstance(parent, OpenMapping) and key and _merges(event):
            self._begin_merge(parent, mark)
            return
        if event.tag is None and event.implicit[0] and not text.isascii():
            self._look_closely(text, mark, key=key)
        node = Node(self._value(event, mark), mark, self._key_mark(mark))
        if event.anchor is not None:
            self._anchors[event.anchor] = Anchored(node, 1, 0)
        self._put(node, 1, 0, text)

    def _look_closely(self, text: str, mark: Mark, *, key: bool) -> None:
        """Report an unquoted string, a key or a value, with a character that was meant to be a quote or a blank."""
        character = lookalikes.stray(text, key=key)
        if character is not None:
            self.found.append((mark, lookalikes.problem(character, (*self._path(), text) if key else self._path())))

    def _value(self, event: yaml.ScalarEvent, mark: Mark) -> Data:
        if event.tag is None and not event.implicit[0]:
            return event.value
        if event.tag is None:
            value = scalars.plain(event.value)
        else:
            value, fits = scalars.tagged(event.value, event.tag)
            if not fits:
                self._refuse_tag(event.tag, f'"{shown(event.value)}"', mark)
        if isinstance(value, float) and not math.isfinite(value):
            message = f"Found {event.value}, which JSON cannot write, and so neither can Kubernetes."
            self._find("SP110", mark, message, "Give a finite number, or put a string in quotes.")
            return event.value
        return value

    def _alias(self, name: str, mark: Mark) -> None:
        target = self._anchors.get(name)
        spelled = f"*{name}"
        if isinstance(target, Anchored):
            if self._counts_too_many(target.size - 1, mark) or self._is_too_deep(target.height, mark):
                return
            node = Node(target.node.data, mark, self._key_mark(mark), target.node.children)
            self._put(node, target.size, target.height, spelled)
            return
        if target is None:
            message = f"The alias {shown(spelled)} names no anchor above it in this document."
            hint = f"Set the anchor first with {shown(f'&{name}')}, or put a string in quotes."
            self._find("SP101", mark, message, hint)
        else:
            message = f"The alias {shown(spelled)} lies inside of its own anchor, so it never ends."
            self._find("SP107", mark, message, "Write out what is meant.")
        self._alias_failed = True
        self._put(Node(None, mark, self._key_mark(mark)), 1, 0, spelled)

    def _start(self, event: yaml.CollectionStartEvent, mark: Mark) -> None:
        if self._is_too_deep(1, mark):
            return
        kind, what, tag = (
            (OpenList, "a list", "seq")
            if isinstance(event, yaml.SequenceStartEvent)
            else (OpenMapping, "a mapping", "map")
        )
        if event.tag not in {None, "!", scalars.TAG + tag}:
            self._refuse_tag(str(event.tag), what, mark)
        opened = kind(mark, self._key_mark(mark), event.anchor)
        if event.anchor is not None:
            self._anchors[event.anchor] = opened
        self._open.append(opened)

    def _end(self) -> None:
        opened = self._open[-1]
        data: Data
        if isinstance(opened, OpenList):
            data = [child.data for child in opened.children]
        else:
            self._merge(opened)
            data = {key: child.data for key, child in opened.children.items()}
        self._open.pop()
        node = Node(data, opened.mark, opened.key_mark, opened.children)
        if opened.anchor is not None and self._anchors[opened.anchor] is opened:
            self._anchors[opened.anchor] = Anchored(node, opened.size, opened.height)
        self._put(node, opened.size, opened.height, "")

    def _put(self, node: Node, size: int, height: int, spelled: str) -> None:
        """Add a finished node to the innermost open collection; without one, it is the root.

        `size` and `height` of the node are as for `Anchored`. `spelled` is the node as the user wrote it, for messages
        about a key; it is empty for a collection.
        """
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        parent.size += size
        if height >= parent.height:
            parent.height = height + 1
        if isinstance(parent, OpenList):
            parent.children.append(node)
        elif parent.entry is None:
            self._put_key(parent, node, spelled)
        else:
            self._put_value(parent, node)

    def _put_key(self, parent: OpenMapping, node: Node, spelled: str) -> None:
        parent.entry = node.mark
        if not isinstance(node.data, str):
            self._refuse_key(node, spelled)
            return
        parent.key = node.data
        earlier = parent.children.get(node.data)
        if earlier is not None:
            self._refuse_duplicate(node.data, node.mark, earlier.key_mark, "Remove one of the two.")

    def _put_value(self, parent: OpenMapping, node: Node) -> None:
        if parent.merging:
            parent.merged = self._mergeable(node)
        elif parent.key is not None:
            parent.children[parent.key] = node
        parent.entry, parent.key, parent.merging = None, None, False

    def _begin_merge(self, parent: OpenMapping, mark: Mark) -> None:
        if parent.merge_mark is not None:
            self._refuse_duplicate(_MERGE, mark, parent.merge_mark, 'Merge several mappings with "<<: [*a, *b]".')
        parent.entry, parent.merging = mark, True
        parent.merge_mark, parent.before_merge = mark, frozenset(parent.children)

    def _mergeable(self, node: Node) -> list[dict[str, Node]]:
        sources = node.children if isinstance(node.children, list) else [node]
        maps = [source.children for source in sources if isinstance(source.children, dict)]
        if all(isinstance(source.data, dict) for source in sources):
            return maps
        message = 'The merge key "<<" takes a mapping or a list of mappings.'
        self._find("SP110", node.mark, message, 'Name an anchored mapping: "<<: *defaults".')
        return []

    def _merge(self, mapping: OpenMapping) -> None:
        """Add the entries of merged mappings whose keys the mapping lacks; of several merged mappings the first wins.

        In YAML a key that is written in the mapping wins at any position. In kubectl the later key wins, so a key
        before the merge key gets a warning.
        """
        for source in mapping.merged:
            for key, child in source.items():
                if key in mapping.before_merge and mapping.merge_mark is not None:
                    self._warn_of_order(key, mapping.merge_mark, mapping.children[key].key_mark)
                mapping.children.setdefault(key, child)

    def _warn_of_order(self, key: str, merge: Mark, written: Mark) -> None:
        message = (
            f'The merge brings the key "{shown(key)}", which is already at {_at(written)}. The written value counts'
            " here; kubectl takes the merged one."
        )
        hint = 'Put "<<" first in its mapping, where both agree.'
        self._find("SP102", merge, message, hint, path=(key,), severity=Severity.WARNING)

    def _key_mark(self, mark: Mark) -> Mark:
        """Return the position of the key of a value at `mark`; `mark` itself for list items, keys and the root."""
        parent = self._open[-1] if self._open else None
        return (parent.entry or mark) if isinstance(parent, OpenMapping) else mark

    def _counts_too_many(self, more: int, mark: Mark) -> bool:
        self._count += more
        if self._count > MAX_NODES:
            message = f"The document holds more than {MAX_NODES:,} values, counting the values that aliases repeat."
            self._find("SP107", mark, message, "Split the document, or use fewer aliases.")
            self.stopped = True
        return self.stopped

    def _is_too_deep(self, more: int, mark: Mark) -> bool:
        if len(self._open) + more > MAX_DEPTH:
            message = f"Mappings and lists nest more than {MAX_DEPTH} deep here."
            found = finding("SP106", self._path()[:_PATH_SHOWN], message, _TOO_DEEP)
            self.found.append((mark, found))
            self.stopped = True
        return self.stopped

    def _refuse_key(self, node: Node, spelled: str) -> None:
        message, hint = (
            f"A key must be a string; this one is {named(node.data)}.",
            f'Put it in quotes: "{shown(spelled)}".',
        )
        if isinstance(node.data, dict | list):
            hint = 'Put a string that begins with "{" or "[" in quotes; let a template engine write the file first.'
        elif isinstance(node.data, bool | int):
            message += f' kubectl would make it "{str(node.data).lower()}".'
        self._find("SP103", node.mark, message, hint)

    def _refuse_duplicate(self, key: str, mark: Mark, earlier: Mark, hint: str) -> None:
        message = f'The key "{shown(key)}" is here and at {_at(earlier)}; a mapping holds each key once.'
        self._find("SP102", mark, message, hint)

    def _refuse_tag(self, tag: str, what: str, mark: Mark) -> None:
        short = f"!!{tag.removeprefix(scalars.TAG)}" if tag.startswith(scalars.TAG) else tag
        message = f"The tag {shown(short)} has no meaning for {what}."
        self._find("SP110", mark, message, f"Remove the tag. Those known are {_TAGS}.")

    def _find(
        self, code: str, mark: Mark, message: str, hint: str, *, path: FieldPath = (), severity: Severity | None = None
    ) -> None:
        self.found.append((mark, finding(code, self._path() + path, message, hint, severity=severity)))

    def _path(self) -> FieldPath:
        """The path of the value or key that is being read."""
        parts = [len(opened.children) if isinstance(opened, OpenList) else opened.key for opened in self._open]
        return tuple(part for part in parts if part is not None)


def _merges(event: yaml.ScalarEvent) -> bool:
    return event.value == _MERGE and (event.implicit[0] or event.tag == scalars.MERGE_TAG)


def _at(mark: Mark) -> str:
    return f"{mark.line}:{mark.column}"
