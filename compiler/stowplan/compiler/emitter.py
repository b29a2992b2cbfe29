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
from math import isfinite
from types import NoneType
from typing import Any

_PLAIN = re.compile(
    r"""
    (?: [A-Za-z0-9_./$(^+] | -(?=[A-Za-z0-9_./-]) )     # no indicator at the start
    (?: [!-9;-~] | :(?=[!-~]) | [ ](?=[!-"$-~]) )*      # ASCII; no ": ", no " #", no blank at the end
    """,
    re.VERBOSE,
)
_RESERVED = re.compile(
    r"""
      y | yes | n | no | on | off | true | false | null
    | [-+.]*(?:inf|nan)
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
_LINE_START = re.compile(r"^(?!$)", re.MULTILINE)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SKIP_MARKER = "+argocd:skip-file-rendering"
_LONGEST_KEY = 1000
_CACHED_LENGTH = 100  # an escaped character takes up to ten, so a cached key is never a long one

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
    for key in _ordered(body, _FIRST_KEYS):
        value = body[key]
        if key == "metadata" and type(value) is dict and value:
            out.append("metadata:\n")
            _entries(value, _ordered(value, _FIRST_METADATA), "  ", "  ", out)
        else:
            _entries(body, [key], "", "", out)
    return "".join(out)


def quoted(text: str) -> str:
    """`text` on one line: plain where that is safe, else in double quotes."""
    if _PLAIN.fullmatch(text) and not _RESERVED.fullmatch(text) and _SKIP_MARKER not in text:
        return text
    if _SURROGATE.search(text):
        raise ValueError("a text holds a lone surrogate, which no encoding can write")
    # Argo CD leaves out every file that holds its marker anywhere, be it inside a value
    # (`skipFileRenderingMarker` in reposerver/repository/repository.go).
    return f'"{_ESCAPED.sub(_escape, text)}"'.replace(_SKIP_MARKER, rf"\u002b{_SKIP_MARKER[1:]}")


def visible(text: str) -> str:
    """`text` for people: what they could not see, or what would steer their terminal, is escaped; tabs stay."""
    return _INVISIBLE.sub(_escape, text)


def _ordered(mapping: dict[str, Any], first: tuple[str, ...]) -> list[str]:
    return [key for key in first if key in mapping] + sorted(key for key in mapping if key not in first)


def _entries(mapping: dict[str, Any], keys: Iterable[str], lead: str, pad: str, out: list[str]) -> None:
    """The entries of a mapping. `lead` stands before the first key, `pad` before all others."""
    deeper = pad + "  "
    for key in keys:
        value = mapping[key]
        kind = type(value)
        start = _LINES[key] or _long_key(key, pad)
        if kind is str:
            out.append(f"{lead}{start}: {_LINES[value] or _text(value, deeper)}\n")
        elif kind is dict and value:
            out.append(f"{lead}{start}:\n")
            _entries(value, sorted(value), deeper, deeper, out)
        elif kind is list and value:
            out.append(f"{lead}{start}:\n")
            _items(value, pad, pad, out)
        else:
            out.append(f"{lead}{start}: {_scalar(value)}\n")
        lead = pad


def _items(values: list[Any], lead: str, pad: str, out: list[str]) -> None:
    """The items of a list; `lead` and `pad` as for `_entries`."""
    deeper = pad + "  "
    for value in values:
        kind = type(value)
        if kind is dict and value:
            _entries(value, sorted(value), f"{lead}- ", deeper, out)
        elif kind is str:
            out.append(f"{lead}- {_LINES[value] or _text(value, deeper)}\n")
        elif kind is list and value:
            _items(value, f"{lead}- ", deeper, out)
        else:
            out.append(f"{lead}- {_scalar(value)}\n")
        lead = pad


def _long_key(key: str, pad: str) -> str:
    text = quoted(key)
    return text if len(text) <= _LONGEST_KEY else f"? {text}\n{pad}"


def _scalar(value: object) -> str:
    """A scalar that is no string, or an empty collection."""
    write = _WRITERS.get(type(value))
    if write is None:
        raise TypeError(f"a manifest holds plain data, not {type(value).__name__}")
    return write(value)


def _float(value: float) -> str:
    if not isfinite(value):
        raise ValueError(f"YAML and JSON disagree about {value}")
    mantissa, exponent, power = repr(value).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + exponent + power


def _text(text: str, pad: str) -> str:
    if "\n" not in text or _NOT_LITERAL.search(text) or _SKIP_MARKER in text:
        return quoted(text)
    body = text.rstrip("\n")
    tail = text[len(body) :]
    chomp = {"": "-", "\n": ""}.get(tail, "+")
    indented = _LINE_START.sub(pad, body)
    return f"|{chomp}\n{indented}{tail[1:]}"


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    short = _SHORT_ESCAPES.get(char)
    code = ord(char)
    return short or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")


_WRITERS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    float: _float,
    NoneType: lambda _: "null",
    dict: lambda _: "{}",
    list: lambda _: "[]",
}


class _Lines(dict[str, str]):
    """`quoted` of every short string seen, since manifests repeat most of theirs; empty for long and odd ones."""

    def __missing__(self, text: str) -> str:
        if len(text) > _CACHED_LENGTH or "\n" in text:
            return ""
        self[text] = line = quoted(text)
        return line


_LINES = _Lines()
