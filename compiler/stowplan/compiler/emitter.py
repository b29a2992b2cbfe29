"""The YAML emitter: plain data to text that every YAML reader reads alike.

Readers differ: kubectl and Argo CD use go-yaml, which follows YAML 1.1 in places; PyYAML is 1.1, ruamel 1.2.
So a string is written plain only where all of them read the same string, a float always with a point and a
signed exponent (PyYAML takes `1e+21` for a string), a long key in the explicit form (the specification lets
a reader stop looking for the colon after 1024 characters). There are no anchors, tags, folded texts or line
breaks inside quotes. Text of several lines is a literal block where nothing in it is invisible, else quoted.

The layout is kubectl's: two spaces, and the dashes of a list stand below the first letter of its key.
"""

import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from math import isfinite
from types import NoneType
from typing import Any

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
# Line and paragraph separators, odd blanks, invisible and direction-changing marks, surrogates and
# non-characters. A fixed list: `str.isprintable` follows the Unicode version of the Python at hand.
_HIDDEN = (
    r"\x7f-\xa0\xad\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff0-\uffff"
    r"\U000e0000-\U000e0fff"
) + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 17))
_INVISIBLE = re.compile(rf"[\x00-\x08\x0a-\x1f{_HIDDEN}]")
_ESCAPED = re.compile(rf'["\\\x00-\x1f{_HIDDEN}]')
_NOT_LITERAL = re.compile(rf"\A[ \t\n]|[ \t]$|[\x00-\x08\x0b-\x1f{_HIDDEN}]", re.MULTILINE)
_NOT_LITERAL_ASCII = re.compile(r"\A[ \t\n]|[ \t]$|[\x00-\x08\x0b-\x1f\x7f]", re.MULTILINE)
"""The same for text that is ASCII, many times as fast: Python searches large sets of characters slowly."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SKIP_MARKER = "+argocd:skip-file-rendering"
_LONGEST_KEY = 1000
_LONGEST_CACHED = 100  # an escaped character takes up to ten, so a cached key is never a long one
_MOST_CACHED = 10_000
"""How many strings a cache holds: names differ from spec to spec, and there may be many specs."""

_FIRST_KEYS = ("apiVersion", "kind", "metadata")
_FIRST_METADATA = ("name", "namespace", "labels", "annotations")


def emit(body: dict[str, Any]) -> str:
    """`body` as block-style YAML that ends in a newline; `{}` for an empty one.

    Keys come in the order `apiVersion, kind, metadata`, inside that `name, namespace, labels, annotations`,
    and else sorted by code point. What is not plain data is a bug of ours: `TypeError` for another type,
    `ValueError` for a number that is not finite and for text that no encoding can write (a lone surrogate).
    """
    if not body:
        return "{}\n"
    out: list[str] = []
    for key in _ordered(tuple(body), _FIRST_KEYS):
        value = body[key]
        if key == "metadata" and type(value) is dict and value:
            out.append("\nmetadata:")
            _entries(value, _ordered(tuple(value), _FIRST_METADATA), _TOP.inner, out)
        else:
            _entries(body, (key,), _TOP, out)
    out.append("\n")
    return "".join(out)[1:]


def quoted(text: str) -> str:
    """`text` on one line: plain where that is safe, else in double quotes."""
    if _PLAIN.fullmatch(text) and not _is_reserved(text) and _SKIP_MARKER not in text:
        return text
    if _SURROGATE.search(text):
        raise ValueError("a text holds a lone surrogate, which no encoding can write")
    # Argo CD leaves out every file that holds its marker anywhere, be it inside a value
    # (`skipFileRenderingMarker` in reposerver/repository/repository.go).
    return f'"{_ESCAPED.sub(_escape, text)}"'.replace(_SKIP_MARKER, rf"\u002b{_SKIP_MARKER[1:]}")


def visible(text: str) -> str:
    """`text` for people: what they could not see, or what would steer their terminal, is escaped; tabs stay."""
    return _INVISIBLE.sub(_escape, text)


def _is_reserved(text: str) -> bool:
    """Whether a plain text would be read as something else than a string."""
    return text.lower() in _WORDS if text[0].isalpha() else _NUMBERS.fullmatch(text) is not None


@lru_cache(1000)
def _ordered(keys: tuple[str, ...], first: tuple[str, ...]) -> tuple[str, ...]:
    return (*(key for key in first if key in keys), *sorted(key for key in keys if key not in first))


def _entries(mapping: dict[str, Any], keys: Iterable[str], margin: "_Margin", out: list[str]) -> None:
    """The entries of a mapping, each with the line break before it; the first may stand behind a dash."""
    rest = margin.rest
    inner = rest.inner
    append = out.append
    for key in keys:
        value = mapping[key]
        kind = type(value)
        append(margin[key])
        if kind is str:
            append(_VALUES[value] or _text(value, inner.pad))
        elif kind is dict and value:
            _entries(value, sorted(value) if len(value) > 1 else value, inner, out)
        elif kind is list and value:
            _items(value, rest, out)
        else:
            append(_scalar(value))
        margin = rest


def _items(values: list[Any], margin: "_Margin", out: list[str]) -> None:
    """The items of a list; `margin` as for `_entries`."""
    append = out.append
    for value in values:
        kind = type(value)
        if kind is dict and value:
            _entries(value, sorted(value) if len(value) > 1 else value, margin.item, out)
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
    """What stands behind the colon for a scalar that is no string, or an empty collection."""
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
    """What stands behind the colon for a string."""
    if "\n" not in text or _SKIP_MARKER in text:
        return f" {quoted(text)}"
    if (_NOT_LITERAL_ASCII if text.isascii() else _NOT_LITERAL).search(text):
        return f" {quoted(text)}"
    body = text.rstrip("\n")
    tail = text[len(body) :]
    chomp = {"": "-", "\n": ""}.get(tail, "+")
    indented = body.replace("\n", f"\n{pad}")
    for _ in range(2):  # of blank lines in a row, each time every other one
        indented = indented.replace(f"\n{pad}\n", "\n\n")
    return f" |{chomp}\n{pad}{indented}{tail[1:]}"


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    short = _SHORT_ESCAPES.get(char)
    code = ord(char)
    return short or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")


_WRITERS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: " true" if value else " false",
    int: lambda value: f" {value}",
    float: _float,
    NoneType: lambda _: " null",
    dict: lambda _: " {}",
    list: lambda _: " []",
}


class _Values(dict[str, str]):
    """What stands behind the colon for every short string seen, since manifests repeat most of theirs.

    Empty for long and odd ones.
    """

    def __missing__(self, text: str) -> str:
        if len(text) > _LONGEST_CACHED or "\n" in text:
            return ""
        if len(self) >= _MOST_CACHED:
            self.clear()
        self[text] = behind = f" {quoted(text)}"
        return behind


class _Margin(dict[str, str]):
    """How a line begins: with each key seen, up to its colon, the line break before it included.

    `lead` is what stands before the key, blanks and dashes. Further lines of the same mapping or list have only blanks.
    """

    def __init__(self, lead: str, rest: "_Margin | None" = None) -> None:
        super().__init__()
        self.rest = self if rest is None else rest
        self.pad = " " * len(lead)
        self.dash = f"\n{lead}-"
        self._lead = lead

    def __missing__(self, key: str) -> str:
        text = quoted(key)
        if len(text) > _LONGEST_KEY:
            return f"\n{self._lead}? {text}\n{self.pad}:"
        start = f"\n{self._lead}{text}:"
        if len(key) <= _LONGEST_CACHED:
            if len(self) >= _MOST_CACHED:
                self.clear()
            self[key] = start
        return start

    @cached_property
    def inner(self) -> "_Margin":
        """The margin of a mapping below a key."""
        return _Margin(f"{self.pad}  ")

    @cached_property
    def item(self) -> "_Margin":
        """The margin of an item of a list that is itself a mapping or a list."""
        return _Margin(f"{self._lead}- ", self.rest.inner)


_VALUES = _Values()
_TOP = _Margin("")
