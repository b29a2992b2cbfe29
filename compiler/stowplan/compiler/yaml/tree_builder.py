"""Build the values of one YAML document from libyaml's events, without recursion.

Aliases, merge keys and tags mean what they mean to kubectl (`decode.go` of go.yaml.in/yaml/v2 v2.4.4). Values behind an
alias are shared, not copied: nothing may change the data below a value.
"""

import math
import sys
from collections.abc import Callable, Mapping

import yaml

from stowplan.compiler.diagnostics.document import Data
from stowplan.compiler.diagnostics.locations import Mark
from stowplan.compiler.yaml import lookalikes, scalars
from stowplan.compiler.yaml.open_collections import Anchored, OpenList, OpenMapping, Value
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
    """Builds the values of one document from its events, which `feed` gets in order.

    Positions are offsets in the text that the events are about, because few of them are ever asked for; `mark` returns
    line and column of one. `found` are findings with their positions. `stopped` is True after a limit was exceeded;
    then no more events may be fed.
    """

    def __init__(self, mark: Callable[[int], Mark]) -> None:
        self.found: list[tuple[int, Finding]] = []
        self.stopped = False
        self._mark = mark
        self._open: list[OpenList | OpenMapping] = []
        self._anchors: dict[str, Anchored | OpenList | OpenMapping] = {}
        self._count = 0
        self._root: Value | None = None
        self._alias_failed = False

    @property
    def root(self) -> Value | None:
        """The root after the last event of the document; None before that, or if an alias is invalid."""
        return None if self._alias_failed else self._root

    def feed(self, event: yaml.Event) -> None:
        """Process one event between the start and the end of the document."""
        if isinstance(event, yaml.CollectionEndEvent):
            self._end()
            return
        at: int = event.start_mark.index  # type: ignore[union-attr]  # libyaml gives one to each event
        if self._counts_too_many(1, at):
            return
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, at)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._start(event, at)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(str(event.anchor), at)

    def _scalar(self, event: yaml.ScalarEvent, at: int) -> None:
        parent = self._open[-1] if self._open else None
        key = isinstance(parent, OpenMapping) and parent.entry is None
        text = event.value
        if isinstance(parent, OpenMapping) and key and _merges(event):
            self._begin_merge(parent, at)
            return
        if event.tag is None and event.implicit[0] and not text.isascii():
            self._look_closely(text, at, key=key)
        value = Value(self._value(event, at), at, self._key_at(at))
        if event.anchor is not None:
            self._anchors[event.anchor] = Anchored(value, 1, 0)
        self._put(value, 1, 0, text)

    def _look_closely(self, text: str, at: int, *, key: bool) -> None:
        """Report an unquoted string, a key or a value, with a character that was meant to be a quote or a blank."""
        character = lookalikes.stray(text, key=key)
        if character is not None:
            self.found.append((at, lookalikes.problem(character, (*self._path(), text) if key else self._path())))

    def _value(self, event: yaml.ScalarEvent, at: int) -> Data:
        if event.tag is None and not event.implicit[0]:
            return event.value
        if event.tag is None:
            value = scalars.plain(event.value)
        else:
            value, fits = scalars.tagged(event.value, event.tag)
            if not fits:
                self._refuse_tag(event.tag, f'"{shown(event.value)}"', at)
        if isinstance(value, float) and not math.isfinite(value):
            message = f"Found {event.value}, which JSON cannot write, and so neither can Kubernetes."
            self._find("SP110", at, message, "Give a finite number, or put a string in quotes.")
            return event.value
        return value

    def _alias(self, name: str, at: int) -> None:
        target = self._anchors.get(name)
        spelled = f"*{name}"
        if isinstance(target, Anchored):
            if self._counts_too_many(target.size - 1, at) or self._is_too_deep(target.height, at):
                return
            value = Value(target.value.data, at, self._key_at(at), target.value.children)
            self._put(value, target.size, target.height, spelled)
            return
        if target is None:
            message = f"The alias {shown(spelled)} names no anchor above it in this document."
            hint = f"Set the anchor first with {shown(f'&{name}')}, or put a string in quotes."
            self._find("SP101", at, message, hint)
        else:
            message = f"The alias {shown(spelled)} lies inside of its own anchor, so it never ends."
            self._find("SP107", at, message, "Write out what is meant.")
        self._alias_failed = True
        self._put(Value(None, at, self._key_at(at)), 1, 0, spelled)

    def _start(self, event: yaml.CollectionStartEvent, at: int) -> None:
        if self._is_too_deep(1, at):
            return
        kind, what, tag = (
            (OpenList, "a list", "seq")
            if isinstance(event, yaml.SequenceStartEvent)
            else (OpenMapping, "a mapping", "map")
        )
        if event.tag not in {None, "!", scalars.TAG + tag}:
            self._refuse_tag(str(event.tag), what, at)
        opened = kind(at, self._key_at(at), event.anchor)
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
        value = Value(data, opened.at, opened.key_at, opened.children)
        if opened.anchor is not None and self._anchors[opened.anchor] is opened:
            self._anchors[opened.anchor] = Anchored(value, opened.size, opened.height)
        self._put(value, opened.size, opened.height, "")

    def _put(self, value: Value, size: int, height: int, spelled: str) -> None:
        """Add a finished value to the innermost open collection; without one, it is the root.

        `size` and `height` of the value are as for `Anchored`. `spelled` is how the user wrote it, for messages about a
        key; it is empty for a collection.
        """
        if not self._open:
            self._root = value
            return
        parent = self._open[-1]
        parent.size += size
        if height >= parent.height:
            parent.height = height + 1
        if isinstance(parent, OpenList):
            parent.children.append(value)
        elif parent.entry is None:
            self._put_key(parent, value, spelled)
        else:
            self._put_value(parent, value)

    def _put_key(self, parent: OpenMapping, value: Value, spelled: str) -> None:
        parent.entry = value.at
        if not isinstance(value.data, str):
            self._refuse_key(value, spelled)
            return
        parent.key = sys.intern(value.data)  # thousands of specs have the same keys
        earlier = parent.children.get(value.data)
        if earlier is not None:
            self._refuse_duplicate(value.data, value.at, earlier.key_at, "Remove one of the two.")

    def _put_value(self, parent: OpenMapping, value: Value) -> None:
        if parent.merging:
            parent.merged = self._mergeable(value)
        elif parent.key is not None:
            parent.children[parent.key] = value
        parent.entry, parent.key, parent.merging = None, None, False

    def _begin_merge(self, parent: OpenMapping, at: int) -> None:
        if parent.merge_at is not None:
            self._refuse_duplicate(_MERGE, at, parent.merge_at, 'Merge several mappings with "<<: [*a, *b]".')
        parent.entry, parent.merging = at, True
        parent.merge_at, parent.before_merge = at, frozenset(parent.children)

    def _mergeable(self, value: Value) -> list[Mapping[str, Value]]:
        sources = value.children if isinstance(value.children, list) else [value]
        maps = [source.children for source in sources if not isinstance(source.children, list)]
        if all(isinstance(source.data, dict) for source in sources):
            return maps
        message = 'The merge key "<<" takes a mapping or a list of mappings.'
        self._find("SP110", value.at, message, 'Name an anchored mapping: "<<: *defaults".')
        return []

    def _merge(self, mapping: OpenMapping) -> None:
        """Add the entries of merged mappings whose keys the mapping lacks; of several merged mappings the first wins.

        In YAML a key that is written in the mapping wins at any position. In kubectl the later key wins, so a key
        before the merge key gets a warning.
        """
        for source in mapping.merged:
            for key, child in source.items():
                if key in mapping.before_merge and mapping.merge_at is not None:
                    self._warn_of_order(key, mapping.merge_at, mapping.children[key].key_at)
                mapping.children.setdefault(key, child)

    def _warn_of_order(self, key: str, merge: int, written: int) -> None:
        message = (
            f'The merge brings the key "{shown(key)}", which is already at {self._shown(written)}. The written value'
            " counts here; kubectl takes the merged one."
        )
        hint = 'Put "<<" first in its mapping, where both agree.'
        self._find("SP102", merge, message, hint, path=(key,), severity=Severity.WARNING)

    def _key_at(self, at: int) -> int:
        """Return the offset of the key of a value at `at`; `at` itself for list items, keys and the root."""
        parent = self._open[-1] if self._open else None
        return parent.entry if isinstance(parent, OpenMapping) and parent.entry is not None else at

    def _counts_too_many(self, more: int, at: int) -> bool:
        self._count += more
        if self._count > MAX_NODES:
            message = f"The document holds more than {MAX_NODES:,} values, counting the values that aliases repeat."
            self._find("SP107", at, message, "Split the document, or use fewer aliases.")
            self.stopped = True
        return self.stopped

    def _is_too_deep(self, more: int, at: int) -> bool:
        if len(self._open) + more > MAX_DEPTH:
            message = f"Mappings and lists nest more than {MAX_DEPTH} deep here."
            found = finding("SP106", self._path()[:_PATH_SHOWN], message, _TOO_DEEP)
            self.found.append((at, found))
            self.stopped = True
        return self.stopped

    def _refuse_key(self, value: Value, spelled: str) -> None:
        message, hint = (
            f"A key must be a string; this one is {named(value.data)}.",
            f'Put it in quotes: "{shown(spelled)}".',
        )
        if isinstance(value.data, dict | list):
            hint = 'Put a string that begins with "{" or "[" in quotes; let a template engine write the file first.'
        elif isinstance(value.data, bool | int):
            message += f' kubectl would make it "{str(value.data).lower()}".'
        self._find("SP103", value.at, message, hint)

    def _refuse_duplicate(self, key: str, at: int, earlier: int, hint: str) -> None:
        message = f'The key "{shown(key)}" is here and at {self._shown(earlier)}; a mapping holds each key once.'
        self._find("SP102", at, message, hint)

    def _refuse_tag(self, tag: str, what: str, at: int) -> None:
        short = f"!!{tag.removeprefix(scalars.TAG)}" if tag.startswith(scalars.TAG) else tag
        message = f"The tag {shown(short)} has no meaning for {what}."
        self._find("SP110", at, message, f"Remove the tag. Those known are {_TAGS}.")

    def _find(
        self, code: str, at: int, message: str, hint: str, *, path: FieldPath = (), severity: Severity | None = None
    ) -> None:
        self.found.append((at, finding(code, self._path() + path, message, hint, severity=severity)))

    def _shown(self, at: int) -> str:
        mark = self._mark(at)
        return f"{mark.line}:{mark.column}"

    def _path(self) -> FieldPath:
        """The path of the value or key that is being read."""
        parts = [len(opened.children) if isinstance(opened, OpenList) else opened.key for opened in self._open]
        return tuple(part for part in parts if part is not None)


def _merges(event: yaml.ScalarEvent) -> bool:
    return event.value == _MERGE and (event.implicit[0] or event.tag == scalars.MERGE_TAG)
