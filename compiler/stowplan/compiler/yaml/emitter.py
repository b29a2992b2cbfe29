"""The YAML emitter: converts plain data to YAML that all readers parse alike.

Readers differ: kubectl and Argo CD use go-yaml, which follows YAML 1.1 in places; PyYAML follows 1.1, ruamel 1.2.
A string is plain only if all of them read the same string. A float always has a point and a signed exponent (PyYAML
reads `1e+21` as a string). A long key has the explicit form (the specification lets a reader stop looking for the
colon after 1024 characters). The output has no anchors, tags, folded strings or line breaks inside quotes. A string of
several lines is a literal block if it has no invisible characters, else quoted.

The layout is kubectl's: two spaces, and the dashes of a list below the first letter of its key.
"""

import re
from collections.abc import Callable
from functools import cached_property
from itertools import repeat
from math import isfinite
from types import NoneType
from typing import Any

from stowplan.compiler.diagnostics.escaping import HIDDEN, escape

_PLAIN = re.compile(
    r"""
    (?: [A-Za-z0-9_./$(^+] | -(?=[A-Za-z0-9_./-]) )     # no indicator at the start
    [!-9;-~]*                                           # ASCII; no ": ", no " #", no blank at the end
    (?: (?: :(?=[!-~]) | [ ](?=[!-"$-~]) ) [!-9;-~]* )*
    """,
    re.VERBOSE,
)
_WORDS = frozenset(("y", "yes", "n", "no", "on", "off", "true", "false", "null", "inf", "nan"))
_NUMBERS = re.compile(
    r"""
      [-+.]+(?:inf|nan)
    | [-+._:,0-9]+                                      # 012, 1_000, 12:30, 2020-01-01, 1.2, "."
    | [-+.]*[0-9][-+._:,0-9a-foxptz ]*                  # 1e3, 0x1F, 0o17, 2020-01-01T10:00:00Z
    | (?:---|\.\.\.).*                                  # ends a document where it stands in the first column
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ESCAPED = re.compile(rf'["\\\x00-\x1f{HIDDEN}]')
_NOT_LITERAL = re.compile(rf"\A[ \t\n]|[ \t]$|[\x00-\x08\x0b-\x1f{HIDDEN}]", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SKIP_MARKER = "+argocd:skip-file-rendering"
_LONGEST_KEY = 1000
_LONGEST_CACHED = 100  # an escape has up to ten characters, so a cached key is never in the explicit form
_MOST_CACHED = 10_000
"""Maximum number of cached strings: names differ from spec to spec, and a repository may have many specs."""
_MOST_SHAPES = 1000
_MOST_KEYS = 50
"""Maximum number of keys in a cached set; `_MOST_SHAPES` is the maximum number of sets in a margin."""


def emit(body: dict[str, Any]) -> str:
    """Return `body` as block-style YAML that ends in a newline; `{}` for an empty one.

    Keys come in the order `apiVersion, kind, metadata`, in `metadata` in the order `name, namespace, labels,
    annotations`, and all others sorted by code point. Anything but plain data is a compiler bug: raises `TypeError` for
    another type, `ValueError` for a number that is not finite and for a string that no encoding can write (a lone
    surrogate).
    """
    if not body:
        return "{}\n"
    out: list[str] = []
    _entries(body, _TOP, out)
    out.append("\n")
    return "".join(out)[1:]


def quoted(text: str) -> str:
    """Return a string as YAML on one line: without quotes where that is safe, else in double quotes.

    Raises `ValueError` for a lone surrogate.
    """
    if _PLAIN.fullmatch(text) and not _is_reserved(text) and _SKIP_MARKER not in text:
        return text
    if _SURROGATE.search(text):
        raise ValueError("a string holds a lone surrogate, which no encoding can write")
    # Argo CD skips every file that contains its marker anywhere, even inside a value
    # (`skipFileRenderingMarker` in reposerver/repository/repository.go).
    return f'"{_ESCAPED.sub(escape, text)}"'.replace(_SKIP_MARKER, rf"\u002b{_SKIP_MARKER[1:]}")


def _is_reserved(text: str) -> bool:
    """Whether a reader would parse the unquoted string as another type."""
    return text.lower() in _WORDS if text[0].isalpha() else _NUMBERS.fullmatch(text) is not None


def _entries(mapping: dict[str, Any], margin: "_Margin", out: list[str]) -> None:
    """Append the entries of a mapping to `out`, each after a line break.

    `margin` gives the start of each line; the first line may begin with the dash of a list item.
    """
    append = out.append
    for key, start, below in margin[(*mapping,)]:
        value = mapping[key]
        kind = type(value)
        append(start)
        if kind is str:
            append(_VALUES[value] or _text(value, below.pad))
        elif kind is dict and value:
            _entries(value, below, out)
        elif kind is list and value:
            _items(value, margin.rest, out)
        else:
            append(_scalar(value))


def _items(values: list[Any], margin: "_Margin", out: list[str]) -> None:
    """Append the items of a list to `out`, each after a line break; `margin` gives the start of each line."""
    append = out.append
    if type(values[0]) is int and {*map(type, values)} == {int}:  # lists of exit codes are long
        append(f"{margin.dash} {f'{margin.rest.dash} '.join(map(str, values))}")
        return
    for value in values:
        kind = type(value)
        if kind is dict and value:
            _entries(value, margin.item, out)
        elif kind is str:
            append(margin.dash)
            append(_VALUES[value] or _text(value, margin.item.pad))
        elif kind is list and value:
            _items(value, margin.item, out)
        else:
            append(margin.dash)
            append(_scalar(value))
        margin = margin.rest


def _scalar(value: object) -> str:
    """Return the output after the colon for a scalar that is not a string, or for an empty collection."""
    write = _WRITERS.get(type(value))
    if write is None:
        raise TypeError(f"a manifest holds plain data, not {type(value).__name__}")
    return write(value)


def _float(value: float) -> str:
    if not isfinite(value):
        raise ValueError(f"YAML and JSON disagree about {value}")
    mantissa, exponent, power = repr(value).partition("e")
    return f" {mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent}{power}"


def _text(text: str, pad: str) -> str:
    """Return the output after the colon for a string; `pad` are the blanks before the lines of a literal block."""
    if "\n" not in text or _SKIP_MARKER in text:
        return f" {quoted(text)}"
    if not _is_literal(text):
        return f" {quoted(text)}"
    body = text.rstrip("\n")
    tail = text[len(body) :]
    chomp = {"": "-", "\n": ""}.get(tail, "+")
    indented = body.replace("\n", f"\n{pad}")
    for _ in range(2):  # one pass replaces every other one of consecutive blank lines
        indented = indented.replace(f"\n{pad}\n", "\n\n")
    return f" |{chomp}\n{pad}{indented}{tail[1:]}"


def _is_literal(text: str) -> bool:
    """Whether a string of several lines can be a literal block."""
    if not text.isascii():
        return not _NOT_LITERAL.search(text)
    # Many times as fast as one pattern: alternatives are slow in Python.
    blanks = text[0] in " \t\n" or text[-1] in " \t" or " \n" in text or "\t\n" in text
    return not blanks and not _CONTROL.search(text)


_WRITERS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: " true" if value else " false",
    int: lambda value: f" {value}",
    float: _float,
    NoneType: lambda _: " null",
    dict: lambda _: " {}",
    list: lambda _: " []",
}


class _Values(dict[str, str]):
    """Cache of the output after the colon for each short string, since manifests repeat most of their strings.

    The output is empty for long strings and strings with line breaks.
    """

    def __missing__(self, text: str) -> str:
        if len(text) > _LONGEST_CACHED or "\n" in text:
            return ""
        if len(self) >= _MOST_CACHED:
            self.clear()
        self[text] = behind = f" {quoted(text)}"
        return behind


class _Margin(dict[tuple[str, ...], tuple[tuple[str, str, "_Margin"], ...]]):
    """Cache of line starts: maps the keys of a mapping, in its own order, to entries in the order of the output.

    An entry is a key, its line up to the colon (with the line break before it), and the margin below it. `lead`: the
    blanks and dashes before the first key; further lines of the mapping or list begin with blanks only. `first`: the
    keys that precede all others.
    """

    def __init__(self, lead: str, rest: "_Margin | None" = None, first: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.rest = self if rest is None else rest
        self.pad = " " * len(lead)
        self.dash = f"\n{lead}-"
        self._lead = lead
        self._first = first

    def __missing__(self, keys: tuple[str, ...]) -> tuple[tuple[str, str, "_Margin"], ...]:
        first = [key for key in self._first if key in keys]
        order = [*first, *sorted(key for key in keys if key not in first)]
        margins = (self, *repeat(self.rest, len(order) - 1))
        found = tuple((key, margin._start(key), margin._below(key)) for key, margin in zip(order, margins, strict=True))
        if len(found) <= _MOST_KEYS and max(map(len, order)) <= _LONGEST_CACHED:
            if len(self) >= _MOST_SHAPES:
                self.clear()
            self[keys] = found
        return found

    def _start(self, key: str) -> str:
        text = quoted(key)
        if len(text) > _LONGEST_KEY:
            return f"\n{self._lead}? {text}\n{self.pad}:"
        return f"\n{self._lead}{text}:"

    def _below(self, key: str) -> "_Margin":
        return _METADATA if self is _TOP and key == "metadata" else self.rest.inner

    @cached_property
    def inner(self) -> "_Margin":
        """The margin of a mapping below a key."""
        return _Margin(f"{self.pad}  ")

    @cached_property
    def item(self) -> "_Margin":
        """The margin of an item of a list that is itself a mapping or a list."""
        return _Margin(f"{self._lead}- ", self.rest.inner)


_VALUES = _Values()
_TOP = _Margin("", first=("apiVersion", "kind", "metadata"))
_METADATA = _Margin("  ", first=("name", "namespace", "labels", "annotations"))
