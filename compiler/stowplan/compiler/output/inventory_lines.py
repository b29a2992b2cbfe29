"""Entries of the inventory, and the line of text that each one is: a JSON object, its keys sorted, in ASCII."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from stowplan.compiler.output import paths
from stowplan.library.manifest import ExternalReference
from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import ObjectId, SpecId

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Entry(NamedTuple):
    """One file that a run wrote. `sha256` and `size` (bytes) are those of the whole file, header included.

    `compiled` says what compiled a file of a run (see `compiler_mark`). It is empty in inventories of version 0.1.0.
    """

    path: str
    id: ObjectId
    sha256: str
    size: int
    spec: SpecId | None
    spec_digest: str
    wave: int
    run: bool
    externals: tuple[ExternalReference, ...] = ()
    compiled: str = ""


def to_line(entry: Entry) -> str:
    """The line of an entry, without a line break."""
    path, (group, kind, namespace, name), sha256, size, spec, digest, wave, run, externals, compiled = entry
    first = f'"compiled": {_quoted(compiled)}, ' if compiled else ""
    return (
        f'{{{first}"externals": {_externals(externals) if externals else "[]"}, "id": {{"group": {_quoted(group)},'
        f' "kind": {_quoted(kind)}, "name": {_quoted(name)}, "namespace": {_quoted(namespace)}}},'
        f' "path": {_quoted(path)}, "run": {"true" if run else "false"}, "sha256": {_quoted(sha256)}, "size": {size},'
        f' "spec": {_spec(spec)}, "spec_digest": {_quoted(digest)}, "wave": {wave}}}'
    )


def path_of(line: str) -> str:
    """The path in a line as `to_line` writes it; empty where its form is not that simple."""
    found = _PATH.search(line)
    return found[1] if found else ""


def has_no_spec(line: str) -> bool:
    """Whether a line as `to_line` writes it is that of a file which no spec made: in names, quotes are escaped."""
    return '"spec": null, "spec_digest": ' in line


_PATH = re.compile(r'\}, "path": "([ !#-\[\]-~]*)", "run": ')


@lru_cache(1000)
def _externals(externals: tuple[ExternalReference, ...]) -> str:
    return f"[{', '.join(_external(each) for each in externals)}]"


def _external(each: ExternalReference) -> str:
    keys = ", ".join(_quoted(key) for key in each.keys)
    named = f'"name": {_quoted(each.name)}, "namespace": {_quoted(each.namespace)}'
    return f'{{"keys": [{keys}], "kind": {_quoted(each.kind)}, {named}}}'


@lru_cache(1000)
def _spec(spec: SpecId | None) -> str:
    if spec is None:
        return "null"
    kind, namespace, name = spec
    return f'{{"kind": {_quoted(kind)}, "name": {_quoted(name)}, "namespace": {_quoted(namespace)}}}'


def from_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, Entry | None]]:
    """Number and entry of each line; None for one that is no entry, or whose path leads elsewhere. Never raises.

    Lines may end in a line break; empty ones are left out, but counted.

    A line is JSON with the types of `Entry` and no others; further keys are passed over. One that is as we write it,
    which nearly all are, is read by its form alone.
    """
    specs: dict[str, SpecId | None] = {}
    references: dict[str, tuple[ExternalReference, ...]] = {}
    usual = _USUAL.fullmatch
    for number, line in enumerate(lines, first):
        text = line.rstrip(b"\n").decode("latin-1")
        found = usual(text)
        if found is None:
            if text:
                yield number, _from_json(line)
            continue
        compiled, externals, group, kind, name, namespace, path, run, sha256, size, spec, digest, wave = found.groups()
        if externals not in references:
            references[externals] = _read_externals(externals)
        if spec not in specs:
            specs[spec] = _read_spec(spec)
        known = _new(ObjectId, (intern(group), intern(kind), intern(namespace), name))
        own = path, known, sha256, int(size), specs[spec], intern(digest), int(wave), run == "true"
        yield number, _new(Entry, (*own, references[externals], intern(compiled or "")))


_new = tuple.__new__
"""Makes a named tuple in a third of the time that its class takes: there may be tens of thousands of lines."""

# Text as we quote it where nothing in it had to be escaped. What is written in another way is read as JSON.
_TEXT = r"[ !#-\[\]-~]*"
_PART = r"[ !#-\-0-\[\]-~][ !#-.0-\[\]-~]*"
_INTEGER = r"-?[1-9][0-9]{0,17}|0"
_SPEC = rf'\{{"kind": "{_TEXT}", "name": "{_TEXT}", "namespace": "{_TEXT}"\}}'
_REFERENCE = (
    rf'\{{"keys": \[((?:"{_TEXT}"(?:, "{_TEXT}")*)?)\],'
    rf' "kind": "({_TEXT})", "name": "({_TEXT})", "namespace": "({_TEXT})"\}}'
)
_PLAIN_REFERENCE = _REFERENCE.replace("((?:", "(?:(?:").replace("(" + _TEXT + ")", _TEXT)
_USUAL = re.compile(
    rf'\{{(?:"compiled": "({_TEXT})", )?"externals": (\[(?:{_PLAIN_REFERENCE}(?:, {_PLAIN_REFERENCE})*)?\]),'
    rf' "id": \{{"group": "({_TEXT})", "kind": "({_TEXT})", "name": "({_TEXT})", "namespace": "({_TEXT})"\}},'
    rf' "path": "({_PART}(?:/{_PART})*)", "run": (true|false), "sha256": "({_TEXT})", "size": ({_INTEGER}),'
    rf' "spec": (null|{_SPEC}), "spec_digest": "({_TEXT})", "wave": ({_INTEGER})\}}'
)
_QUOTED = re.compile(rf'"({_TEXT})"')
_KEYS_OF_REFERENCE = re.compile(_REFERENCE)


def _read_externals(text: str) -> tuple[ExternalReference, ...]:
    found = (each.groups() for each in _KEYS_OF_REFERENCE.finditer(text))
    return tuple(
        ExternalReference(kind, namespace, name, tuple(_QUOTED.findall(keys))) for keys, kind, name, namespace in found
    )


def _read_spec(text: str) -> SpecId | None:
    if text == "null":
        return None
    kind, name, namespace = _QUOTED.findall(text)[1::2]
    return SpecId(kind, namespace, name)


@dataclass(frozen=True)
class _Spec:
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True)
class _Object(_Spec):
    group: str


@dataclass(frozen=True)
class _Reference(_Spec):
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Record:
    path: str
    id: _Object
    sha256: str
    size: int
    spec: _Spec | None
    spec_digest: str
    wave: int
    run: bool
    externals: tuple[_Reference, ...] = ()
    compiled: str = ""


def _from_json(line: bytes) -> Entry | None:
    try:
        found = _record().validate_json(line, strict=True)
    except ValueError:
        return None
    if not paths.safe(found.path):
        return None
    known, spec = found.id, found.spec
    return Entry(
        found.path,
        ObjectId(known.group, known.kind, known.namespace, known.name),
        found.sha256,
        found.size,
        SpecId(spec.kind, spec.namespace, spec.name) if spec else None,
        found.spec_digest,
        found.wave,
        found.run,
        tuple(ExternalReference(each.kind, each.namespace, each.name, each.keys) for each in found.externals),
        found.compiled,
    )


@cache
def _record() -> "TypeAdapter[_Record]":
    from pydantic import TypeAdapter  # noqa: PLC0415 - start-up time

    return TypeAdapter(_Record)
